/*
 * Takes every descriptor there is after its first allocation, then goes on: descriptors PAIRS.
 */
#include <cuda_runtime.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int pairs = argc > 1 ? atoi(argv[1]) : 1;
	int taken = 0;
	void *ptr = NULL;

	if (cudaMalloc(&ptr, 1 << 20))
		return 1;
	while (open("/dev/null", O_RDONLY) >= 0)
		taken++;
	for (int i = 0; i < pairs; i++) {
		if (cudaMalloc(&ptr, 4096) || cudaFree(ptr))
			return 1;
	}
	printf("%s, %d pairs\n", taken ? "all taken" : "none was free", pairs);
	return 7;
}
