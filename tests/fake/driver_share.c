/*
 * Memory of others: another process's (IPC, shareable handles) or another library's (external).
 *
 * What is shared is a description: whose, where and how large. The simulated device has no memory
 * that anybody could read, so an import is an address and the books' word that it is not ours. The
 * file descriptors are files in memory that hold such a description.
 */
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHARED_MAGIC 0x66616b6563756461u

struct shared {
	uint64_t magic;
	uint64_t process;
	uint64_t address;
	uint64_t size;
	int device;
	bool pool;
};

struct external {
	uint64_t size;
	struct context *context;
	struct external *next;
};

/* --- descriptions -------------------------------------------------------------------------- */

static CUresult export_fd(void *out, const struct shared *shared)
{
	int fd = memfd_create("fake-cuda", MFD_CLOEXEC);

	if (fd < 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (write(fd, shared, sizeof(*shared)) != (ssize_t)sizeof(*shared)) {
		close(fd);
		return CUDA_ERROR_UNKNOWN;
	}
	*(int *)out = fd;
	return CUDA_SUCCESS;
}

/* The descriptor itself is the handle, as in the real interface. */
static bool import_fd(const void *handle, struct shared *shared)
{
	return pread((int)(intptr_t)handle, shared, sizeof(*shared), 0) ==
		       (ssize_t)sizeof(*shared) &&
	       shared->magic == SHARED_MAGIC && device_at(shared->device);
}

static struct shared describe(const struct device *device, uint64_t address, uint64_t size)
{
	return (struct shared){ .magic = SHARED_MAGIC,
				.process = (uint64_t)getpid(),
				.address = address,
				.size = size,
				.device = device->ordinal };
}

/* --- IPC ----------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct shared) <= sizeof(CUipcMemHandle), "it travels in the handle");

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr ptr)
{
	CUresult status = call_begin();
	const struct block *block = NULL;
	struct shared shared;

	if (status == CUDA_SUCCESS) {
		block = block_around(memory_blocks(), ptr);
		if (!handle || !block || block->kind != KIND_PLAIN)
			status = CUDA_ERROR_INVALID_VALUE;
	}
	if (status == CUDA_SUCCESS) {
		shared = describe(block->device, block->base, block->size);
		memset(handle, 0, sizeof(*handle));
		memcpy(handle, &shared, sizeof(shared));
	}
	return call_end(status);
}

/* The same memory opened before, in this context. */
static struct block *opened_before(const struct context *context, const struct shared *shared)
{
	struct block *block = context->blocks;

	while (block && (!block->opened || block->origin[0] != shared->process ||
			 block->origin[1] != shared->address))
		block = block->next;
	return block;
}

static CUresult open_shared(struct context *context, const struct shared *shared, CUdeviceptr *ptr)
{
	CUresult status = CUDA_SUCCESS;
	struct block *block;

	if (shared->magic != SHARED_MAGIC)
		return CUDA_ERROR_INVALID_VALUE;
	if (shared->process == (uint64_t)getpid())
		return CUDA_ERROR_INVALID_CONTEXT; /* one's own is not for opening */
	block = opened_before(context, shared);
	if (!block)
		status = memory_import(context, shared->size, &block);
	if (status != CUDA_SUCCESS)
		return status;
	block->opened++;
	block->origin[0] = shared->process;
	block->origin[1] = shared->address;
	*ptr = block->base;
	return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned int flags)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	struct shared shared;

	memcpy(&shared, &handle, sizeof(shared));
	if (status == CUDA_SUCCESS && (!ptr || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		status = open_shared(context, &shared, ptr);
	return call_end(status);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr ptr)
{
	CUresult status = call_begin();
	struct block *block = NULL;

	if (status == CUDA_SUCCESS) {
		block = block_at(memory_blocks(), ptr);
		if (!block || !block->opened)
			status = CUDA_ERROR_INVALID_VALUE;
	}
	if (status == CUDA_SUCCESS && !--block->opened)
		memory_end(block);
	return call_end(status);
}

/* --- shareable handles of memory and of pools ---------------------------------------------- */

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle,
				      CUmemAllocationHandleType type, unsigned long long flags)
{
	CUresult status = call_begin();
	const struct allocation *allocation = NULL;
	struct shared shared;

	if (status == CUDA_SUCCESS) {
		allocation = allocation_of(handle);
		if (!out || !allocation || flags ||
		    type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
			status = CUDA_ERROR_INVALID_VALUE;
	}
	if (status == CUDA_SUCCESS) {
		shared = describe(allocation_device(allocation), handle,
				  allocation_size(allocation));
		status = export_fd(out, &shared);
	}
	return call_end(status);
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *from,
					CUmemAllocationHandleType type)
{
	CUresult status = call_begin();
	struct allocation *allocation;
	struct shared shared;

	if (status == CUDA_SUCCESS &&
	    (!handle || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
	     !import_fd(from, &shared) || shared.pool))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		allocation = allocation_import(device_at(shared.device), shared.size,
					       shared.process == (uint64_t)getpid()
						       ? allocation_of(shared.address)
						       : NULL);
		status = allocation ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (status == CUDA_SUCCESS)
		*handle = allocation_handle(allocation);
	return call_end(status);
}

CUresult cuMemPoolExportToShareableHandle(void *out, CUmemoryPool handle,
					  CUmemAllocationHandleType type, unsigned long long flags)
{
	CUresult status = call_begin();
	struct shared shared;

	if (status == CUDA_SUCCESS &&
	    (!out || !pool_of(handle) || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		shared = describe(pool_device(pool_of(handle)), (uint64_t)(uintptr_t)handle, 0);
		shared.pool = true;
		status = export_fd(out, &shared);
	}
	return call_end(status);
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool *handle, void *from,
					    CUmemAllocationHandleType type,
					    unsigned long long flags)
{
	CUresult status = call_begin();
	struct shared shared;
	struct pool *pool;

	if (status == CUDA_SUCCESS &&
	    (!handle || flags || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
	     !import_fd(from, &shared) || !shared.pool))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		pool = pool_import(device_at(shared.device));
		status = pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (status == CUDA_SUCCESS)
		*handle = pool_handle(pool);
	return call_end(status);
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData *out, CUdeviceptr ptr)
{
	CUresult status = call_begin();
	const struct block *block = NULL;
	struct shared shared;

	if (status == CUDA_SUCCESS) {
		block = block_at(memory_blocks(), ptr);
		if (!out || !block || !block->pool)
			status = CUDA_ERROR_INVALID_VALUE;
	}
	if (status == CUDA_SUCCESS) {
		shared = describe(block->device, ptr, block->size);
		memset(out, 0, sizeof(*out));
		memcpy(out, &shared, sizeof(shared));
	}
	return call_end(status);
}

CUresult cuMemPoolImportPointer(CUdeviceptr *ptr, CUmemoryPool handle, CUmemPoolPtrExportData *data)
{
	CUresult status = call_begin();
	struct shared shared;
	struct block *block;

	if (status == CUDA_SUCCESS && (!ptr || !data || !pool_of(handle)))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		memcpy(&shared, data, sizeof(shared));
		block = shared.magic == SHARED_MAGIC
				? pool_import_block(pool_of(handle), shared.size)
				: NULL;
		status = block ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	}
	if (status == CUDA_SUCCESS)
		*ptr = block->base;
	return call_end(status);
}

/* --- external memory ----------------------------------------------------------------------- */

static struct external *external_of(const struct context *context, CUexternalMemory handle)
{
	struct external *external = context->externals;

	while (external && (void *)external != (void *)handle)
		external = external->next;
	return external;
}

static void external_end(struct external *external)
{
	struct external **link = &external->context->externals;

	while (*link != external)
		link = &(*link)->next;
	*link = external->next;
	account_remove(external->context->device, KIND_IMPORTED, external->size);
	free(external);
}

void externals_end(struct context *context)
{
	while (context->externals)
		external_end(context->externals);
}

CUresult cuImportExternalMemory(CUexternalMemory *memory,
				const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	struct external *external = NULL;

	if (status == CUDA_SUCCESS && (!memory || !desc || !desc->size ||
				       desc->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS) {
		external = calloc(1, sizeof(*external));
		status = external ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (status == CUDA_SUCCESS) {
		external->size = desc->size;
		external->context = context;
		external->next = context->externals;
		context->externals = external;
		account_add(context->device, KIND_IMPORTED, external->size);
		*memory = (CUexternalMemory)(void *)external;
	}
	return call_end(status);
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *ptr, CUexternalMemory memory,
					 const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	const struct external *external;
	struct block *block;

	if (status == CUDA_SUCCESS) {
		external = external_of(context, memory);
		if (!ptr || !desc || !external || !desc->size ||
		    desc->offset + desc->size > external->size)
			status = CUDA_ERROR_INVALID_VALUE;
	}
	if (status == CUDA_SUCCESS)
		status = memory_import(context, desc->size, &block);
	if (status == CUDA_SUCCESS)
		*ptr = block->base;
	return call_end(status);
}

CUresult
cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray *array, CUexternalMemory memory,
					const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc)
{
	struct context *context;
	CUresult status = call_begin_in(&context);
	const struct external *external;
	struct block *block;

	if (status == CUDA_SUCCESS) {
		external = external_of(context, memory);
		if (!array || !desc || !external || !desc->numLevels)
			status = CUDA_ERROR_INVALID_VALUE;
	}
	if (status == CUDA_SUCCESS)
		status = memory_import(context, external->size, &block);
	if (status == CUDA_SUCCESS)
		*array = array_of_import(block->base);
	return call_end(status);
}

CUresult cuDestroyExternalMemory(CUexternalMemory memory)
{
	struct context *context;
	CUresult status = call_begin_in(&context);

	if (status == CUDA_SUCCESS && !external_of(context, memory))
		status = CUDA_ERROR_INVALID_VALUE;
	if (status == CUDA_SUCCESS)
		external_end(external_of(context, memory));
	return call_end(status);
}
