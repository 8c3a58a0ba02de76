/*
 * A second preload, which wraps cudaMalloc as people do: it asks for the next one, and counts.
 *
 * It leaves errno at 1234, and tells if it did not come in as what WRAP_ERRNO says.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int calls;

cudaError_t cudaMalloc(void **ptr, size_t size)
{
	cudaError_t (*next)(void **, size_t);
	const char *wanted = getenv("WRAP_ERRNO");
	cudaError_t error;

	if (wanted && errno != atoi(wanted))
		printf("wrap: errno came in as %d\n", errno);
	next = (cudaError_t(*)(void **, size_t))dlsym(RTLD_NEXT, "cudaMalloc");
	calls++;
	error = next(ptr, size);
	errno = 1234;
	return error;
}

__attribute__((destructor)) static void tell(void)
{
	if (calls)
		printf("wrapped=%d\n", calls);
}
