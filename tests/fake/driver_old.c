/*
 * First versions of functions that have a second one: other symbols beside theirs in the library.
 *
 * cuGetProcAddress hands them out to who asks for an old version. A tracer that swaps functions by
 * name instead of by pointer would hand out the wrong one.
 */
#include "fake.h"

/* Of CUDA 3.1 and before: a device address of 32 bits, of which this device has none. */
CUresult cuMemAlloc(unsigned int *ptr, unsigned int size)
{
	(void)ptr;
	(void)size;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemFree(unsigned int ptr)
{
	(void)ptr;
	return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemAllocHost(void **ptr, unsigned int size)
{
	return cuMemAllocHost_v2(ptr, size);
}

CUresult cuMemHostRegister(void *ptr, size_t size, unsigned int flags)
{
	return cuMemHostRegister_v2(ptr, size, flags);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
	return cuDevicePrimaryCtxRelease_v2(device);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
	return cuDevicePrimaryCtxReset_v2(device);
}

CUresult cuCtxDestroy(CUcontext context)
{
	return cuCtxDestroy_v2(context);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *ptr, CUipcMemHandle handle, unsigned int flags)
{
	return cuIpcOpenMemHandle_v2(ptr, handle, flags);
}

CUresult cuStreamDestroy(CUstream stream)
{
	return cuStreamDestroy_v2(stream);
}
