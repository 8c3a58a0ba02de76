/*
 * Shared by the parts of `used`: device_usage.c asks the driver and NVML (nvml.c),
 * device_usage_names.c keeps account of the answers.
 */
#pragma once

#include "capture/cuda/device_usage.h"
#include "capture/loader/hooks.h"

enum { USED_DEVICES = 64, USED_OF = 64 };

/* A figure, from a moment when no memory moved but what is booked. */
struct usage_look {
	const struct cuda_call *span; /* the call that looks; NULL: an early step */
	int device;
	bool seen; /* what follows was found */
	uint64_t t, used;
	uint64_t moving; /* usage_moving then */
	uint64_t turn;   /* number taken just before: earlier changes are in the figure */
};

/* The call that is taken to have occupied memory. */
struct usage_culprit {
	enum usage_kind kind;
	enum hook_id hook;
	uint64_t context; /* with which the named memory ends */
	uint64_t ended;   /* a context that ended in the call */
	uint32_t stack, thread;
	char of[USED_OF]; /* the library that asked, "" where that does not matter */
};

enum usage_source { USED_UNKNOWN, USED_NVML, USED_DEVICE };

struct usage_device {
	/* Written with the recorder's lock held, like the rest, and read without. */
	_Atomic uint8_t source;
	_Atomic bool begun;   /* there was a figure */
	_Atomic bool waiting; /* `culprit` took memory when no figure could be had */
	_Atomic uint64_t reserved, moving, t; /* at the last figure */

	_Atomic uint64_t last; /* when it was sampled, 0: never yet */
	_Atomic uint64_t took; /* to be answered then */
	_Atomic uint64_t rest; /* from then to the next */

	int64_t named; /* of all names */
	int64_t residual;
	uint64_t turn;   /* of the newest figure in the account */
	uint64_t before; /* bytes of others, where the figure includes them */
	struct usage_culprit culprit;
};

extern struct usage_device usage_devices[USED_DEVICES];

/* The bytes of a figure that neither allocations nor names explain. Under the lock. */
int64_t usage_left(const struct usage_look *look);

/*
 * Enters a figure, with the recorder's lock held. The part of it that nothing known explains
 * belongs to the culprit that waits for a figure, else to the one given (may be NULL); else, with
 * no step under way, it stays unexplained. False, and nothing is done, if the figure is out of
 * date: memory has moved since, or a newer figure is in the account.
 */
bool usage_account(const struct usage_look *look, const struct usage_culprit *culprit);

/* Calls between usage_begin() and usage_end(). */
extern _Atomic uint32_t usage_stepping;

/* --- nvml.c --- */

/* Before a call that makes a context on the CUDA device: loads NVML and notes the processes there.
 * False: it is another thread's turn. */
bool nvml_prepare(int device);

/* After it: 1 if our process is known now, 0 if not, -EBUSY: ask later. */
int nvml_recognise(int device);

/* Bytes that this process occupies, 0 when it is not listed; false when NVML has no figure. */
bool nvml_used(int device, uint64_t *bytes);

/* Bytes that nobody occupies: cuMemGetInfo's figure, without a context. */
bool nvml_left(int device, uint64_t *bytes);

/* In a forked child: it is another process. */
void nvml_clear(void);
