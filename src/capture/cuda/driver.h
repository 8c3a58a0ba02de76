/* Read-only queries to the CUDA driver. They call its real functions, not this library's wrappers,
 * so they are not recorded. They must not be made while PyTorch's allocator is locked or this
 * library holds a lock. A failed query returns 0 or, for a device, -1, unless noted otherwise. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { DRIVER_DEVICES = 64 }; /* length of tables of devices; larger ordinals have no entry */

/* The device ordinal of this thread's current context, or -1. *context gets the context, or 0. */
int driver_context(uint64_t *context);
int driver_device(void);

/* To be called after a context was made or destroyed: makes threads query their device again. */
void driver_contexts_changed(void);

/* True if the device's primary context is active, or if the query fails. */
bool driver_primary_active(int device);

/* The size in bytes of the memory that begins at the address, 0 if none begins there. */
uint64_t driver_range(uint64_t ptr);

struct driver_block {
	uint64_t pool;      /* handle of the memory's stream-ordered pool, 0 for none */
	int device;         /* ordinal of the memory's device; the current one if unknown */
	bool host, managed; /* host: page-locked host memory; managed: managed memory */
};

void driver_block(uint64_t ptr, struct driver_block *block);

/* The bytes that a stream-ordered pool (a CUmemoryPool) holds now, whether allocated or not. */
uint64_t driver_pool_reserved(uint64_t pool);

/* The bytes that a device holds for CUDA graphs now; *used gets how many of them graphs use. */
uint64_t driver_graph_memory(int device, uint64_t *used);

bool driver_capturing(uint64_t stream);

/* Free and total bytes of the current device; false if unknown. Takes about 6 us. */
bool driver_memory(uint64_t *left, uint64_t *total);

/* The stack of each GPU thread in bytes (UINT64_MAX if unknown), and the bytes of local memory that
 * a thread of the function or kernel with the handle `asked` needs (0 if unknown). */
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
