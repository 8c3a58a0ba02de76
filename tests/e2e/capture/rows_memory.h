/* Scenarios: memory by address, arrays, virtual memory management. Included by rows.c alone. */
#pragma once

#include <stdlib.h>

#include "rows.h"

#define PAGE 4096

static CUdeviceptr plain(size_t size)
{
	CUdeviceptr ptr = 0;

	must(cuMemAlloc(&ptr, size), "cuMemAlloc");
	return ptr;
}

static void *runtime_plain(size_t size)
{
	return (void *)(uintptr_t)plain(size);
}

/* --- plain, pitched and managed ------------------------------------------------------------ */

static void use_cudaMalloc(fn_cudaMalloc *call)
{
	void *ptr = NULL;

	beneath("cuMemAlloc_v2");
	takes("device", 5 * KIB);
	if (!CALL(&ptr, 5 * KIB))
		cudaFree(ptr);
}

static void use_cuMemAlloc_v2(fn_cuMemAlloc_v2 *call)
{
	CUdeviceptr ptr = 0;

	takes("device", 6 * KIB);
	if (!CALL(&ptr, 6 * KIB))
		cuMemFree(ptr);
}

static void use_cudaFree(fn_cudaFree *call)
{
	void *ptr = runtime_plain(7 * KIB);

	beneath("cuMemFree_v2");
	gives("device", 7 * KIB);
	if (CALL(ptr))
		cudaFree(ptr);
}

static void use_cuMemFree_v2(fn_cuMemFree_v2 *call)
{
	CUdeviceptr ptr = plain(8 * KIB);

	gives("device", 8 * KIB);
	if (CALL(ptr))
		cuMemFree(ptr);
}

/* A failed call tells no pitch: what was asked for is the width times the height. */
static void use_cudaMallocPitch(fn_cudaMallocPitch *call)
{
	void *ptr = NULL;
	size_t pitch = 0;

	beneath("cuMemAllocPitch_v2");
	takes("device", (call_fails() ? 1000 : 1024) * 10);
	if (!CALL(&ptr, &pitch, 1000, 10))
		cudaFree(ptr);
}

static void use_cudaMalloc3D(fn_cudaMalloc3D *call)
{
	struct cudaPitchedPtr pitched = { .ptr = NULL };
	struct cudaExtent extent = { .width = 1000, .height = 10, .depth = 3 };

	beneath("cuMemAllocPitch_v2");
	takes("device", (call_fails() ? 1000 : 1024) * 30);
	if (!CALL(&pitched, extent))
		cudaFree(pitched.ptr);
}

static void use_cuMemAllocPitch_v2(fn_cuMemAllocPitch_v2 *call)
{
	CUdeviceptr ptr = 0;
	size_t pitch = 0;

	takes("device", (call_fails() ? 1500 : 1536) * 20);
	if (!CALL(&ptr, &pitch, 1500, 20, 4))
		cuMemFree(ptr);
}

static void use_cudaMallocManaged(fn_cudaMallocManaged *call)
{
	void *ptr = NULL;

	beneath("cuMemAllocManaged");
	takes("managed", 9 * KIB);
	if (!CALL(&ptr, 9 * KIB, cudaMemAttachGlobal))
		cudaFree(ptr);
}

static void use_cuMemAllocManaged(fn_cuMemAllocManaged *call)
{
	CUdeviceptr ptr = 0;

	takes("managed", 10 * KIB);
	if (!CALL(&ptr, 10 * KIB, CU_MEM_ATTACH_GLOBAL))
		cuMemFree(ptr);
}

/* --- pinned -------------------------------------------------------------------------------- */

static void *pinned(size_t size)
{
	void *ptr = NULL;

	must(cuMemHostAlloc(&ptr, size, 0), "cuMemHostAlloc");
	return ptr;
}

static void use_cudaMallocHost(fn_cudaMallocHost *call)
{
	void *ptr = NULL;

	beneath("cuMemHostAlloc");
	takes("pinned", 11 * KIB);
	if (!CALL(&ptr, 11 * KIB))
		cudaFreeHost(ptr);
}

static void use_cudaHostAlloc(fn_cudaHostAlloc *call)
{
	void *ptr = NULL;

	beneath("cuMemHostAlloc");
	takes("pinned", 12 * KIB);
	if (!CALL(&ptr, 12 * KIB, cudaHostAllocDefault))
		cudaFreeHost(ptr);
}

static void use_cuMemAllocHost_v2(fn_cuMemAllocHost_v2 *call)
{
	void *ptr = NULL;

	beneath("cuMemHostAlloc");
	takes("pinned", 13 * KIB);
	if (!CALL(&ptr, 13 * KIB))
		cuMemFreeHost(ptr);
}

static void use_cuMemHostAlloc(fn_cuMemHostAlloc *call)
{
	void *ptr = NULL;

	takes("pinned", 14 * KIB);
	if (!CALL(&ptr, 14 * KIB, 0))
		cuMemFreeHost(ptr);
}

static void use_cudaFreeHost(fn_cudaFreeHost *call)
{
	void *ptr = pinned(15 * KIB);

	beneath("cuMemFreeHost");
	gives("pinned", 15 * KIB);
	if (CALL(ptr))
		cudaFreeHost(ptr);
}

static void use_cuMemFreeHost(fn_cuMemFreeHost *call)
{
	void *ptr = pinned(16 * KIB);

	gives("pinned", 16 * KIB);
	if (CALL(ptr))
		cuMemFreeHost(ptr);
}

static void use_cudaHostRegister(fn_cudaHostRegister *call)
{
	void *mine = aligned_alloc(PAGE, 16 * KIB);

	beneath("cuMemHostRegister_v2");
	takes("pinned", 16 * KIB);
	if (!CALL(mine, 16 * KIB, cudaHostRegisterDefault))
		cudaHostUnregister(mine);
	free(mine);
}

static void use_cuMemHostRegister_v2(fn_cuMemHostRegister_v2 *call)
{
	void *mine = aligned_alloc(PAGE, 20 * KIB);

	takes("pinned", 20 * KIB);
	if (!CALL(mine, 20 * KIB, 0))
		cuMemHostUnregister(mine);
	free(mine);
}

static void use_cuMemHostRegister(fn_cuMemHostRegister *call)
{
	beneath("cuMemHostRegister_v2");
	use_cuMemHostRegister_v2(call);
}

static void *registered(size_t size)
{
	void *mine = aligned_alloc(PAGE, size);

	must(cuMemHostRegister_v2(mine, size, 0), "cuMemHostRegister");
	return mine;
}

static void use_cudaHostUnregister(fn_cudaHostUnregister *call)
{
	void *mine = registered(24 * KIB);

	beneath("cuMemHostUnregister");
	gives("pinned", 24 * KIB);
	if (CALL(mine))
		cudaHostUnregister(mine);
	free(mine);
}

static void use_cuMemHostUnregister(fn_cuMemHostUnregister *call)
{
	void *mine = registered(28 * KIB);

	gives("pinned", 28 * KIB);
	if (CALL(mine))
		cuMemHostUnregister(mine);
	free(mine);
}

/* --- arrays -------------------------------------------------------------------------------- */

static const struct cudaChannelFormatDesc four_floats = { 32, 32, 32, 32,
							  cudaChannelFormatKindFloat };
static const CUDA_ARRAY3D_DESCRIPTOR volume = {
	.Width = 30, .Height = 20, .Depth = 10, .Format = CU_AD_FORMAT_HALF, .NumChannels = 2
};
/* Cubes have six faces at each level: 16 + 8 + 4 + 2 + 1, squared. */
static const CUDA_ARRAY3D_DESCRIPTOR cube = { .Width = 16,
					      .Height = 16,
					      .Depth = 6,
					      .Format = CU_AD_FORMAT_UNSIGNED_INT8,
					      .NumChannels = 4,
					      .Flags = CUDA_ARRAY3D_CUBEMAP };
#define CUBE_BYTES ((256 + 64 + 16 + 4 + 1) * 4 * 6)

static void use_cudaMallocArray(fn_cudaMallocArray *call)
{
	cudaArray_t array = NULL;

	beneath("cuArray3DCreate_v2");
	takes("array", 40 * 30 * 16);
	if (!CALL(&array, &four_floats, 40, 30, cudaArrayDefault))
		cudaFreeArray(array);
}

static void use_cudaMalloc3DArray(fn_cudaMalloc3DArray *call)
{
	struct cudaExtent extent = { .width = 40, .height = 30, .depth = 5 };
	cudaArray_t array = NULL;

	beneath("cuArray3DCreate_v2");
	takes("array", 40 * 30 * 5 * 16);
	if (!CALL(&array, &four_floats, extent, cudaArrayLayered))
		cudaFreeArray(array);
}

static void use_cudaMallocMipmappedArray(fn_cudaMallocMipmappedArray *call)
{
	struct cudaExtent extent = { .width = 8, .height = 4, .depth = 2 };
	cudaMipmappedArray_t array = NULL;

	beneath("cuMipmappedArrayCreate");
	takes("array", (8 * 4 * 2 + 4 * 2 + 2 + 1) * 16);
	if (!CALL(&array, &four_floats, extent, 4, cudaArrayDefault))
		cudaFreeMipmappedArray(array);
}

static CUarray array_of(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	CUarray array = NULL;

	must(cuArray3DCreate(&array, shape), "cuArray3DCreate");
	return array;
}

static CUmipmappedArray mipmap(void)
{
	CUmipmappedArray array = NULL;

	must(cuMipmappedArrayCreate(&array, &cube, 5), "cuMipmappedArrayCreate");
	return array;
}

static void use_cudaFreeArray(fn_cudaFreeArray *call)
{
	CUarray array = array_of(&volume);

	beneath("cuArrayDestroy");
	gives("array", 30 * 20 * 10 * 4);
	if (CALL((cudaArray_t)(void *)array))
		cuArrayDestroy(array);
}

static void use_cudaFreeMipmappedArray(fn_cudaFreeMipmappedArray *call)
{
	CUmipmappedArray array = mipmap();

	beneath("cuMipmappedArrayDestroy");
	gives("array", CUBE_BYTES);
	if (CALL((cudaMipmappedArray_t)(void *)array))
		cuMipmappedArrayDestroy(array);
}

static void use_cuArrayCreate_v2(fn_cuArrayCreate_v2 *call)
{
	CUDA_ARRAY_DESCRIPTOR shape = {
		.Width = 100, .Height = 0, .Format = CU_AD_FORMAT_UNSIGNED_INT16, .NumChannels = 1
	};
	CUarray array = NULL;

	takes("array", 200);
	if (!CALL(&array, &shape))
		cuArrayDestroy(array);
}

/* Blocks of 4x4 texels, of which the last column and row are not full. */
static void use_cuArray3DCreate_v2(fn_cuArray3DCreate_v2 *call)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = {
		.Width = 30, .Height = 21, .Format = CU_AD_FORMAT_BC7_UNORM, .NumChannels = 4
	};
	CUarray array = NULL;

	takes("array", 8 * 6 * 16);
	if (!CALL(&array, &shape))
		cuArrayDestroy(array);
}

static void use_cuArrayDestroy(fn_cuArrayDestroy *call)
{
	CUarray array = array_of(&volume);

	gives("array", 30 * 20 * 10 * 4);
	if (CALL(array))
		cuArrayDestroy(array);
}

static void use_cuMipmappedArrayCreate(fn_cuMipmappedArrayCreate *call)
{
	CUmipmappedArray array = NULL;

	takes("array", CUBE_BYTES);
	if (!CALL(&array, &cube, 5))
		cuMipmappedArrayDestroy(array);
}

static void use_cuMipmappedArrayDestroy(fn_cuMipmappedArrayDestroy *call)
{
	CUmipmappedArray array = mipmap();

	gives("array", CUBE_BYTES);
	if (CALL(array))
		cuMipmappedArrayDestroy(array);
}

/* --- virtual memory management ------------------------------------------------------------- */

static const CUmemAllocationProp on_device = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
					       .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };

static CUmemGenericAllocationHandle create(size_t size)
{
	CUmemGenericAllocationHandle handle = 0;

	must(cuMemCreate(&handle, size, &on_device, 0), "cuMemCreate");
	return handle;
}

static CUdeviceptr reserve(size_t size)
{
	CUdeviceptr ptr = 0;

	must(cuMemAddressReserve(&ptr, size, 0, 0, 0), "cuMemAddressReserve");
	return ptr;
}

/* Mapped at an address of its own, and released: the mapping alone holds it. */
static CUdeviceptr mapped(size_t size)
{
	CUmemGenericAllocationHandle handle = create(size);
	CUdeviceptr ptr = reserve(size);

	must(cuMemMap(ptr, size, 0, handle, 0), "cuMemMap");
	must(cuMemRelease(handle), "cuMemRelease");
	return ptr;
}

static void use_cuMemCreate(fn_cuMemCreate *call)
{
	CUmemGenericAllocationHandle handle = 0;

	takes("device", 2 * MIB);
	if (!CALL(&handle, 2 * MIB, &on_device, 0))
		cuMemRelease(handle);
}

static void use_cuMemRelease(fn_cuMemRelease *call)
{
	CUmemGenericAllocationHandle handle = create(4 * MIB);

	gives("device", 4 * MIB);
	if (CALL(handle))
		cuMemRelease(handle);
}

/* One reference more: the memory is still there after the mapping went. */
static void use_cuMemRetainAllocationHandle(fn_cuMemRetainAllocationHandle *call)
{
	CUmemGenericAllocationHandle handle = 0;
	CUdeviceptr ptr = mapped(6 * MIB);
	bool retained = !CALL(&handle, (void *)(uintptr_t)ptr);

	must(cuMemUnmap(ptr, 6 * MIB), "cuMemUnmap");
	must(cuMemAddressFree(ptr, 6 * MIB), "cuMemAddressFree");
	check_now();
	if (retained)
		must(cuMemRelease(handle), "cuMemRelease");
}

static void use_cuMemAddressReserve(fn_cuMemAddressReserve *call)
{
	CUdeviceptr ptr = 0;

	if (!CALL(&ptr, 8 * MIB, 0, 0, 0))
		cuMemAddressFree(ptr, 8 * MIB);
}

static void use_cuMemAddressFree(fn_cuMemAddressFree *call)
{
	CUdeviceptr ptr = reserve(8 * MIB);

	if (CALL(ptr, 8 * MIB))
		cuMemAddressFree(ptr, 8 * MIB);
}

static void use_cuMemMap(fn_cuMemMap *call)
{
	CUmemGenericAllocationHandle handle = create(2 * MIB);
	CUdeviceptr ptr = reserve(2 * MIB);

	moves("map", 2 * MIB);
	if (!CALL(ptr, 2 * MIB, 0, handle, 0))
		cuMemUnmap(ptr, 2 * MIB);
	cuMemRelease(handle);
	cuMemAddressFree(ptr, 2 * MIB);
}

/* The last mapping of what was released: the memory ends with it. */
static void use_cuMemUnmap(fn_cuMemUnmap *call)
{
	CUdeviceptr ptr = mapped(4 * MIB);

	moves("unmap", 4 * MIB);
	ends("device", 4 * MIB);
	if (CALL(ptr, 4 * MIB))
		cuMemUnmap(ptr, 4 * MIB);
	cuMemAddressFree(ptr, 4 * MIB);
}

/* A sparse array has no memory; what is mapped into it is held by its handle. */
static void use_cuMemMapArrayAsync(fn_cuMemMapArrayAsync *call)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = cube;
	CUarrayMapInfo info = { .memOperationType = CU_MEM_OPERATION_TYPE_MAP };

	shape.Flags |= CUDA_ARRAY3D_SPARSE;
	info.resource.array = array_of(&shape);
	info.memHandle.memHandle = create(2 * MIB);
	CALL(&info, 1, NULL);
	cuArrayDestroy(info.resource.array);
	cuMemRelease(info.memHandle.memHandle);
}

/* --- multicast ----------------------------------------------------------------------------- */

static const CUmulticastObjectProp one_device = { .numDevices = 1, .size = 2 * MIB };

static CUmemGenericAllocationHandle multicast(void)
{
	CUmemGenericAllocationHandle handle = 0;

	must(cuMulticastCreate(&handle, &one_device), "cuMulticastCreate");
	return handle;
}

static void use_cuMulticastCreate(fn_cuMulticastCreate *call)
{
	CUmemGenericAllocationHandle handle = 0;

	stands("device");
	if (!CALL(&handle, &one_device))
		cuMemRelease(handle);
}

static void use_cuMulticastAddDevice(fn_cuMulticastAddDevice *call)
{
	CUmemGenericAllocationHandle handle = multicast();

	CALL(handle, 0);
	cuMemRelease(handle);
}

static void use_cuMulticastBindMem(fn_cuMulticastBindMem *call)
{
	CUmemGenericAllocationHandle handle = multicast(), memory = create(2 * MIB);

	CALL(handle, 0, memory, 0, 2 * MIB, 0);
	cuMemRelease(handle);
	cuMemRelease(memory);
}

static void use_cuMulticastBindAddr(fn_cuMulticastBindAddr *call)
{
	CUmemGenericAllocationHandle handle = multicast();
	CUdeviceptr ptr = mapped(2 * MIB);

	CALL(handle, 0, ptr, 2 * MIB, 0);
	cuMemRelease(handle);
	cuMemUnmap(ptr, 2 * MIB);
	cuMemAddressFree(ptr, 2 * MIB);
}

static void use_cuMulticastUnbind(fn_cuMulticastUnbind *call)
{
	CUmemGenericAllocationHandle handle = multicast();

	CALL(handle, 0, 0, 2 * MIB);
	cuMemRelease(handle);
}
