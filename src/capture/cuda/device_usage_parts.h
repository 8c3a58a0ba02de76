/* Shared by the files that measure the occupied bytes of devices: device_usage.c queries the driver
 * and NVML (nvml_own_process.c), device_usage_names.c attributes the bytes to calls. */
#pragma once

#include "capture/cuda/device_usage.h"
#include "capture/cuda/driver.h"
#include "capture/loader/hooks.h"

enum { USED_OF = 64 };

/* One sample of a device's occupied bytes, taken while no other call allocated or freed memory. */
struct usage_look {
	const struct cuda_call *span; /* the call that takes the sample; NULL in usage_settle() */
	int device;
	bool seen; /* true if the sample succeeded: t, used, moving and turn are valid */
	uint64_t t, used;
	uint64_t moving; /* value of usage_moving at the time of the sample */
	uint64_t turn;   /* number of the sample: a later sample has a larger one */
};

/* The call to which newly occupied memory is attributed. */
struct usage_culprit {
	enum usage_kind kind;
	enum hook_id hook;
	uint64_t context; /* context whose end also frees the memory, 0 for none */
	uint64_t ended;   /* context that the call destroyed, 0 for none */
	uint32_t stack, thread;
	char of[USED_OF]; /* the calling library for USED_MODULES, else "" */
};

enum usage_source { USED_UNKNOWN, USED_NVML, USED_DEVICE };

struct usage_device {
	/* Atomic members may be used without the recorder's lock, the others only with it. */
	_Atomic uint8_t source;
	_Atomic bool begun;                   /* the device was sampled at least once */
	_Atomic bool waiting;                 /* the next change is attributed to `culprit` */
	_Atomic uint64_t reserved, moving, t; /* bytes, usage_moving and ns at the last sample */

	_Atomic uint64_t last; /* time (ns) from which `rest` counts, 0 before the first sample */
	_Atomic uint64_t took; /* duration of the last sample in ns */
	_Atomic uint64_t rest; /* ns from `last` until the next sample is due */

	int64_t named;    /* bytes attributed to calls */
	int64_t residual; /* bytes neither allocated nor attributed at the last sample */
	uint64_t turn;    /* number of the newest sample accounted for */
	uint64_t before;  /* bytes occupied before this process's first context */
	struct usage_culprit culprit; /* only valid while `waiting` is true */
};

extern struct usage_device usage_devices[DRIVER_DEVICES];

/* The sample's bytes that no allocation and no step explains. The recorder's lock must be held. */
int64_t usage_left(const struct usage_look *look);

/*
 * Accounts for a sample; the recorder's lock is held. Newly occupied bytes that no allocation
 * explains are attributed to usage_device.culprit if `waiting`, else to `culprit`. If `culprit` is
 * NULL, the bytes are left to a step under way, or stay unexplained. False, with nothing done,
 * if memory was allocated or freed since the sample, or a newer sample was accounted for.
 */
bool usage_account(const struct usage_look *look, const struct usage_culprit *culprit);

/* Number of calls of all threads that are between usage_begin() and usage_end(). */
extern _Atomic uint32_t usage_stepping;

/* --- queries to NVML (nvml_own_process.c) --- */

/* Loads NVML and notes the processes that use the CUDA device. Called before this process makes its
 * first context there, or later if no hook saw it made. False if another thread is using NVML. */
bool nvml_prepare(int device);

/* Needs a context. 1 if NVML lists this process, 0 if not, -EBUSY if another thread uses NVML. */
int nvml_recognise(int device);

/* *bytes gets what this process occupies: 0 if NVML does not list the process. False if unknown. */
bool nvml_used(int device, uint64_t *bytes);

/* *bytes gets the device's free bytes, as cuMemGetInfo reports them. Needs no context. */
bool nvml_left(int device, uint64_t *bytes);

/* In a forked child, which has a pid of its own: forgets the parent's id in NVML's lists. */
void nvml_clear(void);
