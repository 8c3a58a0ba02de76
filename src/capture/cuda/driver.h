/*
 * Questions to the CUDA driver that change nothing, always through its real functions. Never under
 * PyTorch's lock. The result is -1 or 0 when the driver has no answer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The calling thread's context, 0 for none, and its device's ordinal, -1 for none. */
int driver_context(uint64_t *context);
int driver_device(void);

/* A context was made or ended: threads ask for theirs anew. */
void driver_contexts_changed(void);

/* False when the device's primary context is known to have ended. */
bool driver_primary_active(int device);

/* The size of the memory that begins at the address, 0 when none does. */
uint64_t driver_range(uint64_t ptr);

struct driver_block {
	uint64_t pool; /* the stream-ordered pool that it belongs to, 0 for none */
	int device;    /* the ordinal of the device on which it lies, else driver_device() */
	bool host, managed;
};

void driver_block(uint64_t ptr, struct driver_block *block);

/* The bytes that a pool holds now. */
uint64_t driver_pool_reserved(uint64_t pool);

/* The bytes that a device holds for graphs now, and the allocated part of them. */
uint64_t driver_graph_memory(int device, uint64_t *used);

bool driver_capturing(uint64_t stream);

/* Bytes left on the current device, and its total; false when unknown. About 6 us. */
bool driver_memory(uint64_t *left, uint64_t *total);

/* The stack of each thread of the device, in bytes (UINT64_MAX when unknown), and the stack that a
 * thread of the function or kernel needs. */
uint64_t driver_stack_limit(void);
uint64_t driver_local_bytes(uint64_t asked, bool kernel, int device);

struct driver_facts {
	char name[128];
	char uuid[48]; /* "GPU-...", "MIG-..." */
	uint64_t total_bytes;
};

/* False when the device is unknown. */
bool driver_facts(int device, struct driver_facts *facts);

/* 13000 for CUDA 13.0, 0 when unknown. */
int driver_version(void);
