/* Read-only queries to the CUDA driver. They call its real functions, so they are not recorded, and
 * must not be made under PyTorch's lock. Without an answer the result is 0, or -1 for a device. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* *context: the calling thread's context, 0 for none. The result: its device's ordinal, or -1. */
int driver_context(uint64_t *context);
int driver_device(void);

/* After a context was made or destroyed: each thread queries the device of its context again. */
void driver_contexts_changed(void);

/* False when the device's primary context is known to have ended. */
bool driver_primary_active(int device);

/* The size in bytes of the memory that begins at the address, 0 if none begins there. */
uint64_t driver_range(uint64_t ptr);

struct driver_block {
	uint64_t pool; /* the stream-ordered pool of the memory, 0 for none */
	int device;    /* ordinal of the memory's device; driver_device() if unknown */
	bool host, managed;
};

void driver_block(uint64_t ptr, struct driver_block *block);

/* The bytes that a stream-ordered pool reserves now. */
uint64_t driver_pool_reserved(uint64_t pool);

/* The bytes that a device reserves for graphs now; *used are the allocated bytes among them. */
uint64_t driver_graph_memory(int device, uint64_t *used);

bool driver_capturing(uint64_t stream);

/* Free and total bytes of the current device; false when unknown. Takes about 6 us. */
bool driver_memory(uint64_t *left, uint64_t *total);

/* The bytes of stack that each GPU thread has (UINT64_MAX when unknown), and the bytes that a
 * thread of the function or kernel `asked` needs. */
uint64_t driver_stack_limit(void);
uint64_t driver_local_bytes(uint64_t asked, bool kernel, int device);

struct driver_facts {
	char name[128];
	char uuid[48]; /* "GPU-..." or "MIG-...", "" if unknown */
	uint64_t total_bytes;
};

/* Fills in *facts. False when the device is unknown. */
bool driver_facts(int device, struct driver_facts *facts);

/* The driver's version of CUDA: 13000 for CUDA 13.0, 0 when unknown. */
int driver_version(void);
