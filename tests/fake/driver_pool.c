/*
 * Stream-ordered memory: pools that keep what was freed until the device is synchronised.
 *
 * The simulated device has done its work by the time a call returns, so a block is free for others
 * at once; its memory stays with the pool until then. Chunks of 32 MiB, as on an H200.
 */
#include "fake.h"

#include <stdlib.h>
#include <sys/mman.h>

#define CHUNK (32 * MIB)
#define ALIGNMENT 512
#define HOST_POOL_SIZE (MIB * 1024 * 64) /* addresses, not memory */
#define FLAGS 4

struct pool {
	struct device *device;
	enum kind kind; /* KIND_PINNED: a pool of host memory */
	struct range *range;
	uint64_t threshold;
	uint64_t reserved;
	uint64_t reserved_high;
	uint64_t used;
	uint64_t used_high;
	uint64_t blocks;
	bool destroyed; /* its last block takes it along */
	int flags[FLAGS];
	struct pool *next;
};

static struct pool *pools;

CUmemoryPool pool_handle(struct pool *pool)
{
	return (CUmemoryPool)(void *)pool;
}

struct pool *pool_of(CUmemoryPool handle)
{
	struct pool *pool = pools;

	while (pool && pool_handle(pool) != handle)
		pool = pool->next;
	return pool && !pool->destroyed ? pool : NULL;
}

/* The books after the range took chunks or gave some back. */
static void pool_settle(struct pool *pool)
{
	uint64_t before = pool->reserved;

	pool->reserved = pool->range->backed;
	if (pool->reserved > pool->reserved_high)
		pool->reserved_high = pool->reserved;
	if (pool->kind == KIND_POOL)
		account_pool_reserve(pool->device, before, pool->reserved);
}

static void pool_trim(struct pool *pool, uint64_t keep)
{
	if (!pool->range)
		return;
	range_trim(pool->range, keep);
	pool_settle(pool);
}

static struct pool *pool_new(struct device *device, enum kind kind)
{
	struct pool *pool = calloc(1, sizeof(*pool));
	bool host = kind == KIND_PINNED || kind == KIND_MANAGED;

	if (!pool)
		return NULL;
	if (kind != KIND_IMPORTED)
		pool->range = range_new(host ? NULL : device,
					host ? HOST_POOL_SIZE : 2 * device->total, CHUNK, true);
	if (!pool->range && kind != KIND_IMPORTED) {
		free(pool);
		return NULL;
	}
	pool->device = device;
	pool->kind = kind;
	for (int i = 0; i < FLAGS; i++)
		pool->flags[i] = 1;
	pool->next = pools;
	pools = pool;
	return pool;
}

static void pool_delete(struct pool *pool)
{
	struct pool **link = &pools;

	while (*link != pool)
		link = &(*link)->next;
	*link = pool->next;
	pool_trim(pool, 0);
	range_delete(pool->range);
	free(pool);
}

static struct pool *default_pool(struct device *device)
{
	if (!device->default_pool)
		device->default_pool = pool_new(device, KIND_POOL);
	if (!device->current_pool)
		device->current_pool = device->default_pool;
	return device->default_pool;
}

static struct pool *current_pool(struct device *device)
{
	default_pool(device);
	return device->current_pool;
}

void pools_synchronize(void)
{
	for (struct pool *pool = pools; pool; pool = pool->next)
		if (pool->reserved > pool->threshold)
			pool_trim(pool, pool->threshold);
}

/* --- blocks -------------------------------------------------------------------------------- */

static CUresult pool_take(struct pool *pool, uint64_t size, uint64_t *base)
{
	struct block block = { .size = size, .kind = pool->kind, .device = pool->device };
	CUresult status = call_admit_allocation();

	block.pool = pool;
	block.range = pool->range;
	if (status == CUDA_SUCCESS && size <= pool->range->size)
		block.span = range_take(pool->range, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT,
					ALIGNMENT);
	if (block.span) {
		block.base = span_address(block.span);
		if (!block_add(memory_blocks(), &block)) {
			range_give(pool->range, block.span);
			block.span = NULL;
		}
	}
	if (!block.span) {
		account_failure(pool->device, pool->kind);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	pool_settle(pool);
	account_add(pool->device, pool->kind, size);
	pool->blocks++;
	pool->used += size;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	*base = block.base;
	return CUDA_SUCCESS;
}

void pool_block_end(struct block *block, bool ordered)
{
	struct pool *pool = block->pool;

	/* A plain cuMemFree of such memory leaves USED_MEM_CURRENT as it is: so on an H200. */
	if (ordered)
		pool->used -= block->size;
	pool->blocks--;
	if (block->span)
		range_give(pool->range, block->span);
	if (block->mapped)
		munmap((void *)(uintptr_t)block->base, block->mapped);
	account_remove(block->device, block->kind, block->size);
	block_remove(memory_blocks(), block);
	if (pool->destroyed && !pool->blocks)
		pool_delete(pool);
}

struct block *pool_import_block(struct pool *pool, uint64_t size)
{
	struct block block = { .size = size, .kind = KIND_IMPORTED, .device = pool->device };
	struct block *made;

	if (pool->kind != KIND_IMPORTED)
		return NULL;
	block.pool = pool;
	block.mapped = (size + GRANULE - 1) / GRANULE * GRANULE;
	block.base = address_reserve(block.mapped, GRANULE, false);
	made = block.base ? block_add(memory_blocks(), &block) : NULL;
	if (made) {
		pool->blocks++;
		pool->used += size;
		account_add(pool->device, KIND_IMPORTED, size);
	}
	return made;
}

/* What a graph will allocate has an address at once, and memory only when it runs. */
static CUresult allocate(CUdeviceptr *ptr, size_t size, struct pool *pool, CUstream stream)
{
	uint64_t base = 0;
	bool capturing = false;
	CUresult status = stream_capturing(stream, &capturing);

	if (status == CUDA_SUCCESS && (!ptr || !pool || pool->kind == KIND_IMPORTED))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS && capturing)
		base = graph_capture_alloc(pool->device, size);
	else if (status == CUDA_SUCCESS && size)
		status = pool_take(pool, size, &base);
	if (status == CUDA_SUCCESS)
		*ptr = base; /* of no bytes: success, and NULL */
	return status;
}

CUresult cuMemAllocAsync(CUdeviceptr *ptr, size_t size, CUstream stream)
{
	struct context *context;
	CUresult status;

	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS)
		status = allocate(ptr, size, current_pool(context->device), stream);
	return call_end(status);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *ptr, size_t size, CUmemoryPool pool, CUstream stream)
{
	struct context *context;
	CUresult status;

	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS)
		status = allocate(ptr, size, pool_of(pool), stream);
	return call_end(status);
}

static CUresult free_async(CUdeviceptr ptr, CUstream stream)
{
	struct block *block = block_at(memory_blocks(), ptr);
	struct device *device = block ? block->device : NULL;
	bool capturing = false;
	CUresult status = stream_capturing(stream, &capturing);

	if (status != CUDA_SUCCESS)
		return status;
	if (capturing ? graph_capture_free(ptr) : graph_free(ptr))
		return CUDA_SUCCESS;
	/* An H200 takes plain memory here as well, and frees it. */
	if (capturing || !block || (!block->pool && block->kind != KIND_PLAIN))
		status = CUDA_ERROR_INVALID_VALUE;
	else
		status = call_admit_free();
	if (status != CUDA_SUCCESS)
		account_free_failure(device);
	else if (block->pool)
		pool_block_end(block, true);
	else
		memory_end(block);
	return status;
}

CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream stream)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	if (status == CUDA_SUCCESS && ptr)
		status = free_async(ptr, stream);
	return call_end(status);
}

/* The twins for programs built with a default stream per thread: NULL is another stream to them. */
static CUstream per_thread(CUstream stream)
{
	return stream ? stream : CU_STREAM_PER_THREAD;
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *ptr, size_t size, CUstream stream)
{
	struct context *context;
	CUresult status;

	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS)
		status = allocate(ptr, size, current_pool(context->device), per_thread(stream));
	return call_end(status);
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *ptr, size_t size, CUmemoryPool pool,
				      CUstream stream)
{
	struct context *context;
	CUresult status;

	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS)
		status = allocate(ptr, size, pool_of(pool), per_thread(stream));
	return call_end(status);
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr ptr, CUstream stream)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	if (status == CUDA_SUCCESS && ptr)
		status = free_async(ptr, per_thread(stream));
	return call_end(status);
}

/* --- pools --------------------------------------------------------------------------------- */

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !device_at(device))
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS)
		*pool = pool_handle(default_pool(device_at(device)));
	return call_end(status);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !device_at(device))
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS)
		*pool = pool_handle(current_pool(device_at(device)));
	return call_end(status);
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !device_at(device))
		status = CUDA_ERROR_INVALID_DEVICE;
	if (status == CUDA_SUCCESS &&
	    (!pool_of(pool) || pool_of(pool)->range->device != device_at(device)))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		default_pool(device_at(device));
		device_at(device)->current_pool = pool_of(pool);
	}
	return call_end(status);
}

static CUresult create(CUmemoryPool *handle, const CUmemPoolProps *props)
{
	struct device *device;
	struct pool *pool;
	bool managed = props && props->allocType == CU_MEM_ALLOCATION_TYPE_MANAGED;
	bool host = props && props->location.type != CU_MEM_LOCATION_TYPE_DEVICE;
	enum kind kind = managed ? KIND_MANAGED : host ? KIND_PINNED : KIND_POOL;

	if (!handle || !props || (!managed && props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED))
		return CUDA_ERROR_INVALID_VALUE;
	if (!managed && props->location.type == CU_MEM_LOCATION_TYPE_INVALID)
		return CUDA_ERROR_INVALID_VALUE;
	device = device_at(host ? 0 : props->location.id);
	if (!device)
		return CUDA_ERROR_INVALID_DEVICE;
	pool = pool_new(device, kind);
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*handle = pool_handle(pool);
	return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS)
		status = create(pool, props);
	return call_end(status);
}

CUresult cuMemPoolDestroy(CUmemoryPool handle)
{
	CUresult status = call_begin();
	struct pool *pool = status == CUDA_SUCCESS ? pool_of(handle) : NULL;

	if (status == CUDA_SUCCESS && (!pool || pool == pool->device->default_pool))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		if (pool->device->current_pool == pool)
			pool->device->current_pool = pool->device->default_pool;
		pool->destroyed = true;
		if (!pool->blocks)
			pool_delete(pool);
	}
	return call_end(status);
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t keep)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !pool_of(handle))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		pool_trim(pool_of(handle), keep);
	return call_end(status);
}

struct device *pool_device(const struct pool *pool)
{
	return pool->device;
}

struct pool *pool_import(struct device *device)
{
	return pool_new(device, KIND_IMPORTED);
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && (!pool_of(pool) || !access || !count))
		status = CUDA_ERROR_INVALID_VALUE;
	return call_end(status);
}

/* --- attributes ---------------------------------------------------------------------------- */

static bool attribute_is_flag(CUmemPool_attribute attribute)
{
	return (int)attribute >= 1 && (int)attribute < FLAGS;
}

static CUresult attribute_set(struct pool *pool, CUmemPool_attribute attribute, const void *value)
{
	if (attribute_is_flag(attribute)) {
		pool->flags[attribute] = *(const int *)value;
		return CUDA_SUCCESS;
	}
	switch ((int)attribute) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		pool->threshold = *(const cuuint64_t *)value;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		/* A high-water mark can only be put back to what is there now. */
		if (*(const cuuint64_t *)value)
			return CUDA_ERROR_INVALID_VALUE;
		if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH)
			pool->used_high = pool->used;
		else
			pool->reserved_high = pool->reserved;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

static CUresult attribute_get(const struct pool *pool, CUmemPool_attribute attribute, void *value)
{
	cuuint64_t *number = value;

	if (attribute_is_flag(attribute)) {
		*(int *)value = pool->flags[attribute];
		return CUDA_SUCCESS;
	}
	switch ((int)attribute) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*number = pool->threshold;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		*number = pool->reserved;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		*number = pool->reserved_high;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		*number = pool->used;
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		*number = pool->used_high;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && (!pool_of(pool) || !value))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = attribute_set(pool_of(pool), attribute, value);
	return call_end(status);
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && (!pool_of(pool) || !value))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = attribute_get(pool_of(pool), attribute, value);
	return call_end(status);
}
