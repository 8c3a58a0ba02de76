/*
 * Declares the part of CUPTI's activity API that is used, so that building needs no toolkit.
 *
 * From cupti_activity.h of CUDA 13.0. CUPTI fills in the newest version of a record that it has.
 * Newer versions add members at the end, so these structs are the beginning that all versions since
 * CUDA 11.2 share. tests/abi compares them with the toolkit's own header where there is one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	CUPTI_OK = 0,
	CUPTI_ACTIVITY_API_MEMORY2 = 14, /* cuptiGetVersion() in CUDA 11.2, which added MEMORY2 */
	CUPTI_FLUSH_FORCED = 1,
	CUPTI_NO_CONTEXT = -1, /* contextId of records that belong to no context (mappings) */
	CUPTI_DOMAIN_DRIVER = 1,
	CUPTI_DOMAIN_RUNTIME = 2,
};

enum cupti_kind {
	CUPTI_KIND_MEMCPY = 1,
	CUPTI_KIND_MEMSET = 2,
	CUPTI_KIND_DRIVER = 4,
	CUPTI_KIND_RUNTIME = 5,
	CUPTI_KIND_KERNEL = 10, /* CUPTI's CONCURRENT_KERNEL, which does not serialise kernels */
	CUPTI_KIND_UNIFIED = 25,
	CUPTI_KIND_MEMORY2 = 49,
	CUPTI_KIND_MEMORY_POOL = 50,
};

enum cupti_memory_kind {
	CUPTI_MEMORY_PINNED = 2,
	CUPTI_MEMORY_DEVICE = 3,
	CUPTI_MEMORY_ARRAY = 4,
	CUPTI_MEMORY_MANAGED = 5,
	CUPTI_MEMORY_VARIABLE = 6,         /* global variable of a module */
	CUPTI_MEMORY_MANAGED_VARIABLE = 7, /* __managed__ variable of a module */
};

enum cupti_operation {
	CUPTI_ALLOCATED = 1,
	CUPTI_FREED = 2,
	CUPTI_POOL_CREATED = 1,
	CUPTI_POOL_DESTROYED = 2,
	CUPTI_POOL_TRIMMED = 3,
};

struct cupti_record {
	uint32_t kind;
};

struct cupti_memory {
	uint32_t kind, operation, memory_kind, correlation;
	uint64_t address, bytes, timestamp, pc;
	uint32_t process, device, context, stream;
	const char *name;
	uint32_t async, unused;
	uint32_t pool_kind, unused_too;
	uint64_t pool;
};

struct cupti_pool {
	uint32_t kind, operation, pool_kind, correlation;
	uint32_t process, device;
	uint64_t keep, address, size, threshold, timestamp;
};

struct cupti_api {
	uint32_t kind, call;
	uint64_t start, end;
	uint32_t process, thread, correlation, result;
};

struct cupti_kernel {
	uint32_t kind, unused[3];
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	uint32_t shape[10];
	uint32_t correlation;
	int64_t grid;
	const char *name;
};

/* The record of a memory copy or a memory fill. */
struct cupti_transfer {
	uint32_t kind;
	uint8_t copy, other[3];
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
};

struct cupti_unified {
	uint32_t kind, counter;
	uint64_t value, start, end, address;
	uint32_t from, to;
};

enum { CUPTI_UNIFIED_HTOD = 1, CUPTI_UNIFIED_DTOH = 2, CUPTI_UNIFIED_ALL_DEVICES = 2 };

struct cupti_unified_config {
	uint32_t scope, counter, device, enable;
};

typedef void cupti_wanted_fn(uint8_t **buffer, size_t *size, size_t *records);
typedef void cupti_filled_fn(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			     size_t valid);
