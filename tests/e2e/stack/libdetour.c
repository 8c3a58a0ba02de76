/*
 * A second preload, in whose cudaMalloc the program is called back: it may go to another of its
 * stacks there, in the middle of the call.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>

void (*detour)(void);

cudaError_t cudaMalloc(void **ptr, size_t size)
{
	cudaError_t (*next)(void **, size_t);

	next = (cudaError_t(*)(void **, size_t))dlsym(RTLD_NEXT, "cudaMalloc");
	if (detour)
		detour();
	return next(ptr, size);
}
