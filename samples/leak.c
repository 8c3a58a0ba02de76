/*
 * Holds what three functions never free: load_weights 8 MiB, build_cache 4 MiB, keep_scratch 1 MiB.
 *
 * Prints what it counted itself, so that a trace can be compared with it.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define NOINLINE __attribute__((noinline))

static size_t live, peak, allocations, frees;

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "leak: %s\n", cudaGetErrorString(error));
	exit(1);
}

static NOINLINE void *take(size_t size)
{
	void *ptr = NULL;

	must(cudaMalloc(&ptr, size));
	live += size;
	peak = live > peak ? live : peak;
	allocations++;
	return ptr;
}

static NOINLINE void give(void *ptr, size_t size)
{
	must(cudaFree(ptr));
	live -= size;
	frees++;
}

NOINLINE void load_weights(void);
NOINLINE void build_cache(void);
NOINLINE void keep_scratch(void);

void load_weights(void)
{
	take(4 * MIB);
	take(4 * MIB);
}

/* Every other entry is dropped again. */
void build_cache(void)
{
	for (int entry = 0; entry < 8; entry++) {
		void *ptr = take(MIB);

		if (entry % 2)
			give(ptr, MIB);
	}
}

/* Tries three sizes and forgets to free the one it stays with. */
void keep_scratch(void)
{
	void *scratch = take(3 * MIB);

	give(scratch, 3 * MIB);
	scratch = take(MIB / 2);
	give(scratch, MIB / 2);
	take(MIB);
}

int main(void)
{
	load_weights();
	build_cache();
	keep_scratch();
	printf("allocations=%zu\nfrees=%zu\n", allocations, frees);
	printf("peak=%zu\nlive=%zu\n", peak, live);
	printf("load_weights.live=%zu\nbuild_cache.live=%zu\nkeep_scratch.live=%zu\n", 8 * MIB,
	       4 * MIB, MIB);
	return 0;
}
