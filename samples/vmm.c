/*
 * Holds memory through mappings alone: handles released first are held until they are unmapped.
 *
 * Driver calls, reached as frameworks do, by cudaGetDriverEntryPointByVersion. Prints what is held
 * after each step; one handle of 8 MiB that was never mapped is left over.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define NOINLINE __attribute__((noinline))

static struct {
	__typeof__(cuMemCreate) *create;
	__typeof__(cuMemRelease) *release;
	__typeof__(cuMemAddressReserve) *reserve;
	__typeof__(cuMemAddressFree) *address_free;
	__typeof__(cuMemMap) *map;
	__typeof__(cuMemUnmap) *unmap;
	__typeof__(cuMemSetAccess) *set_access;
	__typeof__(cuMemRetainAllocationHandle) *retain;
} driver;

static const CUmemAllocationProp on_device = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
					       .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };

NOINLINE CUmemGenericAllocationHandle create_segment(size_t size);
NOINLINE void map_segment(CUdeviceptr at, size_t size, CUmemGenericAllocationHandle handle);

static void must(int status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "vmm: %s: %d\n", what, status);
	exit(1);
}

static void *entry(const char *name, unsigned int version)
{
	enum cudaDriverEntryPointQueryResult found;
	void *function = NULL;

	must(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found),
	     name);
	must(!function, name);
	return function;
}

static void find_driver(void)
{
	*(void **)&driver.create = entry("cuMemCreate", 10020);
	*(void **)&driver.release = entry("cuMemRelease", 10020);
	*(void **)&driver.reserve = entry("cuMemAddressReserve", 10020);
	*(void **)&driver.address_free = entry("cuMemAddressFree", 10020);
	*(void **)&driver.map = entry("cuMemMap", 10020);
	*(void **)&driver.unmap = entry("cuMemUnmap", 10020);
	*(void **)&driver.set_access = entry("cuMemSetAccess", 10020);
	*(void **)&driver.retain = entry("cuMemRetainAllocationHandle", 11000);
}

CUmemGenericAllocationHandle create_segment(size_t size)
{
	CUmemGenericAllocationHandle handle = 0;

	must(driver.create(&handle, size, &on_device, 0), "cuMemCreate");
	return handle;
}

void map_segment(CUdeviceptr at, size_t size, CUmemGenericAllocationHandle handle)
{
	CUmemAccessDesc access = { .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 },
				   .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };

	must(driver.map(at, size, 0, handle, 0), "cuMemMap");
	must(driver.set_access(at, size, &access, 1), "cuMemSetAccess");
}

int main(void)
{
	CUmemGenericAllocationHandle first, second, retained = 0;
	CUdeviceptr at = 0;

	must(cudaFree(NULL), "cudaFree");
	find_driver();
	must(driver.reserve(&at, 64 * MIB, 0, 0, 0), "cuMemAddressReserve");
	printf("held.reserved=0\n");
	first = create_segment(32 * MIB);
	second = create_segment(16 * MIB);
	map_segment(at, 32 * MIB, first);
	map_segment(at + 32 * MIB, 16 * MIB, second);
	printf("held.mapped=%zu\n", 48 * MIB);
	must(driver.release(first), "cuMemRelease");
	must(driver.release(second), "cuMemRelease");
	printf("held.released=%zu\n", 48 * MIB);
	must(driver.unmap(at, 32 * MIB), "cuMemUnmap");
	printf("held.unmapped_first=%zu\n", 16 * MIB);
	must(driver.retain(&retained, (void *)(uintptr_t)(at + 32 * MIB)), "retain");
	must(driver.unmap(at + 32 * MIB, 16 * MIB), "cuMemUnmap");
	printf("held.retained=%zu\n", 16 * MIB);
	must(driver.release(retained), "cuMemRelease");
	must(driver.address_free(at, 64 * MIB), "cuMemAddressFree");
	create_segment(8 * MIB);
	printf("allocations=3\npeak=%zu\nlive=%zu\n", 48 * MIB, 8 * MIB);
	return 0;
}
