/*
 * Takes memory until there is none, then ends: outofmemory STATUS, or `abort`; beside a smaller
 * first try that it survives.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define NOINLINE __attribute__((noinline))

NOINLINE void *load_model(size_t size);
NOINLINE void *work(size_t size);

/* Part of its callers at any level of optimisation: they are the sites. */
__attribute__((always_inline)) static inline void *take(size_t size)
{
	void *ptr = NULL;

	return cudaMalloc(&ptr, size) ? NULL : ptr;
}

void *load_model(size_t size)
{
	return take(size);
}

void *work(size_t size)
{
	return take(size);
}

int main(int argc, char **argv)
{
	if (argc < 2 || !load_model(300 * MIB))
		return 9;
	while (work(100 * MIB))
		;
	fprintf(stderr, "no memory left\n");
	if (!strcmp(argv[1], "abort"))
		abort();
	return atoi(argv[1]);
}
