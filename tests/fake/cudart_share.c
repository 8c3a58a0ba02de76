/* The simulated runtime: memory of other processes and libraries. */
#include "cudart.h"

#include <string.h>

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle), "same layout");
_Static_assert(sizeof(struct cudaExternalMemoryHandleDesc) ==
		       sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC),
	       "same layout");

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *ptr)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuIpcGetMemHandle((CUipcMemHandle *)(void *)handle,
								  (CUdeviceptr)(uintptr_t)ptr));
	return runtime_leave(error);
}

cudaError_t cudaIpcOpenMemHandle(void **ptr, cudaIpcMemHandle_t handle, unsigned int flags)
{
	cudaError_t error = runtime_enter();
	CUdeviceptr address = 0;
	CUipcMemHandle same;

	memcpy(&same, &handle, sizeof(same));
	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuIpcOpenMemHandle(&address, same, flags));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return runtime_leave(error);
}

cudaError_t cudaIpcCloseMemHandle(void *ptr)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuIpcCloseMemHandle((CUdeviceptr)(uintptr_t)ptr));
	return runtime_leave(error);
}

cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *memory,
				     const struct cudaExternalMemoryHandleDesc *desc)
{
	cudaError_t error = runtime_enter();
	CUexternalMemory handle = NULL;

	if (error == cudaSuccess && !memory)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuImportExternalMemory(
			&handle, (const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *)desc));
	if (error == cudaSuccess)
		*memory = (cudaExternalMemory_t)(void *)handle;
	return runtime_leave(error);
}

cudaError_t cudaExternalMemoryGetMappedBuffer(void **ptr, cudaExternalMemory_t memory,
					      const struct cudaExternalMemoryBufferDesc *desc)
{
	cudaError_t error = runtime_enter();
	CUdeviceptr address = 0;

	if (error == cudaSuccess && !ptr)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuExternalMemoryGetMappedBuffer(
			&address, (CUexternalMemory)(void *)memory,
			(const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *)desc));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return runtime_leave(error);
}

cudaError_t
cudaExternalMemoryGetMappedMipmappedArray(cudaMipmappedArray_t *array, cudaExternalMemory_t memory,
					  const struct cudaExternalMemoryMipmappedArrayDesc *desc)
{
	CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC same = { .offset = 0 };
	CUmipmappedArray handle = NULL;
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess &&
	    (!array || !desc ||
	     !runtime_shape(&same.arrayDesc, &desc->formatDesc, desc->extent, desc->flags)))
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess) {
		same.offset = desc->offset;
		same.numLevels = desc->numLevels;
		error = error_of(runtime_driver.cuExternalMemoryGetMappedMipmappedArray(
			&handle, (CUexternalMemory)(void *)memory, &same));
	}
	if (error == cudaSuccess)
		*array = (cudaMipmappedArray_t)(void *)handle;
	return runtime_leave(error);
}

cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(
			runtime_driver.cuDestroyExternalMemory((CUexternalMemory)(void *)memory));
	return runtime_leave(error);
}
