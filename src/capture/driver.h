/*
 * What we ask the CUDA driver, always through its real functions: questions that change nothing.
 * Never under PyTorch's lock. Answers are -1 or 0 when the driver cannot say.
 */
#ifndef CAPTURE_DRIVER_H
#define CAPTURE_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

/* The current context's device ordinal, or -1. */
int driver_device(void);

/* The ordinal of the device on which the memory lies, else driver_device(). */
int driver_device_of(uint64_t ptr);

/* The stream-ordered pool that a block belongs to, 0 for none; what a pool holds now, in bytes. */
uint64_t driver_pool_of(uint64_t ptr);
uint64_t driver_pool_reserved(uint64_t pool);

bool driver_capturing(uint64_t stream);

/* Bytes occupied on the current device, by everybody; 0 when unknown. About 6 us. */
uint64_t driver_used(void);

struct driver_facts {
	char name[128];
	char uuid[48]; /* "GPU-..." */
	uint64_t total_bytes;
};

/* False when the device is unknown. */
bool driver_facts(int device, struct driver_facts *facts);

/* 13000 for CUDA 13.0, 0 when unknown. */
int driver_version(void);

#endif
