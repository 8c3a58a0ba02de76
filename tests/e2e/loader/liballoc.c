/* A library that uses the CUDA runtime it was linked with; loader loads it. */
#include <cuda_runtime.h>

int alloc_take(void **ptr, size_t size);
int alloc_give(void *ptr);
int alloc_last_error(void);

int alloc_take(void **ptr, size_t size)
{
	volatile cudaError_t error = cudaMalloc(ptr, size);

	return (int)error;
}

int alloc_give(void *ptr)
{
	volatile cudaError_t error = cudaFree(ptr);

	return (int)error;
}

/* Each runtime remembers the failures of its own calls. */
int alloc_last_error(void)
{
	return (int)cudaGetLastError();
}
