/*
 * What the parts of the simulated runtime share: the driver's functions, and how a call begins and
 * ends.
 */
#pragma once

#ifdef FAKE_CUDART_STATIC
#pragma GCC visibility push(hidden)
#else
#pragma GCC visibility push(default)
#endif
#include <cuda_runtime.h>

cudaError_t cudaMallocAsync_ptsz(void **ptr, size_t size, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync_ptsz(void **ptr, size_t size, cudaMemPool_t pool,
					 cudaStream_t stream);
cudaError_t cudaFreeAsync_ptsz(void *ptr, cudaStream_t stream);
cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream);
#pragma GCC visibility pop

#include <cuda.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define RUNTIME_DEVICES_MAX 64

/* What is asked of the driver, and the version that the real runtime of CUDA 13.0 asks for. */
/* clang-format off */
#define DRIVER_FUNCTIONS(ONE, TWIN)            \
	ONE(cuInit, 2000)                      \
	ONE(cuDriverGetVersion, 2020)          \
	ONE(cuDeviceGetCount, 2000)            \
	ONE(cuDeviceGetDefaultMemPool, 11020)  \
	ONE(cuDevicePrimaryCtxRetain, 7000)    \
	ONE(cuDevicePrimaryCtxRelease, 11000)  \
	ONE(cuDevicePrimaryCtxReset, 11000)    \
	ONE(cuCtxGetCurrent, 4000)             \
	ONE(cuCtxSetCurrent, 4000)             \
	ONE(cuCtxSynchronize, 2000)            \
	ONE(cuStreamCreate, 2000)              \
	ONE(cuStreamDestroy, 4000)             \
	ONE(cuStreamSynchronize, 2000)         \
	ONE(cuLaunchKernel, 4000)              \
	ONE(cuMemGetInfo, 3020)                \
	ONE(cuMemAlloc, 3020)                  \
	ONE(cuMemAllocPitch, 3020)             \
	ONE(cuMemFree, 3020)                   \
	ONE(cuMemAllocManaged, 6000)           \
	ONE(cuMemHostAlloc, 2020)              \
	ONE(cuMemFreeHost, 2000)               \
	ONE(cuMemHostRegister, 6050)           \
	ONE(cuMemHostUnregister, 4000)         \
	ONE(cuMemcpyHtoD, 3020)                \
	ONE(cuMemcpyDtoH, 3020)                \
	ONE(cuArray3DCreate, 3020)             \
	ONE(cuArrayDestroy, 2000)              \
	ONE(cuMipmappedArrayCreate, 5000)      \
	ONE(cuMipmappedArrayDestroy, 5000)     \
	ONE(cuIpcGetMemHandle, 4010)           \
	ONE(cuIpcOpenMemHandle, 11000)         \
	ONE(cuIpcCloseMemHandle, 4010)         \
	ONE(cuImportExternalMemory, 10000)     \
	ONE(cuExternalMemoryGetMappedBuffer, 10000)         \
	ONE(cuExternalMemoryGetMappedMipmappedArray, 10000) \
	ONE(cuDestroyExternalMemory, 10000)    \
	ONE(cuMemPoolSetAccess, 11020)         \
	ONE(cuMemPoolExportToShareableHandle, 11020)        \
	ONE(cuMemPoolImportFromShareableHandle, 11020)      \
	ONE(cuMemPoolExportPointer, 11020)     \
	ONE(cuMemPoolImportPointer, 11020)     \
	ONE(cuStreamBeginCapture, 10010)       \
	ONE(cuStreamEndCapture, 10000)         \
	ONE(cuGraphCreate, 10000)              \
	ONE(cuGraphDestroy, 10000)             \
	ONE(cuGraphAddMemAllocNode, 11040)     \
	ONE(cuGraphAddMemFreeNode, 11040)      \
	ONE(cuGraphInstantiate, 11040)         \
	ONE(cuGraphExecDestroy, 10000)         \
	ONE(cuDeviceGraphMemTrim, 11040)       \
	ONE(cuDeviceGetGraphMemAttribute, 11040)            \
	TWIN(cuGraphUpload, 11010)             \
	TWIN(cuGraphLaunch, 10000)             \
	ONE(cuMemPoolCreate, 11020)            \
	ONE(cuMemPoolDestroy, 11020)           \
	ONE(cuMemPoolTrimTo, 11020)            \
	ONE(cuMemPoolSetAttribute, 11020)      \
	ONE(cuMemPoolGetAttribute, 11020)      \
	TWIN(cuMemAllocAsync, 11020)           \
	TWIN(cuMemAllocFromPoolAsync, 11020)   \
	TWIN(cuMemFreeAsync, 11020)
/* clang-format on */

#define FIELD(name, version) __typeof__(name) *name;
#define FIELDS(name, version) FIELD(name, version) __typeof__(name) *name##_ptsz;

struct runtime_driver {
	pthread_mutex_t lock;
	bool loaded; /* read without the lock: set last */
	CUcontext primary[RUNTIME_DEVICES_MAX];
	__typeof__(cuGetProcAddress) *lookup;
	DRIVER_FUNCTIONS(FIELD, FIELDS)
};

extern struct runtime_driver runtime_driver;

/* The driver, without a context. */
cudaError_t runtime_load(void);

/* The driver, in the thread's context: its own if it made one, else its device's primary one. */
cudaError_t runtime_enter(void);

/* Every call ends here: cudaGetLastError tells of the last that failed. */
cudaError_t runtime_leave(cudaError_t error);

/* What the runtime says of an array, as the driver wants it; false when it has no such format. */
bool runtime_shape(CUDA_ARRAY3D_DESCRIPTOR *shape, const struct cudaChannelFormatDesc *desc,
		   struct cudaExtent extent, unsigned int flags);

/* An error of the driver is the runtime's, by number. */
static inline cudaError_t error_of(CUresult status)
{
	return (cudaError_t)status;
}

#pragma GCC visibility pop
