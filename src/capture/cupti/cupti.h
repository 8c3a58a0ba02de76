/*
 * Collects CUPTI's activity records if MEMTRACE_CUPTI=1: a list of all allocations that
 * does not depend on the hooks, and the calls, kernels and copies around these allocations.
 *
 * CUPTI is not linked: the library that the process has loaded is used, else the system's, else the
 * toolkit's. Only the activity API is used, which needs no subscriber but has one pair of buffer
 * callbacks for the whole process. So any other user of CUPTI, such as torch.profiler, has
 * precedence: the records collected so far are stored, and CUPTI is left to that user.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "capture/cupti/cupti_abi.h"

/* Called when CUDA starts: begins to collect records if MEMTRACE_CUPTI is on and nobody else uses
 * CUPTI. A failure adds a note to the trace. */
void cupti_start(void);

/* Called without locks after a context was made: enables records of managed memory's migration. */
void cupti_context_made(void);

/* Stores the records that CUPTI has collected. Called before the trace is written. */
void cupti_finish(void);

/* Stops collecting in a forked child, where CUDA cannot be used. */
void cupti_clear(void);

/*
 * Answers a dlsym() for the CUPTI functions that this library replaces in order to notice other
 * users of CUPTI. False for any other name. `real` is the function that dlsym found. *answer gets
 * this library's function, `real` if MEMTRACE_CUPTI is off, or NULL if this machine has no CUPTI.
 */
bool cupti_door(const char *name, void *real, void **answer);

/* The functions of CUPTI that are used: name, whether the function is needed, parameters. Old
 * versions of CUPTI may lack those that are not needed. */
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
	uint64_t offset;  /* CUPTI's clock minus record_now(), in ns */
} cupti_library;

/* Enters the records in the first `valid` bytes of a buffer into the spool (cupti_records.c). */
void cupti_take(uint8_t *buffer, size_t valid);

/* In a forked child: forgets the rows and texts of the parent's spool (cupti_records.c). */
void cupti_records_clear(void);
