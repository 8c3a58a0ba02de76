/*
 * Looks at errno after every kind of hooked call: errno [once]. Prints where it was changed.
 *
 * The first calls do slow work beneath (the driver starts, files are opened); `once` looks at
 * those, with a cudaMalloc of its own beneath (libwrap.so), which sets errno.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <errno.h>
#include <memtrace/memtrace.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define BEFORE 77

static const CUmemAllocationProp on_device = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
					       .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };

/* The call, with errno set before and looked at afterwards. */
#define LOOK(call)                                                 \
	do {                                                       \
		errno = BEFORE;                                    \
		call;                                              \
		if (errno != BEFORE)                               \
			printf("%s: errno is %d\n", #call, errno); \
	} while (0)

static void runtime_calls(void)
{
	void *ptr = NULL;

	LOOK(cudaMalloc(&ptr, MIB));
	LOOK(cudaFree(ptr));
	LOOK(cudaFree((void *)0x1234));
	LOOK(cudaMalloc(&ptr, (size_t)1 << 50));
	LOOK(cudaMallocManaged(&ptr, MIB, cudaMemAttachGlobal));
	LOOK(cudaFree(ptr));
	LOOK(cudaMallocHost(&ptr, MIB));
	LOOK(cudaFreeHost(ptr));
	LOOK(cudaMallocAsync(&ptr, MIB, NULL));
	LOOK(cudaFreeAsync(ptr, NULL));
}

static void driver_calls(void)
{
	CUmemGenericAllocationHandle handle = 0;
	CUdeviceptr ptr = 0, at = 0;

	LOOK(cuMemAlloc(&ptr, MIB));
	LOOK(cuMemFree(ptr));
	cuMemAddressReserve(&at, 2 * MIB, 0, 0, 0);
	LOOK(cuMemCreate(&handle, 2 * MIB, &on_device, 0));
	LOOK(cuMemMap(at, 2 * MIB, 0, handle, 0));
	LOOK(cuMemRelease(handle));
	LOOK(cuMemUnmap(at, 2 * MIB));
}

static void tell_calls(void)
{
	memtrace_pool pool = memtrace_pool_create("errno");
	void *ptr = NULL;

	cudaMalloc(&ptr, MIB);
	LOOK(memtrace_mark("here"));
	LOOK(memtrace_push("phase"));
	LOOK(memtrace_pop());
	LOOK(memtrace_label(ptr, "label"));
	LOOK(memtrace_pool_reserve(pool, ptr, MIB));
	LOOK(memtrace_pool_alloc(pool, ptr, MIB / 2));
	LOOK(memtrace_pool_free(pool, ptr));
	LOOK(memtrace_pool_release(pool, ptr));
	LOOK(memtrace_stop());
	LOOK(memtrace_start());
	LOOK(memtrace_enable(0));
	LOOK(memtrace_enable(1));
	cudaFree(ptr);
}

int main(int argc, char **argv)
{
	void *ptr = NULL;

	(void)argv;
	errno = BEFORE;
	cudaMalloc(&ptr, MIB);
	if (argc > 1)
		printf("first call: errno is %d\n", errno);
	errno = BEFORE;
	cudaMalloc(&ptr, MIB);
	if (argc > 1) {
		printf("second call: errno is %d\n", errno);
		return 0;
	}
	for (int round = 0; round < 2; round++) {
		runtime_calls();
		driver_calls();
		tell_calls();
	}
	puts("looked");
	return 0;
}
