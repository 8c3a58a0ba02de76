/*
 * Memory that is occupied without being allocated, in the ways that the simulated driver knows;
 * used.sh says what the trace must say of it.
 *
 *	steps     modules, kernels, launches, heaps, peers; printed is what the device has at the
 *end early     the same calls ahead of the first allocation unseen    memory that no call takes
 *	reset     a context ends with what was loaded in it, and another begins
 *	granules  allocations of sizes that are rounded
 *	storm     threads that allocate while others load code
 *	forever   loads and unloads until it is killed; a line on stdout when it has begun
 *	fork      a child that uses CUDA while its parent does not
 *	two       two devices
 *	ordered   a stream-ordered pool that shrinks where no call says so
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../fake/control.h"

#define MIB ((size_t)1 << 20)

static const struct fake_image small = { "FAKEMOD", 3 * MIB, 0 };
static const struct fake_image large = { "FAKEMOD", 21 * MIB, 0 };
static const struct fake_image hungry = { "FAKEMOD", 1 * MIB, 2048 };

static void must(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "used: %s: %d\n", what, status);
	exit(1);
}

static void context(int device)
{
	CUcontext made;

	must(cuInit(0), "cuInit");
	must(cuDevicePrimaryCtxRetain(&made, device), "cuDevicePrimaryCtxRetain");
	must(cuCtxSetCurrent(made), "cuCtxSetCurrent");
}

/* Long enough that the driver is asked again. */
static void later(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 15 * 1000 * 1000 }, NULL);
}

static CUdeviceptr take(size_t size)
{
	CUdeviceptr ptr = 0;

	must(cuMemAlloc(&ptr, size), "cuMemAlloc");
	return ptr;
}

static void tell(int device)
{
	struct fake_occupied occupied;

	if (!fakeCudaOccupied(device, &occupied))
		exit(1);
	printf("own %llu\n", (unsigned long long)occupied.own);
}

static void launch(CUfunction function)
{
	must(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), "cuLaunchKernel");
}

static void steps(void)
{
	CUmodule module;
	CUlibrary library, stacks;
	CUkernel kernel;
	CUfunction function;
	CUcontext self;

	must(cuModuleLoadData(&module, &small), "cuModuleLoadData");
	must(cuModuleGetFunction(&function, module, "f"), "cuModuleGetFunction");
	launch(function);
	must(cuLibraryLoadData(&library, &large, NULL, NULL, 0, NULL, NULL, 0), "library");
	must(cuLibraryGetKernel(&kernel, library, "k"), "cuLibraryGetKernel");
	launch((CUfunction)(void *)kernel);
	launch((CUfunction)(void *)kernel);
	must(cuLibraryLoadData(&stacks, &hungry, NULL, NULL, 0, NULL, NULL, 0), "library");
	must(cuLibraryGetKernel(&kernel, stacks, "k"), "cuLibraryGetKernel");
	launch((CUfunction)(void *)kernel);
	must(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 * MIB), "malloc heap");
	must(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 16 * MIB), "printf heap");
	must(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 32 * MIB), "malloc heap");
	must(cuCtxGetCurrent(&self), "cuCtxGetCurrent");
	must(cuCtxEnablePeerAccess(self, 0), "cuCtxEnablePeerAccess");
	must(cuModuleUnload(module), "cuModuleUnload");
}

static void unseen(void)
{
	take(5 * MIB);
	later();
	fakeCudaTake(0, (int64_t)(40 * MIB));
	later();
	take(5 * MIB);
	later();
	fakeCudaTake(0, -(int64_t)(30 * MIB));
	later();
	take(5 * MIB);
}

static void reset(void)
{
	take(5 * MIB);
	steps();
	must(cuDevicePrimaryCtxReset(0), "cuDevicePrimaryCtxReset");
	context(0);
	take(7 * MIB);
}

static void granules(void)
{
	CUdeviceptr smalls[3000];

	take(1);
	take(MIB);
	take(MIB + 1);
	take(3 * MIB);
	for (unsigned i = 0; i < 3000; i++)
		smalls[i] = take(4000);
	later();
	take(2 * MIB);
	for (unsigned i = 0; i < 3000; i += 2)
		must(cuMemFree(smalls[i]), "cuMemFree");
	later();
	take(2 * MIB);
	for (unsigned i = 1; i < 3000; i += 2)
		must(cuMemFree(smalls[i]), "cuMemFree");
	later();
	take(2 * MIB);
}

static void ordered(void)
{
	CUdeviceptr blocks[3];

	for (unsigned i = 0; i < 3; i++)
		must(cuMemAllocAsync(&blocks[i], 40 * MIB, NULL), "cuMemAllocAsync");
	later();
	take(MIB);
	for (unsigned i = 0; i < 3; i++)
		must(cuMemFreeAsync(blocks[i], NULL), "cuMemFreeAsync");
	must(cuCtxSynchronize(), "cuCtxSynchronize");
	later();
	take(MIB);
}

/* --- threads ------------------------------------------------------------------------------- */

static CUcontext shared;

static void *allocate(void *unused)
{
	(void)unused;
	must(cuCtxSetCurrent(shared), "cuCtxSetCurrent");
	for (unsigned i = 0; i < 3000; i++) {
		CUdeviceptr ptr = take((i % 7 + 1) * MIB);

		must(cuMemFree(ptr), "cuMemFree");
	}
	return NULL;
}

static void *load(void *unused)
{
	CUmodule module;
	CUfunction function;

	(void)unused;
	must(cuCtxSetCurrent(shared), "cuCtxSetCurrent");
	for (unsigned i = 0; i < 300; i++) {
		must(cuModuleLoadData(&module, &small), "cuModuleLoadData");
		must(cuModuleGetFunction(&function, module, "f"), "cuModuleGetFunction");
		launch(function);
		if (i % 3)
			must(cuModuleUnload(module), "cuModuleUnload");
	}
	return NULL;
}

static void storm(void)
{
	pthread_t threads[6];

	must(cuCtxGetCurrent(&shared), "cuCtxGetCurrent");
	take(MIB);
	for (unsigned i = 0; i < 6; i++)
		must(pthread_create(&threads[i], NULL, i % 2 ? load : allocate, NULL), "thread");
	for (unsigned i = 0; i < 6; i++)
		must(pthread_join(threads[i], NULL), "join");
	later();
	take(MIB);
}

/* More than the driver is asked about: all comes at once, and nothing after it. */
static void burst(void)
{
	CUdeviceptr first = take(1024 * MIB);

	for (int i = 0; i < 10; i++)
		take(1024 * MIB);
	must(cuMemFree(first), "cuMemFree");
}

static void forever(void)
{
	CUmodule module;
	CUfunction function;

	take(MIB);
	for (unsigned i = 0;; i++) {
		must(cuModuleLoadData(&module, &large), "cuModuleLoadData");
		must(cuModuleGetFunction(&function, module, "f"), "cuModuleGetFunction");
		must(cuMemFree(take(3 * MIB)), "cuMemFree");
		must(cuModuleUnload(module), "cuModuleUnload");
		if (i == 100) {
			puts("begun");
			fflush(stdout);
		}
	}
}

static void child(void)
{
	int status = 0;

	if (!fork()) {
		context(0);
		take(MIB);
		exit(0);
	}
	wait(&status);
	must(status, "the child");
}

static void two(void)
{
	context(0);
	take(3 * MIB);
	context(1);
	take(5 * MIB);
	must(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 * MIB), "malloc heap");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (!strcmp(mode, "fork")) {
		child();
		return 0;
	}
	if (!strcmp(mode, "two")) {
		two();
		return 0;
	}
	context(0);
	if (!strcmp(mode, "steps")) {
		take(5 * MIB);
		steps();
	} else if (!strcmp(mode, "early")) {
		steps();
		take(5 * MIB);
	} else if (!strcmp(mode, "unseen")) {
		unseen();
	} else if (!strcmp(mode, "reset")) {
		reset();
	} else if (!strcmp(mode, "granules")) {
		granules();
	} else if (!strcmp(mode, "ordered")) {
		ordered();
	} else if (!strcmp(mode, "storm")) {
		storm();
	} else if (!strcmp(mode, "burst")) {
		burst();
	} else if (!strcmp(mode, "forever")) {
		forever();
	} else {
		return 2;
	}
	tell(0);
	return 0;
}
