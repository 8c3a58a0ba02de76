/* Scenarios: contexts, and what ends with them. Included by rows.c alone. */
#pragma once

#include <stdlib.h>

#include "rows_memory.h"
#include "rows_pools.h"

/*
 * One of each kind in the current context: plain, managed, pinned and registered memory, and arrays
 * end with it; stream-ordered memory and what cuMemCreate gave do not.
 */
static struct {
	CUdeviceptr ordered;
	CUmemGenericAllocationHandle handle;
	void *registered;
} survivors;

static void fill_context(void)
{
	CUmemAllocationProp prop = on_device;
	CUdeviceptr managed = 0;

	prop.location.id = OTHER_DEVICE;
	plain(50 * KIB);
	must(cuMemAllocManaged(&managed, 51 * KIB, CU_MEM_ATTACH_GLOBAL), "cuMemAllocManaged");
	pinned(52 * KIB);
	survivors.registered = registered(56 * KIB);
	array_of(&volume);
	survivors.ordered = ordered(53 * KIB);
	must(cuMemCreate(&survivors.handle, 2 * MIB, &prop, 0), "cuMemCreate");
}

static void expect_context_end(void)
{
	ends("device", 50 * KIB);
	ends("managed", 51 * KIB);
	ends("pinned", 52 * KIB);
	ends("pinned", 56 * KIB);
	ends("array", 30 * 20 * 10 * 4);
}

static void free_survivors(void)
{
	must(cuMemFreeAsync(survivors.ordered, NULL), "cuMemFreeAsync");
	must(cuMemRelease(survivors.handle), "cuMemRelease");
	free(survivors.registered);
	check_now();
}

/* --- contexts of the program's own --------------------------------------------------------- */

static void use_cuCtxCreate_v2(fn_cuCtxCreate_v2 *call)
{
	CUcontext context = NULL;

	if (!CALL(&context, 0, OTHER_DEVICE))
		must(cuCtxDestroy_v2(context), "cuCtxDestroy");
	cudaSetDevice(0);
}

static void use_cuCtxCreate_v3(fn_cuCtxCreate_v3 *call)
{
	CUcontext context = NULL;

	if (!CALL(&context, NULL, 0, 0, OTHER_DEVICE))
		must(cuCtxDestroy_v2(context), "cuCtxDestroy");
	cudaSetDevice(0);
}

static void use_cuCtxCreate_v4(fn_cuCtxCreate_v4 *call)
{
	CUcontext context = NULL;

	if (!CALL(&context, NULL, 0, OTHER_DEVICE))
		must(cuCtxDestroy_v2(context), "cuCtxDestroy");
	cudaSetDevice(0);
}

static void use_cuCtxDestroy_v2(fn_cuCtxDestroy_v2 *call)
{
	CUcontext context = NULL;

	must(cuCtxCreate_v4(&context, NULL, 0, OTHER_DEVICE), "cuCtxCreate");
	fill_context();
	expect_context_end();
	if (CALL(context))
		must(cuCtxDestroy_v2(context), "cuCtxDestroy");
	must(cudaSetDevice(0), "cudaSetDevice");
	free_survivors();
}

static void use_cuCtxDestroy(fn_cuCtxDestroy *call)
{
	beneath("cuCtxDestroy_v2");
	use_cuCtxDestroy_v2(call);
}

/* --- primary contexts ---------------------------------------------------------------------- */

static CUcontext primary_new(void)
{
	CUcontext context = NULL;

	must(cuDevicePrimaryCtxReset_v2(OTHER_DEVICE), "cuDevicePrimaryCtxReset");
	must(cuDevicePrimaryCtxRetain(&context, OTHER_DEVICE), "cuDevicePrimaryCtxRetain");
	must(cuCtxPushCurrent(context), "cuCtxPushCurrent");
	return context;
}

/* The thread's context is the first device's again, whatever became of the other's. */
static void primary_end(void)
{
	CUcontext context;

	must(cuCtxPopCurrent(&context), "cuCtxPopCurrent");
	must(cuDevicePrimaryCtxReset_v2(OTHER_DEVICE), "cuDevicePrimaryCtxReset");
}

static void use_cuDevicePrimaryCtxRetain(fn_cuDevicePrimaryCtxRetain *call)
{
	CUcontext context = NULL;

	if (!CALL(&context, OTHER_DEVICE))
		must(cuDevicePrimaryCtxRelease_v2(OTHER_DEVICE), "cuDevicePrimaryCtxRelease");
}

/* Retained twice and released once before: only the last release ends it. */
static void use_cuDevicePrimaryCtxRelease_v2(fn_cuDevicePrimaryCtxRelease_v2 *call)
{
	CUcontext context = primary_new();

	must(cuDevicePrimaryCtxRetain(&context, OTHER_DEVICE), "cuDevicePrimaryCtxRetain");
	fill_context();
	must(cuDevicePrimaryCtxRelease_v2(OTHER_DEVICE), "cuDevicePrimaryCtxRelease");
	expect_context_end();
	CALL(OTHER_DEVICE);
	primary_end();
	free_survivors();
}

static void use_cuDevicePrimaryCtxRelease(fn_cuDevicePrimaryCtxRelease *call)
{
	beneath("cuDevicePrimaryCtxRelease_v2");
	use_cuDevicePrimaryCtxRelease_v2(call);
}

static void use_cuDevicePrimaryCtxReset_v2(fn_cuDevicePrimaryCtxReset_v2 *call)
{
	primary_new();
	fill_context();
	expect_context_end();
	CALL(OTHER_DEVICE);
	primary_end();
	free_survivors();
}

static void use_cuDevicePrimaryCtxReset(fn_cuDevicePrimaryCtxReset *call)
{
	beneath("cuDevicePrimaryCtxReset_v2");
	use_cuDevicePrimaryCtxReset_v2(call);
}

/* Of the current device alone: the first one's memory stays. */
static void use_cudaDeviceReset(fn_cudaDeviceReset *call)
{
	CUdeviceptr stays = plain(60 * KIB);

	must(cudaSetDevice(OTHER_DEVICE), "cudaSetDevice");
	fill_context();
	beneath("cuDevicePrimaryCtxReset_v2");
	expect_context_end();
	if (CALL()) {
		must(cudaSetDevice(OTHER_DEVICE), "cudaSetDevice");
		must(cudaDeviceReset(), "cudaDeviceReset");
	}
	must(cudaSetDevice(0), "cudaSetDevice");
	must(cuMemFree(stays), "cuMemFree");
	free_survivors();
}
