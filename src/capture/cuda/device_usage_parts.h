/* Shared by the files that measure the occupied bytes of devices: device_usage.c queries the driver
 * and NVML (nvml_own_process.c), device_usage_names.c attributes the bytes to calls. */
#pragma once

#include "capture/cuda/device_usage.h"
#include "capture/loader/hooks.h"

enum { USED_DEVICES = 64, USED_OF = 64 };

/* A sample of a device, taken while no call but the sampling one was allocating or freeing. */
struct usage_look {
	const struct cuda_call *span; /* the call that takes the sample; NULL in usage_settle() */
	int device;
	bool seen; /* the sample succeeded: the members below are set */
	uint64_t t, used;
	uint64_t moving; /* usage_moving at the time of the sample */
	uint64_t turn;   /* number of the sample: a later sample has a larger one */
};

/* The call to which newly occupied memory is attributed. */
struct usage_culprit {
	enum usage_kind kind;
	enum hook_id hook;
	uint64_t context; /* context whose end also frees the memory */
	uint64_t ended;   /* context that the call destroyed, 0 for none */
	uint32_t stack, thread;
	char of[USED_OF]; /* the library that called, "" where that does not matter */
};

enum usage_source { USED_UNKNOWN, USED_NVML, USED_DEVICE };

struct usage_device {
	/* Atomic members may be used without the recorder's lock, the others only with it. */
	_Atomic uint8_t source;
	_Atomic bool begun;   /* the device was sampled at least once */
	_Atomic bool waiting; /* `culprit` may have changed `used`; a sample will show how */
	_Atomic uint64_t reserved, moving, t; /* values when the last sample was taken */

	_Atomic uint64_t last; /* time from which `rest` counts; 0: no sample yet */
	_Atomic uint64_t took; /* ns that the last sample took */
	_Atomic uint64_t rest; /* ns from `last` until a sample is due */

	int64_t named;    /* bytes attributed to calls */
	int64_t residual; /* bytes neither allocated nor attributed at the last sample */
	uint64_t turn;    /* number of the newest sample accounted for */
	uint64_t before;  /* bytes of other processes before this one's first context */
	struct usage_culprit culprit; /* the call that waits while `waiting` is true */
};

extern struct usage_device usage_devices[USED_DEVICES];

/* The sample's bytes that are neither allocated nor attributed. With the recorder's lock held. */
int64_t usage_left(const struct usage_look *look);

/*
 * Accounts for a sample, with the recorder's lock held. Newly occupied bytes that no allocation
 * explains are attributed to the device's waiting culprit, else to `culprit`. If neither exists,
 * they stay unexplained, or are left to the sample of a step under way. False, and nothing done,
 * if the sample is outdated: memory was taken or given back, or a newer one was accounted for.
 */
bool usage_account(const struct usage_look *look, const struct usage_culprit *culprit);

/* Number of calls of all threads that are between usage_begin() and usage_end(). */
extern _Atomic uint32_t usage_stepping;

/* --- queries to NVML (nvml_own_process.c) --- */

/* Loads NVML and notes the processes that use the CUDA device. Called before this process makes its
 * first context there, if that call was seen. False if another thread is using NVML. */
bool nvml_prepare(int device);

/* Called once there is a context. 1 if NVML lists this process, 0 if not, -EBUSY: retry later. */
int nvml_recognise(int device);

/* Bytes that this process occupies, 0 if it is not listed; false if NVML does not report them. */
bool nvml_used(int device, uint64_t *bytes);

/* Bytes that are free on the device, as cuMemGetInfo reports them, but without a context. */
bool nvml_left(int device, uint64_t *bytes);

/* In a forked child, which has another process id: forgets the id in NVML's list. */
void nvml_clear(void);
