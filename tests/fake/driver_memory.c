/*
 * Memory that is there when the call returns: plain, pitched, managed and pinned.
 */
#include "fake.h"

#include <string.h>
#include <sys/mman.h>

#define ALIGNMENT 512
#define PITCH 512
#define PAGE 4096

static uint64_t round_up(uint64_t value, uint64_t alignment)
{
	return (value + alignment - 1) / alignment * alignment;
}

/* --- taking -------------------------------------------------------------------------------- */

/* Blocks above 1 MiB lie in granules of their own, smaller ones share: as on an H200. */
static struct cuda_call *place(struct range *range, uint64_t size)
{
	if (size > MIB)
		return range_take(range, round_up(size, GRANULE), GRANULE);
	return range_take(range, round_up(size, ALIGNMENT), ALIGNMENT);
}

static CUresult take_device(struct context *context, struct block *block)
{
	struct device *device = context->device;

	if (block->size > device->total)
		return CUDA_ERROR_OUT_OF_MEMORY;
	/* Twice the memory: so there is always a hole that is wide enough. */
	if (!device->plain)
		device->plain = range_new(device, 2 * device->total, GRANULE, false);
	if (device->plain)
		block->span = place(device->plain, block->size);
	if (!block->span)
		return CUDA_ERROR_OUT_OF_MEMORY;
	block->range = device->plain;
	block->base = span_address(block->span);
	return CUDA_SUCCESS;
}

/* Memory that the host can use too. It takes none of the device's. */
static CUresult take_host(struct block *block)
{
	block->mapped = round_up(block->size, PAGE);
	if (block->mapped < block->size)
		return CUDA_ERROR_OUT_OF_MEMORY;
	block->base = address_reserve(block->mapped, PAGE, true);
	return block->base ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static void put_back(const struct block *block)
{
	if (block->span)
		range_give(block->range, block->span);
	if (block->mapped)
		munmap((void *)(uintptr_t)block->base, block->mapped);
}

CUresult memory_take(struct context *context, enum kind kind, uint64_t size, uint64_t *base)
{
	struct block block = { .size = size, .kind = kind, .context = context };
	CUresult status = call_admit_allocation();

	block.device = context->device;
	if (status == CUDA_SUCCESS && (kind == KIND_MANAGED || kind == KIND_PINNED))
		status = take_host(&block);
	else if (status == CUDA_SUCCESS)
		status = take_device(context, &block);
	if (status == CUDA_SUCCESS && !block_add(memory_blocks(), &block)) {
		put_back(&block);
		status = CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (status != CUDA_SUCCESS) {
		account_failure(context->device, kind);
		return status;
	}
	account_add(block.device, kind, size);
	*base = block.base;
	return CUDA_SUCCESS;
}

void memory_end(struct block *block)
{
	account_remove(block->device, block->kind, block->size);
	put_back(block);
	block_remove(memory_blocks(), block);
}

CUresult memory_import(struct context *context, uint64_t size, struct block **made)
{
	struct block block = { .size = size, .kind = KIND_IMPORTED, .context = context };

	block.device = context->device;
	block.mapped = round_up(size, GRANULE);
	block.base = address_reserve(block.mapped, GRANULE, false);
	if (!block.base)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*made = block_add(memory_blocks(), &block);
	if (!*made) {
		put_back(&block);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	account_add(block.device, KIND_IMPORTED, size);
	return CUDA_SUCCESS;
}

/* --- allocations --------------------------------------------------------------------------- */

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t size)
{
	struct context *context;
	CUresult status;
	uint64_t base = 0;

	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS && (!ptr || !size))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = memory_take(context, KIND_PLAIN, size, &base);
	if (status == CUDA_SUCCESS)
		*ptr = base;
	return call_end(status);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height,
			    unsigned int element)
{
	struct context *context;
	CUresult status;
	uint64_t base = 0;

	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS && (!ptr || !pitch || !width || !height))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS && element != 4 && element != 8 && element != 16)
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = memory_take(context, KIND_PLAIN, round_up(width, PITCH) * height, &base);
	if (status == CUDA_SUCCESS) {
		*ptr = base;
		*pitch = round_up(width, PITCH);
	}
	return call_end(status);
}

CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t size, unsigned int flags)
{
	struct context *context;
	CUresult status;
	uint64_t base = 0;

	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS && (!ptr || !size || !flags))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = memory_take(context, KIND_MANAGED, size, &base);
	if (status == CUDA_SUCCESS)
		*ptr = base;
	return call_end(status);
}

CUresult cuMemHostAlloc(void **ptr, size_t size, unsigned int flags)
{
	struct context *context;
	CUresult status;
	uint64_t base = 0;

	(void)flags;
	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS && !ptr)
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS && size)
		status = memory_take(context, KIND_PINNED, size, &base);
	if (status == CUDA_SUCCESS)
		*ptr = (void *)(uintptr_t)base; /* of no bytes: success, and NULL */
	return call_end(status);
}

CUresult cuMemAllocHost_v2(void **ptr, size_t size)
{
	return cuMemHostAlloc(ptr, size, 0);
}

static CUresult register_host(struct context *context, void *ptr, size_t size)
{
	struct block block = { .base = (uint64_t)(uintptr_t)ptr, .size = size };
	CUresult status = call_admit_allocation();

	block.kind = KIND_PINNED;
	block.device = context->device;
	block.context = context;
	block.registered = true;
	if (status == CUDA_SUCCESS && !block_add(memory_blocks(), &block))
		status = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	if (status == CUDA_SUCCESS)
		account_add(context->device, KIND_PINNED, size);
	else
		account_failure(context->device, KIND_PINNED);
	return status;
}

CUresult cuMemHostRegister_v2(void *ptr, size_t size, unsigned int flags)
{
	struct context *context;
	CUresult status;

	(void)flags;
	call_delay();
	status = call_begin_in(&context);
	if (status == CUDA_SUCCESS && (!ptr || !size))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = register_host(context, ptr, size);
	return call_end(status);
}

/* --- frees --------------------------------------------------------------------------------- */

static struct device *current_device(void)
{
	struct context *context;

	return context_current(&context) == CUDA_SUCCESS ? context->device : NULL;
}

CUresult memory_free(struct block *block)
{
	CUresult status = block ? call_admit_free() : CUDA_ERROR_INVALID_VALUE;

	if (status != CUDA_SUCCESS) {
		account_free_failure(block ? block->device : current_device());
		return status;
	}
	if (block->kind == KIND_POOL || block->pool) {
		pool_block_end(block, false);
		pools_synchronize(); /* cuMemFree waits for the device, and that is one */
	} else {
		memory_end(block);
	}
	return CUDA_SUCCESS;
}

/* cuMemFree ends whatever has a device address, whichever call allocated it; mappings it leaves. */
static struct block *block_of_device(uint64_t address)
{
	struct block *block = block_at(memory_blocks(), address);

	if (!block || block->kind == KIND_ARRAY || block->kind == KIND_VMM || block->opened)
		return NULL;
	return block->kind == KIND_PINNED && !block->pool ? NULL : block;
}

CUresult cuMemFree_v2(CUdeviceptr ptr)
{
	CUresult status = call_begin();

	/* cuMemFree(0) is how programs ask for a context: it needs none and frees nothing. */
	if (status == CUDA_SUCCESS && ptr && !graph_free(ptr))
		status = memory_free(block_of_device(ptr));
	return call_end(status);
}

CUresult cuMemFreeHost(void *ptr)
{
	CUresult status = call_begin();
	struct block *block = NULL;

	if (status == CUDA_SUCCESS && ptr) {
		block = block_at(memory_blocks(), (uint64_t)(uintptr_t)ptr);
		if (block && (block->kind != KIND_PINNED || block->registered || block->pool))
			block = NULL;
		status = memory_free(block);
	}
	return call_end(status);
}

CUresult cuMemHostUnregister(void *ptr)
{
	CUresult status = call_begin();
	struct block *block = NULL;

	if (status == CUDA_SUCCESS) {
		block = block_at(memory_blocks(), (uint64_t)(uintptr_t)ptr);
		if (block && !block->registered)
			block = NULL;
		status = memory_free(block);
		if (!block)
			status = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	}
	return call_end(status);
}

/* --- questions ----------------------------------------------------------------------------- */

CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	if (status == CUDA_SUCCESS) {
		*available = context->device->total - context->device->used;
		*total = context->device->total;
	}
	return call_end(status);
}

/* Mapped memory is nobody's to use before cuMemSetAccess. */
static bool accessible(const struct block *block)
{
	return !block->mapping || block->accessible;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr ptr)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	uint64_t begin = 0;
	uint64_t bytes = 0;
	const struct block *block = NULL;

	if (status == CUDA_SUCCESS && !graph_range(ptr, &begin, &bytes)) {
		block = block_around(memory_blocks(), ptr);
		if (!block || block->kind == KIND_ARRAY || !accessible(block)) {
			status = CUDA_ERROR_NOT_FOUND;
		} else {
			begin = block->base;
			bytes = block->size;
		}
	}
	if (status == CUDA_SUCCESS && base)
		*base = begin;
	if (status == CUDA_SUCCESS && size)
		*size = bytes;
	return call_end(status);
}

/* Attributes are of many sizes: each is written as wide as cuda.h says. */
static CUresult attribute_write(void *data, CUpointer_attribute attribute,
				const struct block *block, CUdeviceptr ptr)
{
	bool host = block->kind == KIND_PINNED;

	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(void **)data = block->context;
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned int *)data = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(CUdeviceptr *)data = accessible(block) ? ptr : 0;
		return accessible(block) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		host |= block->kind == KIND_MANAGED;
		*(void **)data = host ? (void *)(uintptr_t)ptr : NULL;
		return host ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		*(unsigned long long *)data = block->base;
		break;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned int *)data = block->kind == KIND_MANAGED;
		break;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = block->device->ordinal;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)data = block->base;
		break;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = block->size;
		break;
	case CU_POINTER_ATTRIBUTE_MAPPED:
		*(unsigned int *)data = 1;
		break;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(void **)data = block->pool;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	struct block *block = NULL;

	if (status == CUDA_SUCCESS) {
		block = block_around(memory_blocks(), ptr);
		if (!block || block->kind == KIND_ARRAY || !data)
			status = CUDA_ERROR_INVALID_VALUE;
	}
	if (status == CUDA_SUCCESS)
		status = attribute_write(data, attribute, block, ptr);
	return call_end(status);
}

static size_t attribute_width(CUpointer_attribute attribute)
{
	switch ((int)attribute) {
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
	case CU_POINTER_ATTRIBUTE_MAPPED:
		return 4;
	default:
		return 8;
	}
}

/* What cannot be said of the address is zero, and no error. */
CUresult cuPointerGetAttributes(unsigned int count, CUpointer_attribute *attributes, void **data,
				CUdeviceptr ptr)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	struct block *block = NULL;

	if (status == CUDA_SUCCESS && (!count || !attributes || !data))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		block = block_around(memory_blocks(), ptr);
	for (unsigned int i = 0; status == CUDA_SUCCESS && i < count; i++) {
		memset(data[i], 0, attribute_width(attributes[i]));
		if (block && block->kind != KIND_ARRAY)
			attribute_write(data[i], attributes[i], block, ptr);
	}
	return call_end(status);
}

/* Device memory holds nothing, so nothing is copied; the host's side is left as it is. */
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size)
{
	(void)to;
	(void)from;
	(void)size;
	return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size)
{
	(void)to;
	(void)from;
	(void)size;
	return CUDA_SUCCESS;
}
