/* Scenarios: memory of other processes and libraries. Included by rows.c alone. */
#pragma once

#include <string.h>
#include <unistd.h>

#include "rows_memory.h"
#include "rows_pools.h"

static void use_cuIpcGetMemHandle(fn_cuIpcGetMemHandle *call)
{
	CUdeviceptr ptr = plain(2 * MIB);
	CUipcMemHandle handle;

	CALL(&handle, ptr);
	cuMemFree(ptr);
}

static void use_cuIpcOpenMemHandle_v2(fn_cuIpcOpenMemHandle_v2 *call)
{
	CUdeviceptr ptr = 0;

	imports("device", 3 * MIB);
	if (!CALL(&ptr, foreign_handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
		cuIpcCloseMemHandle(ptr);
}

static void use_cuIpcOpenMemHandle(fn_cuIpcOpenMemHandle *call)
{
	beneath("cuIpcOpenMemHandle_v2");
	use_cuIpcOpenMemHandle_v2(call);
}

static void use_cudaIpcOpenMemHandle(fn_cudaIpcOpenMemHandle *call)
{
	cudaIpcMemHandle_t handle;
	void *ptr = NULL;

	memcpy(&handle, &foreign_handle, sizeof(handle));
	beneath("cuIpcOpenMemHandle_v2");
	imports("device", 3 * MIB);
	if (!CALL(&ptr, handle, cudaIpcMemLazyEnablePeerAccess))
		cudaIpcCloseMemHandle(ptr);
}

/* Opened twice: the first close ends nothing. */
static CUdeviceptr opened_twice_closed_once(void)
{
	CUdeviceptr ptr = 0, again = 0;

	must(cuIpcOpenMemHandle_v2(&ptr, foreign_handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
	     "cuIpcOpenMemHandle");
	must(cuIpcOpenMemHandle_v2(&again, foreign_handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
	     "cuIpcOpenMemHandle");
	must(ptr != again, "the same address");
	must(cuIpcCloseMemHandle(ptr), "cuIpcCloseMemHandle");
	return ptr;
}

static void use_cuIpcCloseMemHandle(fn_cuIpcCloseMemHandle *call)
{
	CUdeviceptr ptr = opened_twice_closed_once();

	closes("device", 3 * MIB);
	if (CALL(ptr))
		cuIpcCloseMemHandle(ptr);
}

static void use_cudaIpcCloseMemHandle(fn_cudaIpcCloseMemHandle *call)
{
	CUdeviceptr ptr = opened_twice_closed_once();

	beneath("cuIpcCloseMemHandle");
	closes("device", 3 * MIB);
	if (CALL((void *)(uintptr_t)ptr))
		cuIpcCloseMemHandle(ptr);
}

/* --- shareable handles --------------------------------------------------------------------- */

static void use_cuMemImportFromShareableHandle(fn_cuMemImportFromShareableHandle *call)
{
	CUmemGenericAllocationHandle mine = create(2 * MIB), theirs = 0;
	int fd = -1;

	must(cuMemExportToShareableHandle(&fd, mine, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
	     "cuMemExportToShareableHandle");
	imports("device", 0);
	if (!CALL(&theirs, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
		cuMemRelease(theirs);
	cuMemRelease(mine);
	close(fd);
}

static int exported_pool(CUmemoryPool pool)
{
	int fd = -1;

	must(cuMemPoolExportToShareableHandle(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
					      0),
	     "cuMemPoolExportToShareableHandle");
	return fd;
}

static CUmemoryPool imported_pool(CUmemoryPool pool)
{
	CUmemoryPool theirs = NULL;
	int fd = exported_pool(pool);

	must(cuMemPoolImportFromShareableHandle(&theirs, (void *)(intptr_t)fd,
						CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
	     "cuMemPoolImportFromShareableHandle");
	close(fd);
	return theirs;
}

static void use_cuMemPoolExportToShareableHandle(fn_cuMemPoolExportToShareableHandle *call)
{
	CUmemoryPool pool = cached_pool();
	int fd = -1;

	if (!CALL(&fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
		close(fd);
	cuMemPoolDestroy(pool);
}

static void use_cuMemPoolImportFromShareableHandle(fn_cuMemPoolImportFromShareableHandle *call)
{
	CUmemoryPool pool = cached_pool(), theirs = NULL;
	int fd = exported_pool(pool);

	if (!CALL(&theirs, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
		cuMemPoolDestroy(theirs);
	cuMemPoolDestroy(pool);
	close(fd);
}

static void use_cuMemPoolExportPointer(fn_cuMemPoolExportPointer *call)
{
	CUdeviceptr ptr = ordered(MIB);
	CUmemPoolPtrExportData data;

	CALL(&data, ptr);
	cuMemFreeAsync(ptr, NULL);
}

static void use_cuMemPoolImportPointer(fn_cuMemPoolImportPointer *call)
{
	CUmemoryPool pool = pool_of(&pool_on_device), theirs = imported_pool(pool);
	CUdeviceptr mine = block_of(pool, 36 * KIB), ptr = 0;
	CUmemPoolPtrExportData data;

	must(cuMemPoolExportPointer(&data, mine), "cuMemPoolExportPointer");
	imports("device", 36 * KIB);
	if (!CALL(&ptr, theirs, &data))
		cuMemFreeAsync(ptr, NULL);
	cuMemFreeAsync(mine, NULL);
	cuMemPoolDestroy(theirs);
	cuMemPoolDestroy(pool);
}

static void use_cudaMemPoolImportPointer(fn_cudaMemPoolImportPointer *call)
{
	beneath("cuMemPoolImportPointer");
	use_cuMemPoolImportPointer((fn_cuMemPoolImportPointer *)(void *)call);
}

/* --- external memory ----------------------------------------------------------------------- */

static const CUDA_EXTERNAL_MEMORY_HANDLE_DESC external_desc = {
	.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .size = 4 * MIB
};

static CUexternalMemory external(void)
{
	CUexternalMemory memory = NULL;

	must(cuImportExternalMemory(&memory, &external_desc), "cuImportExternalMemory");
	return memory;
}

static void use_cuImportExternalMemory(fn_cuImportExternalMemory *call)
{
	CUexternalMemory memory = NULL;

	imports("device", 4 * MIB);
	if (!CALL(&memory, &external_desc))
		cuDestroyExternalMemory(memory);
}

static void use_cudaImportExternalMemory(fn_cudaImportExternalMemory *call)
{
	struct cudaExternalMemoryHandleDesc desc = { .type = cudaExternalMemoryHandleTypeOpaqueFd,
						     .size = 5 * MIB };
	cudaExternalMemory_t memory = NULL;

	beneath("cuImportExternalMemory");
	imports("device", 5 * MIB);
	if (!CALL(&memory, &desc))
		cudaDestroyExternalMemory(memory);
}

/* A mapped buffer ends as other memory does. */
static void use_cuExternalMemoryGetMappedBuffer(fn_cuExternalMemoryGetMappedBuffer *call)
{
	CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = { .size = MIB };
	CUexternalMemory memory = external();
	CUdeviceptr ptr = 0;

	imports("device", MIB);
	if (!CALL(&ptr, memory, &desc))
		must(cuMemFree(ptr), "cuMemFree");
	cuDestroyExternalMemory(memory);
}

static void use_cudaExternalMemoryGetMappedBuffer(fn_cudaExternalMemoryGetMappedBuffer *call)
{
	struct cudaExternalMemoryBufferDesc desc = { .size = 2 * MIB };
	CUexternalMemory memory = external();
	void *ptr = NULL;

	beneath("cuExternalMemoryGetMappedBuffer");
	imports("device", 2 * MIB);
	if (!CALL(&ptr, (cudaExternalMemory_t)(void *)memory, &desc))
		must(cudaFree(ptr), "cudaFree");
	cuDestroyExternalMemory(memory);
}

static void
use_cuExternalMemoryGetMappedMipmappedArray(fn_cuExternalMemoryGetMappedMipmappedArray *call)
{
	CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc = { .arrayDesc = cube, .numLevels = 5 };
	CUexternalMemory memory = external();
	CUmipmappedArray array = NULL;

	imports("array", CUBE_BYTES);
	if (!CALL(&array, memory, &desc))
		must(cuMipmappedArrayDestroy(array), "cuMipmappedArrayDestroy");
	cuDestroyExternalMemory(memory);
}

static void
use_cudaExternalMemoryGetMappedMipmappedArray(fn_cudaExternalMemoryGetMappedMipmappedArray *call)
{
	struct cudaExternalMemoryMipmappedArrayDesc desc = { .formatDesc = four_floats,
							     .extent = { 8, 4, 0 },
							     .numLevels = 2 };
	CUexternalMemory memory = external();
	cudaMipmappedArray_t array = NULL;

	beneath("cuExternalMemoryGetMappedMipmappedArray");
	imports("array", (8 * 4 + 4 * 2) * 16);
	if (!CALL(&array, (cudaExternalMemory_t)(void *)memory, &desc))
		must(cudaFreeMipmappedArray(array), "cudaFreeMipmappedArray");
	cuDestroyExternalMemory(memory);
}

static void use_cuDestroyExternalMemory(fn_cuDestroyExternalMemory *call)
{
	CUexternalMemory memory = external();

	closes("device", 4 * MIB);
	if (CALL(memory))
		cuDestroyExternalMemory(memory);
}

static void use_cudaDestroyExternalMemory(fn_cudaDestroyExternalMemory *call)
{
	beneath("cuDestroyExternalMemory");
	use_cuDestroyExternalMemory((fn_cuDestroyExternalMemory *)(void *)call);
}
