/*
 * A simulated CUDA runtime: libcudart.so.13, and the one that programs are linked with statically.
 *
 * It reaches the driver as the real one does: dlopen, one dlsym, and then cuGetProcAddress for
 * every function, at its first use. Each copy in a process (cuBLAS and NCCL bring their own) does
 * so for itself. Compiled with FAKE_CUDART_STATIC its functions are hidden in the program, so that
 * nothing preloaded can take their place. With FAKE_CUDART_UNSEEN set it finds the driver in a way
 * that nothing preloaded sees, as a runtime of tomorrow might.
 */
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
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 64

/* What is asked of the driver, and the version that the real runtime of CUDA 13.0 asks for. */
/* clang-format off */
#define DRIVER_FUNCTIONS(ONE, TWIN)            \
	ONE(cuInit, 2000)                      \
	ONE(cuDriverGetVersion, 2020)          \
	ONE(cuDeviceGetCount, 2000)            \
	ONE(cuDeviceGetDefaultMemPool, 11020)  \
	ONE(cuDevicePrimaryCtxRetain, 7000)    \
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

static struct {
	pthread_mutex_t lock;
	bool loaded; /* read without the lock: set last */
	CUcontext primary[DEVICES_MAX];
	__typeof__(cuGetProcAddress) *lookup;
	DRIVER_FUNCTIONS(FIELD, FIELDS)
} driver = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local struct {
	int device;
	cudaError_t last_error;
} thread;

/* --- reaching the driver ------------------------------------------------------------------- */

/* An error of the driver is the runtime's, by number. */
static cudaError_t error_of(CUresult status)
{
	return (cudaError_t)status;
}

static bool ask(void **function, const char *name, int version, cuuint64_t flags)
{
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;

	return driver.lookup(name, function, version, flags, &status) == CUDA_SUCCESS && *function;
}

#define ASK(name, version) \
	found &= ask((void **)&driver.name, #name, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
#define ASKS(name, version)                                        \
	ASK(name, version)                                         \
	found &= ask((void **)&driver.name##_ptsz, #name, version, \
		     CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);

/* glibc's own dlsym, past whatever was preloaded, when nobody is to see what is looked up. */
static void *find_lookup(void *library)
{
	static const char *const versions[] = { "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17" };
	void *(*find)(void *, const char *) = dlsym;

	for (size_t i = 0; getenv("FAKE_CUDART_UNSEEN") && i < 3; i++) {
		void *unseen = dlvsym(RTLD_NEXT, "dlsym", versions[i]);

		if (unseen)
			*(void **)&find = unseen;
	}
	return find(library, "cuGetProcAddress_v2");
}

static cudaError_t load_locked(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	void *ignored = NULL;
	bool found = true;

	if (!library)
		return cudaErrorInsufficientDriver;
	*(void **)&driver.lookup = find_lookup(library);
	if (!driver.lookup)
		return cudaErrorInsufficientDriver;
	/* The real one begins so; who wraps the lookup must bear these questions. */
	ask(&ignored, "", 2000, CU_GET_PROC_ADDRESS_DEFAULT);
	ask(&ignored, "cuGetProcAddress", 11030, CU_GET_PROC_ADDRESS_DEFAULT);
	ask(&ignored, "cuGetProcAddress", 12000, CU_GET_PROC_ADDRESS_DEFAULT);
	DRIVER_FUNCTIONS(ASK, ASKS)
	if (!found)
		return cudaErrorInsufficientDriver;
	return error_of(driver.cuInit(0));
}

/* The driver, without a context. */
static cudaError_t load(void)
{
	cudaError_t error = cudaSuccess;

	if (__atomic_load_n(&driver.loaded, __ATOMIC_ACQUIRE))
		return cudaSuccess;
	pthread_mutex_lock(&driver.lock);
	if (!driver.loaded)
		error = load_locked();
	if (error == cudaSuccess)
		__atomic_store_n(&driver.loaded, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&driver.lock);
	return error;
}

static CUcontext primary_of(int device)
{
	return __atomic_load_n(&driver.primary[device], __ATOMIC_ACQUIRE);
}

/* Makes the device's primary context the thread's. */
static cudaError_t bind(int device)
{
	CUresult status = CUDA_SUCCESS;
	CUcontext context;

	pthread_mutex_lock(&driver.lock);
	context = driver.primary[device];
	if (!context)
		status = driver.cuDevicePrimaryCtxRetain(&context, device);
	if (status == CUDA_SUCCESS)
		__atomic_store_n(&driver.primary[device], context, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&driver.lock);
	if (status == CUDA_SUCCESS)
		status = driver.cuCtxSetCurrent(context);
	return error_of(status);
}

/* The driver, in the thread's context: its own if it made one, else its device's primary one. */
static cudaError_t enter(void)
{
	cudaError_t error = load();
	CUcontext context = NULL;

	if (error == cudaSuccess)
		error = error_of(driver.cuCtxGetCurrent(&context));
	if (error == cudaSuccess && (!context || !primary_of(thread.device)))
		error = bind(thread.device);
	return error;
}

/* Every call ends here: cudaGetLastError tells of the last that failed. */
static cudaError_t leave(cudaError_t error)
{
	if (error != cudaSuccess)
		thread.last_error = error;
	return error;
}

/* --- errors -------------------------------------------------------------------------------- */

static const struct {
	cudaError_t error;
	const char *name;
	const char *text;
} errors[] = {
	{ cudaSuccess, "cudaSuccess", "no error" },
	{ cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument" },
	{ cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory" },
	{ cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error" },
	{ cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down" },
	{ cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
	  "CUDA driver version is insufficient for CUDA runtime version" },
	{ cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected" },
	{ cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal" },
	{ cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context" },
	{ cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
	  "invalid resource handle" },
	{ cudaErrorIllegalState, "cudaErrorIllegalState",
	  "the operation cannot be performed in the present state" },
	{ cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found" },
	{ cudaErrorContextIsDestroyed, "cudaErrorContextIsDestroyed", "context is destroyed" },
	{ cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
	  "part or all of the requested memory range is already mapped" },
	{ cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
	  "pointer does not correspond to a registered memory region" },
	{ cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported" },
	{ cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
	  "operation not permitted when stream is capturing" },
	{ cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
	  "operation failed due to a previous error during capture" },
	{ cudaErrorUnknown, "cudaErrorUnknown", "unknown error" },
};

static size_t error_row(cudaError_t error)
{
	size_t row = 0;

	while (row < sizeof(errors) / sizeof(errors[0]) && errors[row].error != error)
		row++;
	return row;
}

const char *cudaGetErrorName(cudaError_t error)
{
	size_t row = error_row(error);

	return row < sizeof(errors) / sizeof(errors[0]) ? errors[row].name
							: "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error)
{
	size_t row = error_row(error);

	return row < sizeof(errors) / sizeof(errors[0]) ? errors[row].text
							: "unrecognized error code";
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t error = thread.last_error;

	thread.last_error = cudaSuccess;
	return error;
}

cudaError_t cudaPeekAtLastError(void)
{
	return thread.last_error;
}

/* --- versions, devices, streams ------------------------------------------------------------ */

cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (!version)
		return leave(cudaErrorInvalidValue);
	*version = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
	cudaError_t error = load();

	if (error == cudaSuccess)
		error = error_of(driver.cuDriverGetVersion(version));
	return leave(error);
}

cudaError_t cudaGetDeviceCount(int *count)
{
	cudaError_t error = load();

	if (error == cudaSuccess)
		error = error_of(driver.cuDeviceGetCount(count));
	return leave(error);
}

cudaError_t cudaGetDevice(int *device)
{
	cudaError_t error = load();

	if (error == cudaSuccess)
		*device = thread.device;
	return leave(error);
}

/* Since CUDA 12 this begins the device's context. */
cudaError_t cudaSetDevice(int device)
{
	cudaError_t error = load();
	int count = 0;

	if (error == cudaSuccess)
		error = error_of(driver.cuDeviceGetCount(&count));
	if (error == cudaSuccess && (device < 0 || device >= count || device >= DEVICES_MAX))
		error = cudaErrorInvalidDevice;
	if (error == cudaSuccess) {
		thread.device = device;
		error = bind(device);
	}
	return leave(error);
}

/* Ends everything of the device's context, without a call that says so for each block. */
cudaError_t cudaDeviceReset(void)
{
	cudaError_t error = load();

	if (error == cudaSuccess) {
		pthread_mutex_lock(&driver.lock);
		__atomic_store_n(&driver.primary[thread.device], NULL, __ATOMIC_RELEASE);
		error = error_of(driver.cuDevicePrimaryCtxReset(thread.device));
		pthread_mutex_unlock(&driver.lock);
	}
	thread.last_error = cudaSuccess;
	return leave(error);
}

cudaError_t cudaDeviceSynchronize(void)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuCtxSynchronize());
	return leave(error);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuStreamCreate(stream, 0));
	return leave(error);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuStreamCreate(stream, flags));
	return leave(error);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
	return leave(error);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuStreamEndCapture(stream, graph));
	return leave(error);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuStreamDestroy(stream));
	return leave(error);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuStreamSynchronize(stream));
	return leave(error);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
			     size_t shared_bytes, cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuLaunchKernel(
			(CUfunction)(uintptr_t)function, grid.x, grid.y, grid.z, block.x, block.y,
			block.z, (unsigned int)shared_bytes, stream, args, NULL));
	return leave(error);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **pfn, unsigned int version,
					     unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *found)
{
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
	cudaError_t error = load();

	if (error == cudaSuccess)
		error = error_of(driver.lookup(symbol, pfn, (int)version, flags, &status));
	if (error == cudaSuccess && found)
		*found = (enum cudaDriverEntryPointQueryResult)status;
	return leave(error);
}

/* --- memory -------------------------------------------------------------------------------- */

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemGetInfo(available, total));
	return leave(error);
}

/* Of no bytes: success, NULL, and no call of the driver. */
cudaError_t cudaMalloc(void **ptr, size_t size)
{
	cudaError_t error = enter();
	CUdeviceptr address = 0;

	if (error == cudaSuccess && !ptr)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess && size)
		error = error_of(driver.cuMemAlloc(&address, size));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return leave(error);
}

static cudaError_t allocate_pitched(void **ptr, size_t *pitch, size_t width, size_t height)
{
	CUdeviceptr address = 0;
	cudaError_t error = cudaSuccess;

	*pitch = 0;
	if (width && height)
		error = error_of(driver.cuMemAllocPitch(&address, pitch, width, height, 4));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return error;
}

cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width, size_t height)
{
	cudaError_t error = enter();

	if (error == cudaSuccess && (!ptr || !pitch))
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = allocate_pitched(ptr, pitch, width, height);
	return leave(error);
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *pitched, struct cudaExtent extent)
{
	cudaError_t error = enter();

	if (error == cudaSuccess && !pitched)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = allocate_pitched(&pitched->ptr, &pitched->pitch, extent.width,
					 extent.height * extent.depth);
	if (error == cudaSuccess) {
		pitched->xsize = extent.width;
		pitched->ysize = extent.height;
	}
	return leave(error);
}

/* cudaFree(NULL) is how programs begin a context: the real one passes it on as well. */
cudaError_t cudaFree(void *ptr)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemFree((CUdeviceptr)(uintptr_t)ptr));
	return leave(error);
}

cudaError_t cudaMallocManaged(void **ptr, size_t size, unsigned int flags)
{
	cudaError_t error = enter();
	CUdeviceptr address = 0;

	if (error == cudaSuccess && !ptr)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = error_of(driver.cuMemAllocManaged(&address, size, flags));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return leave(error);
}

cudaError_t cudaMallocHost(void **ptr, size_t size)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemHostAlloc(ptr, size, 0));
	return leave(error);
}

cudaError_t cudaHostAlloc(void **ptr, size_t size, unsigned int flags)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemHostAlloc(ptr, size, flags));
	return leave(error);
}

cudaError_t cudaFreeHost(void *ptr)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemFreeHost(ptr));
	return leave(error);
}

cudaError_t cudaHostRegister(void *ptr, size_t size, unsigned int flags)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemHostRegister(ptr, size, flags));
	return leave(error);
}

cudaError_t cudaHostUnregister(void *ptr)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemHostUnregister(ptr));
	return leave(error);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
	cudaError_t error = enter();

	if (error != cudaSuccess)
		return leave(error);
	if (kind == cudaMemcpyHostToHost)
		memcpy(to, from, size);
	else if (kind == cudaMemcpyHostToDevice)
		error = error_of(driver.cuMemcpyHtoD((CUdeviceptr)(uintptr_t)to, from, size));
	else if (kind == cudaMemcpyDeviceToHost)
		error = error_of(driver.cuMemcpyDtoH(to, (CUdeviceptr)(uintptr_t)from, size));
	return leave(error);
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

static bool shape_of(CUDA_ARRAY3D_DESCRIPTOR *shape, const struct cudaChannelFormatDesc *desc,
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

	if (!array || !shape_of(&shape, desc, extent, flags))
		return cudaErrorInvalidValue;
	error = error_of(driver.cuArray3DCreate(&handle, &shape));
	if (error == cudaSuccess)
		*array = (cudaArray_t)(void *)handle;
	return error;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			    size_t width, size_t height, unsigned int flags)
{
	struct cudaExtent extent = { .width = width, .height = height };
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = allocate_array(array, desc, extent, flags);
	return leave(error);
}

cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			      struct cudaExtent extent, unsigned int flags)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = allocate_array(array, desc, extent, flags);
	return leave(error);
}

cudaError_t cudaFreeArray(cudaArray_t array)
{
	cudaError_t error = enter();

	if (error == cudaSuccess && array)
		error = error_of(driver.cuArrayDestroy((CUarray)(void *)array));
	return leave(error);
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array,
				     const struct cudaChannelFormatDesc *desc,
				     struct cudaExtent extent, unsigned int levels,
				     unsigned int flags)
{
	CUDA_ARRAY3D_DESCRIPTOR shape;
	CUmipmappedArray handle = NULL;
	cudaError_t error = enter();

	if (error == cudaSuccess && (!array || !shape_of(&shape, desc, extent, flags)))
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = error_of(driver.cuMipmappedArrayCreate(&handle, &shape, levels));
	if (error == cudaSuccess)
		*array = (cudaMipmappedArray_t)(void *)handle;
	return leave(error);
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array)
{
	cudaError_t error = enter();

	if (error == cudaSuccess && array)
		error = error_of(driver.cuMipmappedArrayDestroy((CUmipmappedArray)(void *)array));
	return leave(error);
}

/* --- memory of others ---------------------------------------------------------------------- */

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle), "same layout");
_Static_assert(sizeof(struct cudaExternalMemoryHandleDesc) ==
		       sizeof(CUDA_EXTERNAL_MEMORY_HANDLE_DESC),
	       "same layout");

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *ptr)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuIpcGetMemHandle((CUipcMemHandle *)(void *)handle,
							  (CUdeviceptr)(uintptr_t)ptr));
	return leave(error);
}

cudaError_t cudaIpcOpenMemHandle(void **ptr, cudaIpcMemHandle_t handle, unsigned int flags)
{
	cudaError_t error = enter();
	CUdeviceptr address = 0;
	CUipcMemHandle same;

	memcpy(&same, &handle, sizeof(same));
	if (error == cudaSuccess)
		error = error_of(driver.cuIpcOpenMemHandle(&address, same, flags));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return leave(error);
}

cudaError_t cudaIpcCloseMemHandle(void *ptr)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuIpcCloseMemHandle((CUdeviceptr)(uintptr_t)ptr));
	return leave(error);
}

cudaError_t cudaImportExternalMemory(cudaExternalMemory_t *memory,
				     const struct cudaExternalMemoryHandleDesc *desc)
{
	cudaError_t error = enter();
	CUexternalMemory handle = NULL;

	if (error == cudaSuccess && !memory)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = error_of(driver.cuImportExternalMemory(
			&handle, (const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *)desc));
	if (error == cudaSuccess)
		*memory = (cudaExternalMemory_t)(void *)handle;
	return leave(error);
}

cudaError_t cudaExternalMemoryGetMappedBuffer(void **ptr, cudaExternalMemory_t memory,
					      const struct cudaExternalMemoryBufferDesc *desc)
{
	cudaError_t error = enter();
	CUdeviceptr address = 0;

	if (error == cudaSuccess && !ptr)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = error_of(driver.cuExternalMemoryGetMappedBuffer(
			&address, (CUexternalMemory)(void *)memory,
			(const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *)desc));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return leave(error);
}

cudaError_t
cudaExternalMemoryGetMappedMipmappedArray(cudaMipmappedArray_t *array, cudaExternalMemory_t memory,
					  const struct cudaExternalMemoryMipmappedArrayDesc *desc)
{
	CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC same = { .offset = 0 };
	CUmipmappedArray handle = NULL;
	cudaError_t error = enter();

	if (error == cudaSuccess &&
	    (!array || !desc ||
	     !shape_of(&same.arrayDesc, &desc->formatDesc, desc->extent, desc->flags)))
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess) {
		same.offset = desc->offset;
		same.numLevels = desc->numLevels;
		error = error_of(driver.cuExternalMemoryGetMappedMipmappedArray(
			&handle, (CUexternalMemory)(void *)memory, &same));
	}
	if (error == cudaSuccess)
		*array = (cudaMipmappedArray_t)(void *)handle;
	return leave(error);
}

cudaError_t cudaDestroyExternalMemory(cudaExternalMemory_t memory)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuDestroyExternalMemory((CUexternalMemory)(void *)memory));
	return leave(error);
}

/* --- stream-ordered memory ----------------------------------------------------------------- */

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
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = allocate_async(driver.cuMemAllocAsync, ptr, size, stream);
	return leave(error);
}

cudaError_t cudaMallocAsync_ptsz(void **ptr, size_t size, cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = allocate_async(driver.cuMemAllocAsync_ptsz, ptr, size, stream);
	return leave(error);
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t size, cudaMemPool_t pool,
				    cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = allocate_from(driver.cuMemAllocFromPoolAsync, ptr, size, pool, stream);
	return leave(error);
}

cudaError_t cudaMallocFromPoolAsync_ptsz(void **ptr, size_t size, cudaMemPool_t pool,
					 cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = allocate_from(driver.cuMemAllocFromPoolAsync_ptsz, ptr, size, pool, stream);
	return leave(error);
}

cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemFreeAsync((CUdeviceptr)(uintptr_t)ptr, stream));
	return leave(error);
}

cudaError_t cudaFreeAsync_ptsz(void *ptr, cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemFreeAsync_ptsz((CUdeviceptr)(uintptr_t)ptr, stream));
	return leave(error);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
	cudaError_t error = load();

	if (error == cudaSuccess)
		error = error_of(driver.cuDeviceGetDefaultMemPool(pool, device));
	return leave(error);
}

/* The two structures are laid out alike. */
_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "same layout");

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemPoolCreate(pool, (const CUmemPoolProps *)props));
	return leave(error);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemPoolDestroy(pool));
	return leave(error);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemPoolTrimTo(pool, keep));
	return leave(error);
}

/* So are the attributes. */
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(
			driver.cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value));
	return leave(error);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(
			driver.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value));
	return leave(error);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access,
				 size_t count)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(
			driver.cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)access, count));
	return leave(error);
}

cudaError_t cudaMemPoolExportToShareableHandle(void *out, cudaMemPool_t pool,
					       enum cudaMemAllocationHandleType type,
					       unsigned int flags)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemPoolExportToShareableHandle(
			out, pool, (CUmemAllocationHandleType)type, flags));
	return leave(error);
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t *pool, void *handle,
						 enum cudaMemAllocationHandleType type,
						 unsigned int flags)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemPoolImportFromShareableHandle(
			pool, handle, (CUmemAllocationHandleType)type, flags));
	return leave(error);
}

cudaError_t cudaMemPoolExportPointer(struct cudaMemPoolPtrExportData *out, void *ptr)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuMemPoolExportPointer((CUmemPoolPtrExportData *)out,
							       (CUdeviceptr)(uintptr_t)ptr));
	return leave(error);
}

cudaError_t cudaMemPoolImportPointer(void **ptr, cudaMemPool_t pool,
				     struct cudaMemPoolPtrExportData *data)
{
	cudaError_t error = enter();
	CUdeviceptr address = 0;

	if (error == cudaSuccess && !ptr)
		error = cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = error_of(driver.cuMemPoolImportPointer(&address, pool,
							       (CUmemPoolPtrExportData *)data));
	if (error == cudaSuccess)
		*ptr = (void *)(uintptr_t)address;
	return leave(error);
}

/* --- graphs -------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
	       "same layout");

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
	cudaError_t error = load();

	if (error == cudaSuccess)
		error = error_of(driver.cuGraphCreate(graph, flags));
	return leave(error);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	cudaError_t error = load();

	if (error == cudaSuccess)
		error = error_of(driver.cuGraphDestroy(graph));
	return leave(error);
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
				     const cudaGraphNode_t *after, size_t count,
				     struct cudaMemAllocNodeParams *params)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuGraphAddMemAllocNode(
			node, graph, after, count, (CUDA_MEM_ALLOC_NODE_PARAMS *)params));
	return leave(error);
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
				    const cudaGraphNode_t *after, size_t count, void *ptr)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuGraphAddMemFreeNode(node, graph, after, count,
							      (CUdeviceptr)(uintptr_t)ptr));
	return leave(error);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuGraphInstantiate(exec, graph, flags));
	return leave(error);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuGraphUpload(exec, stream));
	return leave(error);
}

cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuGraphUpload_ptsz(exec, stream));
	return leave(error);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuGraphLaunch(exec, stream));
	return leave(error);
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
	cudaError_t error = enter();

	if (error == cudaSuccess)
		error = error_of(driver.cuGraphLaunch_ptsz(exec, stream));
	return leave(error);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	cudaError_t error = load();

	if (error == cudaSuccess)
		error = error_of(driver.cuGraphExecDestroy(exec));
	return leave(error);
}

cudaError_t cudaDeviceGraphMemTrim(int device)
{
	cudaError_t error = load();

	if (error == cudaSuccess)
		error = error_of(driver.cuDeviceGraphMemTrim(device));
	return leave(error);
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
					   void *value)
{
	cudaError_t error = load();

	if (error == cudaSuccess)
		error = error_of(driver.cuDeviceGetGraphMemAttribute(
			device, (CUgraphMem_attribute)attribute, value));
	return leave(error);
}
