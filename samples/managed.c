/*
 * Holds managed memory (4 MiB at the end) and pinned memory (2 MiB), which are not the device's.
 *
 * Pinned is what is page-locked: taken with cudaMallocHost and cudaHostAlloc, or registered.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define PAGE 4096
#define NOINLINE __attribute__((noinline))

NOINLINE void share_with_host(void);
NOINLINE void stage_batches(void);
NOINLINE void register_buffer(void);

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "managed: %s\n", cudaGetErrorString(error));
	exit(1);
}

/* 8 MiB and 4 MiB; the larger is freed. */
void share_with_host(void)
{
	void *large = NULL, *small = NULL;

	must(cudaMallocManaged(&large, 8 * MIB, cudaMemAttachGlobal));
	must(cudaMallocManaged(&small, 4 * MIB, cudaMemAttachGlobal));
	memset(large, 1, PAGE);
	must(cudaFree(large));
}

/* 3 MiB and 2 MiB; the larger is freed. */
void stage_batches(void)
{
	void *batch = NULL, *kept = NULL;

	must(cudaMallocHost(&batch, 3 * MIB));
	must(cudaHostAlloc(&kept, 2 * MIB, cudaHostAllocDefault));
	memset(batch, 1, PAGE);
	must(cudaFreeHost(batch));
}

void register_buffer(void)
{
	void *buffer = aligned_alloc(PAGE, MIB);

	if (!buffer)
		exit(1);
	must(cudaHostRegister(buffer, MIB, cudaHostRegisterDefault));
	must(cudaHostUnregister(buffer));
	free(buffer);
}

int main(void)
{
	void *plain = NULL;

	must(cudaMalloc(&plain, MIB));
	share_with_host();
	stage_batches();
	register_buffer();
	printf("managed.peak=%zu\nmanaged.live=%zu\n", 12 * MIB, 4 * MIB);
	printf("pinned.peak=%zu\npinned.live=%zu\n", 5 * MIB, 2 * MIB);
	printf("peak=%zu\nlive=0\n", MIB);
	must(cudaFree(plain));
	return 0;
}
