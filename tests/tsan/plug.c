/* A library that comes and goes while others allocate: each copy calls the runtime from its own
 * code. */
#include <cuda_runtime.h>

int plug(void **ptr, size_t size);

int plug(void **ptr, size_t size)
{
	volatile cudaError_t error = cudaMalloc(ptr, size);

	return (int)error;
}
