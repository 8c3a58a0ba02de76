/* Read-only queries to the CUDA driver. They call its real functions, so they are not recorded, and
 * must not be made while PyTorch's allocator is locked or a lock of this library is held. Unless a
 * comment says otherwise, a failed query returns 0, or -1 for a device. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* *context gets this thread's context, 0 for none. Returns that context's device ordinal, or -1. */
int driver_context(uint64_t *context);
int driver_device(void);

/* Called after a context was made or destroyed: all threads then query their device again. */
void driver_contexts_changed(void);

/* False if the device's primary context is known to have ended; true if the query fails. */
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

/* The bytes that a device reserves for graphs now; *used gets the allocated bytes among them. */
uint64_t driver_graph_memory(int device, uint64_t *used);

bool driver_capturing(uint64_t stream);

/* Free and total bytes of the current device; false if unknown. Takes about 6 us. */
bool driver_memory(uint64_t *left, uint64_t *total);

/* The bytes of stack that each GPU thread has (UINT64_MAX if unknown), and the bytes that a thread
 * of the function or kernel with handle `asked` needs (0 if unknown). */
uint64_t driver_stack_limit(void);
uint64_t driver_local_bytes(uint64_t asked, bool kernel, int device);

struct driver_facts {
	char name[128];
	char uuid[48]; /* "GPU-..." or "MIG-...", "" if unknown */
	uint64_t total_bytes;
};

bool driver_facts(int device, struct driver_facts *facts);

/* The CUDA version of the driver: 13000 for CUDA 13.0, 0 if unknown. */
int driver_version(void);
