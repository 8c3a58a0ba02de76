/*
 * A simulated CUDA runtime: libcudart.so.13, and the one that programs are linked with statically.
 *
 * It reaches the driver as the real one does: dlopen, one dlsym, and then cuGetProcAddress for
 * every function, at its first use. Each copy in a process (cuBLAS and NCCL bring their own) does
 * so for itself. Compiled with FAKE_CUDART_STATIC its functions are hidden in the program, so that
 * nothing preloaded can take their place. With FAKE_CUDART_UNSEEN set it finds the driver in a way
 * that nothing preloaded sees, as a runtime of tomorrow might; with FAKE_CUDART_RELEASES it
 * releases its contexts when the process exits.
 */
#include "cudart.h"

#include <dlfcn.h>
#include <stdlib.h>

struct runtime_driver runtime_driver = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local struct {
	int device;
	cudaError_t last_error;
} thread;

/* --- reaching the driver ------------------------------------------------------------------- */

static bool ask(void **function, const char *name, int version, cuuint64_t flags)
{
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;

	return runtime_driver.lookup(name, function, version, flags, &status) == CUDA_SUCCESS &&
	       *function;
}

#define ASK(name, version)                                          \
	found &= ask((void **)&runtime_driver.name, #name, version, \
		     CU_GET_PROC_ADDRESS_LEGACY_STREAM);
#define ASKS(name, version)                                                \
	ASK(name, version)                                                 \
	found &= ask((void **)&runtime_driver.name##_ptsz, #name, version, \
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

/* A runtime that tidies up. */
static void release_all(void)
{
	for (int device = 0; device < RUNTIME_DEVICES_MAX; device++) {
		if (runtime_driver.primary[device])
			runtime_driver.cuDevicePrimaryCtxRelease(device);
	}
}

static cudaError_t load_locked(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	void *ignored = NULL;
	bool found = true;

	if (!library)
		return cudaErrorInsufficientDriver;
	*(void **)&runtime_driver.lookup = find_lookup(library);
	if (!runtime_driver.lookup)
		return cudaErrorInsufficientDriver;
	/* The real one begins so; who wraps the lookup must bear these questions. */
	ask(&ignored, "", 2000, CU_GET_PROC_ADDRESS_DEFAULT);
	ask(&ignored, "cuGetProcAddress", 11030, CU_GET_PROC_ADDRESS_DEFAULT);
	ask(&ignored, "cuGetProcAddress", 12000, CU_GET_PROC_ADDRESS_DEFAULT);
	DRIVER_FUNCTIONS(ASK, ASKS)
	if (!found)
		return cudaErrorInsufficientDriver;
	if (getenv("FAKE_CUDART_RELEASES"))
		atexit(release_all);
	return error_of(runtime_driver.cuInit(0));
}

/* Whoever held it when the child was made is not in the child. */
static void fork_child(void)
{
	runtime_driver.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_atfork(NULL, NULL, fork_child);
}

cudaError_t runtime_load(void)
{
	cudaError_t error = cudaSuccess;

	if (__atomic_load_n(&runtime_driver.loaded, __ATOMIC_ACQUIRE))
		return cudaSuccess;
	pthread_mutex_lock(&runtime_driver.lock);
	if (!runtime_driver.loaded)
		error = load_locked();
	if (error == cudaSuccess)
		__atomic_store_n(&runtime_driver.loaded, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&runtime_driver.lock);
	return error;
}

static CUcontext primary_of(int device)
{
	return __atomic_load_n(&runtime_driver.primary[device], __ATOMIC_ACQUIRE);
}

/* Makes the device's primary context the thread's. */
static cudaError_t bind(int device)
{
	CUresult status = CUDA_SUCCESS;
	CUcontext context;

	pthread_mutex_lock(&runtime_driver.lock);
	context = runtime_driver.primary[device];
	if (!context)
		status = runtime_driver.cuDevicePrimaryCtxRetain(&context, device);
	if (status == CUDA_SUCCESS)
		__atomic_store_n(&runtime_driver.primary[device], context, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&runtime_driver.lock);
	if (status == CUDA_SUCCESS)
		status = runtime_driver.cuCtxSetCurrent(context);
	return error_of(status);
}

cudaError_t runtime_enter(void)
{
	cudaError_t error = runtime_load();
	CUcontext context = NULL;

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuCtxGetCurrent(&context));
	if (error == cudaSuccess && (!context || !primary_of(thread.device)))
		error = bind(thread.device);
	return error;
}

cudaError_t runtime_leave(cudaError_t error)
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
		return runtime_leave(cudaErrorInvalidValue);
	*version = CUDART_VERSION;
	return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
	cudaError_t error = runtime_load();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuDriverGetVersion(version));
	return runtime_leave(error);
}

cudaError_t cudaGetDeviceCount(int *count)
{
	cudaError_t error = runtime_load();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuDeviceGetCount(count));
	return runtime_leave(error);
}

cudaError_t cudaGetDevice(int *device)
{
	cudaError_t error = runtime_load();

	if (error == cudaSuccess)
		*device = thread.device;
	return runtime_leave(error);
}

/* Since CUDA 12 this begins the device's context. */
cudaError_t cudaSetDevice(int device)
{
	cudaError_t error = runtime_load();
	int count = 0;

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuDeviceGetCount(&count));
	if (error == cudaSuccess &&
	    (device < 0 || device >= count || device >= RUNTIME_DEVICES_MAX))
		error = cudaErrorInvalidDevice;
	if (error == cudaSuccess) {
		thread.device = device;
		error = bind(device);
	}
	return runtime_leave(error);
}

/* Ends everything of the device's context, without a call that says so for each block. */
cudaError_t cudaDeviceReset(void)
{
	cudaError_t error = runtime_load();

	if (error == cudaSuccess) {
		pthread_mutex_lock(&runtime_driver.lock);
		__atomic_store_n(&runtime_driver.primary[thread.device], NULL, __ATOMIC_RELEASE);
		error = error_of(runtime_driver.cuDevicePrimaryCtxReset(thread.device));
		pthread_mutex_unlock(&runtime_driver.lock);
	}
	thread.last_error = cudaSuccess;
	return runtime_leave(error);
}

cudaError_t cudaDeviceSynchronize(void)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuCtxSynchronize());
	return runtime_leave(error);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuStreamCreate(stream, 0));
	return runtime_leave(error);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuStreamCreate(stream, flags));
	return runtime_leave(error);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(
			runtime_driver.cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
	return runtime_leave(error);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuStreamEndCapture(stream, graph));
	return runtime_leave(error);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuStreamDestroy(stream));
	return runtime_leave(error);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuStreamSynchronize(stream));
	return runtime_leave(error);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args,
			     size_t shared_bytes, cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuLaunchKernel(
			(CUfunction)(uintptr_t)function, grid.x, grid.y, grid.z, block.x, block.y,
			block.z, (unsigned int)shared_bytes, stream, args, NULL));
	return runtime_leave(error);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **pfn, unsigned int version,
					     unsigned long long flags,
					     enum cudaDriverEntryPointQueryResult *found)
{
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
	cudaError_t error = runtime_load();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.lookup(symbol, pfn, (int)version, flags, &status));
	if (error == cudaSuccess && found)
		*found = (enum cudaDriverEntryPointQueryResult)status;
	return runtime_leave(error);
}

/* Of cudart_calls.c. */
int runtime_nothing(void);

int runtime_nothing(void)
{
	return (int)runtime_leave(runtime_enter());
}
