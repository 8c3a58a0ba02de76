/*
 * Holds 1 MiB of the default pool when it ends, and a pool of its own that keeps what was freed.
 *
 * Ten steps take 3 blocks each and free them in the stream. What is allocated the program knows;
 * what the pools reserve only the driver does, so that is asked for, not counted.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define STEPS 10
#define BLOCKS 3
#define NOINLINE __attribute__((noinline))

NOINLINE void forward_backward(cudaStream_t stream, cudaMemPool_t pool);
NOINLINE void *remember_loss(cudaStream_t stream);

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "pool: %s\n", cudaGetErrorString(error));
	exit(1);
}

/* 2 + 4 + 6 MiB at once. */
void forward_backward(cudaStream_t stream, cudaMemPool_t pool)
{
	void *blocks[BLOCKS] = { NULL };

	for (size_t i = 0; i < BLOCKS; i++)
		must(cudaMallocFromPoolAsync(&blocks[i], (i + 1) * 2 * MIB, pool, stream));
	for (size_t i = 0; i < BLOCKS; i++)
		must(cudaFreeAsync(blocks[i], stream));
	must(cudaStreamSynchronize(stream));
}

void *remember_loss(cudaStream_t stream)
{
	void *ptr = NULL;

	must(cudaMallocAsync(&ptr, MIB, stream));
	return ptr;
}

static void print_figure(const char *name, cudaMemPool_t pool, enum cudaMemPoolAttr attribute)
{
	unsigned long long value = 0;

	must(cudaMemPoolGetAttribute(pool, attribute, &value));
	printf("%s=%llu\n", name, value);
}

int main(void)
{
	struct cudaMemPoolProps props = { .allocType = cudaMemAllocationTypePinned,
					  .location = { cudaMemLocationTypeDevice, 0 } };
	unsigned long long threshold = 64 * MIB;
	cudaStream_t stream = NULL;
	cudaMemPool_t pool = NULL, standard = NULL;

	must(cudaStreamCreate(&stream));
	must(cudaMemPoolCreate(&pool, &props));
	must(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
	remember_loss(stream);
	for (int step = 0; step < STEPS; step++)
		forward_backward(stream, pool);
	must(cudaDeviceGetDefaultMemPool(&standard, 0));
	printf("allocations=%d\nfrees=%d\n", STEPS * BLOCKS + 1, STEPS * BLOCKS);
	printf("peak=%zu\nlive=%zu\n", 13 * MIB, MIB);
	printf("pool.peak=%zu\npool.live=0\n", 12 * MIB);
	print_figure("pool.used_high", pool, cudaMemPoolAttrUsedMemHigh);
	print_figure("pool.reserved", pool, cudaMemPoolAttrReservedMemCurrent);
	print_figure("default.used", standard, cudaMemPoolAttrUsedMemCurrent);
	print_figure("default.reserved", standard, cudaMemPoolAttrReservedMemCurrent);
	must(cudaMemPoolTrimTo(pool, 0));
	print_figure("pool.reserved_trimmed", pool, cudaMemPoolAttrReservedMemCurrent);
	return 0;
}
