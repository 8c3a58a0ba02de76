/*
 * Holds 96 MiB when it asks for twice the card, is refused, and goes on with less.
 *
 * The refusal is the figure: a trace must show the size that was asked for and by whom.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define NOINLINE __attribute__((noinline))

static void *model, *activations;

NOINLINE void load_model(void);
NOINLINE cudaError_t ask_too_much(size_t size);
NOINLINE void try_less(void);

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "oom: %s\n", cudaGetErrorString(error));
	exit(1);
}

void load_model(void)
{
	must(cudaMalloc(&model, 64 * MIB));
	must(cudaMalloc(&activations, 32 * MIB));
}

cudaError_t ask_too_much(size_t size)
{
	void *ptr = NULL;
	cudaError_t error = cudaMalloc(&ptr, size);

	cudaGetLastError(); /* it is not to be met again */
	return error;
}

void try_less(void)
{
	void *ptr = NULL;

	must(cudaFree(activations));
	must(cudaMalloc(&ptr, 16 * MIB));
	must(cudaFree(ptr));
}

int main(void)
{
	size_t available = 0, total = 0;
	cudaError_t error;

	load_model();
	must(cudaMemGetInfo(&available, &total));
	error = ask_too_much(2 * total);
	try_less();
	printf("asked=%zu\n", 2 * total);
	printf("error=%d\nerror_text=%s\n", (int)error, cudaGetErrorString(error));
	printf("ooms=1\nallocations=3\nfrees=2\n");
	printf("peak=%zu\nlive=%zu\n", 96 * MIB, 64 * MIB);
	return error == cudaErrorMemoryAllocation ? 0 : 1;
}
