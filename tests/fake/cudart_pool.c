/* The simulated runtime: stream-ordered memory and its pools. */
#include "cudart.h"

static cudaError_t allocate_async(__typeof__(cuMemAllocAsync) *allocate, void **ptr, size_t size,
				  cudaStream_t stream)
{
	CUdeviceptr address = 0;
	cudaError_t error;

	if (!ptr)
		return cudaErrorInvalidValue;
	error = error_of(allocate(&address, size, stream));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return error;
}

static cudaError_t allocate_from(__typeof__(cuMemAllocFromPoolAsync) *allocate, void **ptr,
				 size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
	CUdeviceptr address = 0;
	cudaError_t error;

	if (!ptr)
		return cudaErrorInvalidValue;
	error = error_of(allocate(&address, size, pool, stream));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return error;
}

cudaError_t cudaMallocAsync(void **ptr, size_t size, cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = allocate_async(runtime_driver.cuMemAllocAsync, ptr, size, stream);
	return runtime_leave(error);
}

cudaError_t cudaMallocAsync_ptsz(void **ptr, size_t size, cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = allocate_async(runtime_driver.cuMemAllocAsync_ptsz, ptr, size, stream);
	return runtime_leave(error);
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t pool,
				    cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = allocate_from(runtime_driver.cuMemAllocFromPoolAsync, ptr, size, pool,
				      stream);
	return runtime_leave(error);
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void **ptr, size_t size, cudaMemPool_t pool,
					 cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = allocate_from(runtime_driver.cuMemAllocFromPoolAsync_ptsz, ptr, size, pool,
				      stream);
	return runtime_leave(error);
}

cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(
			runtime_driver.cuMemFreeAsync((CUdeviceptr)(uintptr_t)ptr, stream));
	return runtime_leave(error);
}

cudaError_t cudaFreeAsync_ptsz(void *ptr, cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(
			runtime_driver.cuMemFreeAsync_ptsz((CUdeviceptr)(uintptr_t)ptr, stream));
	return runtime_leave(error);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
	cudaError_t error = runtime_load();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuDeviceGetDefaultMemPool(pool, device));
	return runtime_leave(error);
}

/* The two structures are laid out alike. */
_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "same layout");

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(
			runtime_driver.cuMemPoolCreate(pool, (const CUmemPoolProps *)props));
	return runtime_leave(error);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemPoolDestroy(pool));
	return runtime_leave(error);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemPoolTrimTo(pool, keep));
	return runtime_leave(error);
}

/* So are the attributes. */
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemPoolSetAttribute(
			pool, (CUmemPool_attribute)attribute, value));
	return runtime_leave(error);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemPoolGetAttribute(
			pool, (CUmemPool_attribute)attribute, value));
	return runtime_leave(error);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
				 size_t count)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemPoolSetAccess(
			pool, (const CUmemAccessDesc *)access, count));
	return runtime_leave(error);
}

cudaError_t cudaMemPoolExportToShareableHandle(void *out, cudaMemPool_t pool,
					       enum cudaMemAllocationHandleType type,
					       unsigned int flags)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemPoolExportToShareableHandle(
			out, pool, (CUmemAllocationHandleType)type, flags));
	return runtime_leave(error);
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle,
						 enum cudaMemAllocationHandleType type,
						 unsigned int flags)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemPoolImportFromShareableHandle(
			pool, handle, (CUmemAllocationHandleType)type, flags));
	return runtime_leave(error);
}

cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *out, void *ptr)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemPoolExportPointer(
			(CUmemPoolPtrExportData *)out, (CUdeviceptr)(uintptr_t)ptr));
	return runtime_leave(error);
}

cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t pool,
				     struct cudaMemPoolPtrExportData *data)
{
	cudaError_t error = runtime_enter();
	CUdeviceptr address = 0;

	if (error == cudaSuccess && !ptr)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuMemPoolImportPointer(
			&address, pool, (CUmemPoolPtrExportData *)data));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return runtime_leave(error);
}
