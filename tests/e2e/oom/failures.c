/*
 * Goes on after failures: an allocation or a free that fails is tried again, until it succeeds.
 *
 * Which ones fail FAKE_CUDA_OOM_AFTER and FAKE_CUDA_FREE_FAILS say. All kinds of allocation.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define TRIES 3

static const CUmemAllocationProp on_device = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
					       .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };
static int allocations, failed_allocations, frees, failed_frees;

#define TRY(call, done, failed)                               \
	do {                                                  \
		int tries = 0;                                \
		while (tries++ < TRIES && (int)(call) != 0) { \
			failed++;                             \
			cudaGetLastError();                   \
		}                                             \
		done++;                                       \
	} while (0)
#define TAKE(call) TRY(call, allocations, failed_allocations)
#define GIVE(call) TRY(call, frees, failed_frees)

__attribute__((noinline)) void take_and_give(void);

void take_and_give(void)
{
	void *plain = NULL, *ordered = NULL, *pinned = NULL;
	CUmemGenericAllocationHandle handle = 0;
	CUdeviceptr driver = 0;

	TAKE(cudaMalloc(&plain, MIB));
	TAKE(cuMemAlloc(&driver, 2 * MIB));
	TAKE(cudaMallocAsync(&ordered, 4 * MIB, NULL));
	TAKE(cudaMallocHost(&pinned, 8 * MIB));
	TAKE(cuMemCreate(&handle, 16 * MIB, &on_device, 0));
	GIVE(cuMemRelease(handle));
	GIVE(cudaFreeHost(pinned));
	GIVE(cudaFreeAsync(ordered, NULL));
	GIVE(cuMemFree(driver));
	GIVE(cudaFree(plain));
}

int main(void)
{
	cudaFree(NULL);
	take_and_give();
	take_and_give();
	printf("allocations=%d\nfrees=%d\nfailed_allocations=%d\nfailed_frees=%d\n", allocations,
	       frees, failed_allocations, failed_frees);
	return 0;
}
