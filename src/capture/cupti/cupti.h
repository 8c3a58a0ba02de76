/*
 * CUPTI, only if wanted (MEMTRACE_CUPTI=1): an independent witness of every allocation, and the
 * calls, kernels and copies around them.
 *
 * Nothing of it is linked: the library is the one that the process has loaded, else the system's,
 * else the toolkit's. Only its activity API is used, which needs no subscriber; but it has one pair
 * of buffer callbacks for a whole process. So any other user of CUPTI, torch.profiler above all,
 * gets it: what was collected so far is taken in, and we stand back.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "capture/cupti/cupti_abi.h"

/* When CUDA starts: begins if the setting wants it and nobody else has CUPTI. Trouble is a note. */
void cupti_start(void);

/* After a context was made, with no lock held: asks for migrations of managed memory. */
void cupti_context_made(void);

/* Takes in what CUPTI has collected, before the document is written. */
void cupti_finish(void);

/* In a forked child, where CUDA cannot go on: nothing is collected. */
void cupti_clear(void);

/*
 * For the exported functions by which other users come to CUPTI. False if the name is none of them.
 * Else `answer` is the answer of dlsym, which found `real`: ours; or the real one without the
 * setting; NULL if this machine has none.
 */
bool cupti_door(const char *name, void *real, void **answer);

/* CUPTI's functions that we use. Old libraries may lack those that are not needed. */
#define CUPTI_FUNCTIONS(X)                                                              \
	X(cuptiGetVersion, true, (uint32_t *))                                          \
	X(cuptiGetTimestamp, true, (uint64_t *))                                        \
	X(cuptiActivityRegisterCallbacks, true, (cupti_wanted_fn *, cupti_filled_fn *)) \
	X(cuptiActivityEnable, true, (uint32_t))                                        \
	X(cuptiActivityDisable, true, (uint32_t))                                       \
	X(cuptiActivityFlushAll, true, (uint32_t))                                      \
	X(cuptiActivityGetNextRecord, true, (uint8_t *, size_t, void **))               \
	X(cuptiActivityFlushPeriod, false, (uint32_t))                                  \
	X(cuptiActivityConfigureUnifiedMemoryCounter, false,                            \
	  (struct cupti_unified_config *, uint32_t))                                    \
	X(cuptiGetCallbackName, false, (uint32_t, uint32_t, const char **))

extern struct cupti_library {
#define X(name, needed, params) int(*name) params;
	CUPTI_FUNCTIONS(X)
#undef X
	uint32_t version; /* result of cuptiGetVersion() */
	uint64_t offset;  /* CUPTI's time less ours, ns */
} cupti_library;

/* cupti_records.c: enters the records of a buffer into the spool. */
void cupti_take(uint8_t *buffer, size_t valid);

/* cupti_records.c: forgets texts of this process's spool. */
void cupti_records_clear(void);
