/* Asks for the runtime's functions by version, which no preload can answer: 3 MiB, and freed again.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW);
	cudaError_t (*allocate)(void **, size_t) = NULL;
	cudaError_t (*release)(void *) = NULL;
	void *ptr = NULL;

	*(void **)&allocate = dlvsym(runtime, "cudaMalloc", "libcudart.so.13");
	*(void **)&release = dlvsym(runtime, "cudaFree", "libcudart.so.13");
	if (!allocate || !release || allocate(&ptr, 3 << 20) || release(ptr))
		return 1;
	puts("done");
	return 0;
}
