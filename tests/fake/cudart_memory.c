/* The simulated runtime: memory by address, and arrays. */
#include "cudart.h"

#include <string.h>

/* --- memory -------------------------------------------------------------------------------- */

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemGetInfo(available, total));
	return runtime_leave(error);
}

/* Of no bytes: success, NULL, and no call of the driver. */
cudaError_t cudaMalloc(void **ptr, size_t size)
{
	cudaError_t error = runtime_enter();
	CUdeviceptr address = 0;

	if (error == cudaSuccess && !ptr)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess && size)
		error = error_of(runtime_driver.cuMemAlloc(&address, size));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return runtime_leave(error);
}

static cudaError_t allocate_pitched(void **ptr, size_t *pitch, size_t width, size_t height)
{
	CUdeviceptr address = 0;
	cudaError_t error = cudaSuccess;

	*pitch = 0;
	if (width && height)
		error = error_of(runtime_driver.cuMemAllocPitch(&address, pitch, width, height, 4));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return error;
}

cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess && (!ptr || !pitch))
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = allocate_pitched(ptr, pitch, width, height);
	return runtime_leave(error);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess && !pitched)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = allocate_pitched(&pitched->ptr, &pitched->pitch, extent.width,
					 extent.height * extent.depth);
	if (error == cudaSuccess) {
		pitched->xsize = extent.width;
		pitched->ysize = extent.height;
	}
	return runtime_leave(error);
}

/* cudaFree(NULL) is how programs begin a context: the real one passes it on as well. */
cudaError_t cudaFree(void *ptr)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemFree((CUdeviceptr)(uintptr_t)ptr));
	return runtime_leave(error);
}

cudaError_t cudaMallocManaged(void **ptr, size_t size, unsigned int flags)
{
	cudaError_t error = runtime_enter();
	CUdeviceptr address = 0;

	if (error == cudaSuccess && !ptr)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemAllocManaged(&address, size, flags));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return runtime_leave(error);
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemHostAlloc(ptr, size, 0));
	return runtime_leave(error);
}

cudaError_t cudaHostAlloc(void **ptr, size_t size, unsigned int flags)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemHostAlloc(ptr, size, flags));
	return runtime_leave(error);
}

cudaError_t cudaFreeHost(void *ptr)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemFreeHost(ptr));
	return runtime_leave(error);
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemHostRegister(ptr, size, flags));
	return runtime_leave(error);
}

cudaError_t cudaHostUnregister(void *ptr)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemHostUnregister(ptr));
	return runtime_leave(error);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
	cudaError_t error = runtime_enter();

	if (error != cudaSuccess)
		return runtime_leave(error);
	if (kind == cudaMemcpyHostToHost)
		memcpy(to, from, size);
	else if (kind == cudaMemcpyHostToDevice)
		error = error_of(
			runtime_driver.cuMemcpyHtoD((CUdeviceptr)(uintptr_t)to, from, size));
	else if (kind == cudaMemcpyDeviceToHost)
		error = error_of(
			runtime_driver.cuMemcpyDtoH(to, (CUdeviceptr)(uintptr_t)from, size));
	return runtime_leave(error);
}

/* --- arrays -------------------------------------------------------------------------------- */

static bool format_of(const struct cudaChannelFormatDesc *desc, CUarray_format *format)
{
	static const CUarray_format formats[][3] = {
		{ CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32 },
		{ CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
		  CU_AD_FORMAT_UNSIGNED_INT32 },
		{ (CUarray_format)0, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT },
	};
	int width = desc->x == 8 ? 0 : desc->x == 16 ? 1 : desc->x == 32 ? 2 : -1;

	if (width < 0 || (unsigned int)desc->f > cudaChannelFormatKindFloat)
		return false;
	*format = formats[desc->f][width];
	return *format != 0;
}

bool runtime_shape(CUDA_ARRAY3D_DESCRIPTOR *shape, const struct cudaChannelFormatDesc *desc,
		   struct cudaExtent extent, unsigned int flags)
{
	*shape = (CUDA_ARRAY3D_DESCRIPTOR){ .Width = extent.width, .Height = extent.height };
	shape->Depth = extent.depth;
	shape->Flags = flags;
	if (!desc || !format_of(desc, &shape->Format))
		return false;
	shape->NumChannels = 1u + (desc->y != 0) + (desc->z != 0) + (desc->w != 0);
	return true;
}

static cudaError_t allocate_array(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
				  struct cudaExtent extent, unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR shape;
	CUarray handle = NULL;
	cudaError_t error;

	if (!array || !runtime_shape(&shape, desc, extent, flags))
		return cudaErrorInvalidValue;
	error = error_of(runtime_driver.cuArray3DCreate(&handle, &shape));
	if (error == cudaSuccess)
		*array = (cudaArray_t)(void *)handle;
	return error;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			    size_t width, size_t height, unsigned int flags)
{
	struct cudaExtent extent = { .width = width, .height = height };
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = allocate_array(array, desc, extent, flags);
	return runtime_leave(error);
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			      struct cudaExtent extent, unsigned int flags)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = allocate_array(array, desc, extent, flags);
	return runtime_leave(error);
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess && array)
		error = error_of(runtime_driver.cuArrayDestroy((CUarray)(void *)array));
	return runtime_leave(error);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array,
				     const struct cudaChannelFormatDesc *desc,
				     struct cudaExtent extent, unsigned int levels,
				     unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR shape;
	CUmipmappedArray handle = NULL;
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess && (!array || !runtime_shape(&shape, desc, extent, flags)))
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMipmappedArrayCreate(&handle, &shape, levels));
	if (error == cudaSuccess)
		*array = (cudaMipmappedArray_t)(void *)handle;
	return runtime_leave(error);
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess && array)
		error = error_of(
			runtime_driver.cuMipmappedArrayDestroy((CUmipmappedArray)(void *)array));
	return runtime_leave(error);
}
