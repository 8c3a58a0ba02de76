/*
 * Virtual memory management: memory without an address, addresses without memory, and mappings.
 *
 * Memory made by cuMemCreate is held until its last reference and its last mapping are gone, in
 * whichever order.
 */
#include "fake.h"

#include <stdlib.h>
#include <sys/mman.h>

struct allocation {
	uint64_t size;
	struct device *device;
	enum kind kind; /* KIND_PINNED: it lies in the host */
	unsigned int references;
	unsigned int mappings;
	unsigned int imports;      /* of this process, that keep it alive */
	struct allocation *origin; /* what an import of this process keeps alive */
	struct allocation *next;
};

static struct allocation *allocations;
static struct blocks reservations;

CUmemGenericAllocationHandle allocation_handle(const struct allocation *allocation)
{
	return (CUmemGenericAllocationHandle)(uintptr_t)allocation;
}

uint64_t allocation_size(const struct allocation *allocation)
{
	return allocation->size;
}

struct device *allocation_device(const struct allocation *allocation)
{
	return allocation->device;
}

struct allocation *allocation_of(CUmemGenericAllocationHandle handle)
{
	struct allocation *allocation = allocations;

	while (allocation && allocation_handle(allocation) != handle)
		allocation = allocation->next;
	return allocation && allocation->references ? allocation : NULL;
}

/* --- memory -------------------------------------------------------------------------------- */

/* Where the memory is to lie; NULL when the wish cannot be met. */
static struct device *wished_device(const CUmemAllocationProp *prop)
{
	if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED)
		return NULL;
	switch ((int)prop->location.type) {
	case CU_MEM_LOCATION_TYPE_DEVICE:
		return device_at(prop->location.id);
	case CU_MEM_LOCATION_TYPE_HOST:
	case CU_MEM_LOCATION_TYPE_HOST_NUMA:
	case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return device_at(0);
	default:
		return NULL;
	}
}

struct allocation *allocation_import(struct device *device, uint64_t size,
				     struct allocation *origin)
{
	struct allocation *allocation = calloc(1, sizeof(*allocation));

	if (!allocation)
		return NULL;
	*allocation = (struct allocation){ .size = size,
					   .device = device,
					   .kind = KIND_IMPORTED,
					   .references = 1,
					   .origin = origin,
					   .next = allocations };
	allocations = allocation;
	account_add(device, KIND_IMPORTED, size);
	if (origin)
		origin->imports++;
	return allocation;
}

static CUresult create(struct allocation **made, uint64_t size, const CUmemAllocationProp *prop)
{
	struct device *device = wished_device(prop);
	enum kind kind =
		prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? KIND_VMM : KIND_PINNED;
	struct allocation *allocation = calloc(1, sizeof(*allocation));
	CUresult status = call_admit_allocation();

	if (status != CUDA_SUCCESS || !allocation ||
	    (kind == KIND_VMM && !device_take(device, size))) {
		free(allocation);
		account_failure(device, kind);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	allocation->size = size;
	allocation->device = device;
	allocation->kind = kind;
	allocation->references = 1;
	allocation->next = allocations;
	allocations = allocation;
	account_add(device, kind, size);
	*made = allocation;
	return CUDA_SUCCESS;
}

static void end_if_unheld(struct allocation *allocation)
{
	struct allocation **link = &allocations;
	struct allocation *origin = allocation->origin;

	if (allocation->references || allocation->mappings || allocation->imports)
		return;
	while (*link != allocation)
		link = &(*link)->next;
	*link = allocation->next;
	account_remove(allocation->device, allocation->kind, allocation->size);
	if (allocation->kind == KIND_VMM)
		device_give(allocation->device, allocation->size);
	free(allocation);
	if (origin && !--origin->imports)
		end_if_unheld(origin);
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
				       CUmemAllocationGranularity_flags option)
{
	CUresult status = call_begin();

	(void)option;
	if (status == CUDA_SUCCESS && (!granularity || !wished_device(prop)))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		*granularity = GRANULE;
	return call_end(status);
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
		     const CUmemAllocationProp *prop, unsigned long long flags)
{
	struct allocation *allocation = NULL;
	CUresult status;

	call_delay();
	status = call_begin();
	if (status == CUDA_SUCCESS && (!handle || !size || size % GRANULE || flags))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS && !wished_device(prop))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = create(&allocation, size, prop);
	if (status == CUDA_SUCCESS)
		*handle = allocation_handle(allocation);
	return call_end(status);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	CUresult status = call_begin();
	struct allocation *allocation = NULL;

	if (status == CUDA_SUCCESS) {
		allocation = allocation_of(handle);
		status = allocation ? call_admit_free() : CUDA_ERROR_INVALID_VALUE;
		if (status != CUDA_SUCCESS)
			account_free_failure(allocation ? allocation->device : NULL);
	}
	if (status == CUDA_SUCCESS) {
		allocation->references--;
		end_if_unheld(allocation);
	}
	return call_end(status);
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
	CUresult status = call_begin();
	struct block *block = NULL;

	if (status == CUDA_SUCCESS) {
		block = block_around(memory_blocks(), (uint64_t)(uintptr_t)address);
		if (!block || !block->mapping || !handle)
			status = CUDA_ERROR_INVALID_VALUE;
	}
	if (status == CUDA_SUCCESS) {
		block->mapping->references++;
		*handle = allocation_handle(block->mapping);
	}
	return call_end(status);
}

/* --- addresses ----------------------------------------------------------------------------- */

static CUresult reserve(CUdeviceptr *ptr, uint64_t size, uint64_t alignment)
{
	struct block block = { .size = size };

	if (alignment < GRANULE)
		alignment = GRANULE;
	block.base = address_reserve(size, alignment, false);
	if (!block.base)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (!block_add(&reservations, &block)) {
		munmap((void *)(uintptr_t)block.base, size);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*ptr = block.base;
	return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr wish,
			     unsigned long long flags)
{
	CUresult status = call_begin();

	(void)wish; /* a hint, which a driver may ignore */
	if (status == CUDA_SUCCESS && (!ptr || !size || size % GRANULE || flags))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS && (alignment & (alignment - 1)))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = reserve(ptr, size, alignment);
	return call_end(status);
}

/* Whether any byte of the range is mapped. */
static bool mapped_within(uint64_t base, uint64_t size)
{
	for (uint64_t at = base; at < base + size; at += GRANULE)
		if (block_around(memory_blocks(), at))
			return true;
	return false;
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
	CUresult status = call_begin();
	struct block *reservation = NULL;

	if (status == CUDA_SUCCESS) {
		reservation = block_at(&reservations, ptr);
		if (!reservation || reservation->size != size || mapped_within(ptr, size))
			status = CUDA_ERROR_INVALID_VALUE;
	}
	if (status == CUDA_SUCCESS) {
		munmap((void *)(uintptr_t)ptr, size);
		block_remove(&reservations, reservation);
	}
	return call_end(status);
}

/* --- mappings ------------------------------------------------------------------------------ */

static CUresult map(CUdeviceptr ptr, size_t size, struct allocation *allocation)
{
	struct block *reservation = block_around(&reservations, ptr);
	struct block block = { .base = ptr, .size = size, .kind = KIND_VMM };

	if (!allocation || !size || size > allocation->size || ptr % GRANULE || size % GRANULE)
		return CUDA_ERROR_INVALID_VALUE;
	if (!reservation || size > reservation->base + reservation->size - ptr)
		return CUDA_ERROR_INVALID_VALUE;
	block.device = allocation->device;
	block.mapping = allocation;
	if (!block_add(memory_blocks(), &block))
		return CUDA_ERROR_INVALID_VALUE;
	allocation->mappings++;
	return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
		  unsigned long long flags)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && (offset || flags)) /* no driver so far takes another offset */
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = map(ptr, size, allocation_of(handle));
	return call_end(status);
}

/* Whether the range is made of whole mappings: they end and change all or not at all. */
static bool whole_mappings(uint64_t ptr, uint64_t size)
{
	uint64_t at = ptr;

	while (at < ptr + size) {
		struct block *block = block_at(memory_blocks(), at);

		if (!block || !block->mapping || block->size > ptr + size - at)
			return false;
		at += block->size;
	}
	return size > 0;
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && !whole_mappings(ptr, size))
		status = CUDA_ERROR_INVALID_VALUE;
	for (uint64_t at = ptr; status == CUDA_SUCCESS && at < ptr + size;) {
		struct block *block = block_at(memory_blocks(), at);
		struct allocation *allocation = block->mapping;

		at += block->size;
		block_remove(memory_blocks(), block);
		allocation->mappings--;
		end_if_unheld(allocation);
	}
	return call_end(status);
}

CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *access, size_t count)
{
	CUresult status = call_begin();

	if (status == CUDA_SUCCESS && (!access || !count || !whole_mappings(ptr, size)))
		status = CUDA_ERROR_INVALID_VALUE;
	for (uint64_t at = ptr; status == CUDA_SUCCESS && at < ptr + size;) {
		struct block *block = block_at(memory_blocks(), at);

		block->accessible = access->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
		at += block->size;
	}
	return call_end(status);
}
