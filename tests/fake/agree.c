/*
 * What a CUDA driver and runtime answer in the corners, one fact a line.
 *
 * Run against a GPU and against the simulation it must print the same: agree.expected holds what
 * an H200 (driver 580, CUDA 13.0) printed. A corner that the simulation gets wrong is added here
 * first. Facts that depend on the card (sizes of the context, its name) are not printed.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

static void say(const char *fact, long long value)
{
	printf("%s=%lld\n", fact, value);
	fflush(stdout); /* a child made by fork must not print it again */
}

static void *driver_library(void)
{
	return dlopen("libcuda.so.1", RTLD_NOW);
}

/* One question to cuGetProcAddress: what came back, and which symbol the pointer is. */
static void ask(const char *name, int version, cuuint64_t flags, const char *symbol)
{
	__typeof__(cuGetProcAddress) *lookup =
		(__typeof__(lookup))dlsym(driver_library(), "cuGetProcAddress_v2");
	void *found = (void *)1;
	CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)77;
	CUresult result = lookup(name, &found, version, flags, &status);

	printf("lookup %s %d %d=%d status %d", name, version, (int)flags, result, (int)status);
	if (symbol)
		printf(" is %s %s", symbol,
		       found == dlsym(driver_library(), symbol) ? "yes" : "no");
	else
		printf(" pointer %s", found ? "kept" : "null");
	printf("\n");
}

static void lookups(void)
{
	typedef CUresult lookup_v1_fn(const char *, void **, int, cuuint64_t);
	lookup_v1_fn *lookup_v1 = (lookup_v1_fn *)dlsym(driver_library(), "cuGetProcAddress");
	void *found = (void *)1;

	ask("", 2000, 0, NULL);
	ask("cuNoSuchThing", 13000, 0, NULL);
	ask("cuMemAlloc_v2", 13000, 0, NULL);
	ask("cuMemAllocAsync", 11010, 0, NULL);
	ask("cuMemAlloc", 1000, 0, NULL);
	ask("cuMemAlloc", 99000, 0, NULL);
	ask("cuMemAlloc", 2000, 0, "cuMemAlloc");
	ask("cuMemAlloc", 3010, 0, "cuMemAlloc");
	ask("cuMemAlloc", 3020, 0, "cuMemAlloc_v2");
	ask("cuMemAlloc", 13000, 2, "cuMemAlloc_v2");
	ask("cuMemFree", 3020, 0, "cuMemFree_v2");
	ask("cuMemAllocAsync", 11020, 0, "cuMemAllocAsync");
	ask("cuMemAllocAsync", 11020, 1, "cuMemAllocAsync");
	ask("cuMemAllocAsync", 11020, 2, "cuMemAllocAsync_ptsz");
	ask("cuMemFreeAsync", 13000, 2, "cuMemFreeAsync_ptsz");
	ask("cuMemAllocFromPoolAsync", 13000, 2, "cuMemAllocFromPoolAsync_ptsz");
	ask("cuGetProcAddress", 11030, 0, "cuGetProcAddress");
	ask("cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2");
	ask("cuMemHostRegister", 4000, 0, "cuMemHostRegister");
	ask("cuMemHostRegister", 6050, 0, "cuMemHostRegister_v2");
	ask("cuMemGetInfo", 3020, 0, "cuMemGetInfo_v2");
	ask("cuDevicePrimaryCtxReset", 7000, 0, "cuDevicePrimaryCtxReset");
	ask("cuDevicePrimaryCtxReset", 11000, 0, "cuDevicePrimaryCtxReset_v2");
	ask("cuCtxCreate", 3020, 0, "cuCtxCreate_v2");
	ask("cuCtxCreate", 13000, 0, "cuCtxCreate_v4");
	ask("cuDeviceGetUuid", 9020, 0, "cuDeviceGetUuid");
	ask("cuDeviceGetUuid", 11040, 0, "cuDeviceGetUuid_v2");
	ask("cuMemHostAlloc", 2020, 0, "cuMemHostAlloc");
	ask("cuMemCreate", 10020, 0, "cuMemCreate");
	ask("cuStreamBeginCapture", 10010, 0, "cuStreamBeginCapture_v2");
	ask("cuIpcOpenMemHandle", 4010, 0, "cuIpcOpenMemHandle");
	ask("cuIpcOpenMemHandle", 11000, 0, "cuIpcOpenMemHandle_v2");
	ask("cuGraphAddNode", 12020, 0, "cuGraphAddNode");
	ask("cuGraphAddNode", 12030, 0, "cuGraphAddNode_v2");
	ask("cuGraphLaunch", 13000, 0, "cuGraphLaunch");
	ask("cuGraphLaunch", 13000, 2, "cuGraphLaunch_ptsz");
	ask("cuGraphUpload", 13000, 2, "cuGraphUpload_ptsz");
	ask("cuMemMapArrayAsync", 13000, 2, "cuMemMapArrayAsync_ptsz");
	ask("cuCtxCreate", 11040, 0, "cuCtxCreate_v3");
	ask("cuCtxDestroy", 2000, 0, "cuCtxDestroy");
	ask("cuCtxDestroy", 4000, 0, "cuCtxDestroy_v2");
	ask("cuDevicePrimaryCtxRelease", 7000, 0, "cuDevicePrimaryCtxRelease");
	ask("cuDevicePrimaryCtxRelease", 11000, 0, "cuDevicePrimaryCtxRelease_v2");
	ask("cuArray3DCreate", 3020, 0, "cuArray3DCreate_v2");
	ask("cuMemImportFromShareableHandle", 10020, 0, "cuMemImportFromShareableHandle");
	ask("cuMulticastCreate", 12010, 0, "cuMulticastCreate");
	say("lookup_v1.unknown", lookup_v1("cuNoSuchThing", &found, 13000, 0));
	say("lookup_v1.unknown.null", !found);
}

/* Before cuInit, and with no context. */
static void bare_driver(void)
{
	CUdeviceptr ptr;
	CUcontext context = (CUcontext)1;
	CUdevice device;
	int count;

	say("alloc.before_init", cuMemAlloc(&ptr, MIB));
	say("count.before_init", cuDeviceGetCount(&count));
	say("init", cuInit(0));
	say("alloc.no_context", cuMemAlloc(&ptr, MIB));
	say("free_null.no_context", cuMemFree(0));
	say("free.no_context", cuMemFree(4096));
	say("current.no_context", cuCtxGetCurrent(&context));
	say("current.no_context.null", !context);
	say("ctx_device.no_context", cuCtxGetDevice(&device));
	say("device.bad", cuDeviceGet(&device, 1000));
}

/* Which bytes each attribute writes, and those that are not addresses. */
static void attributes(const char *whose, CUdeviceptr ptr)
{
	static const int asked[] = { 1, 2, 3, 4, 7, 8, 9, 11, 12, 13, 17 };

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		unsigned char low[16], high[16];
		CUresult status;
		int width = 0;

		memset(low, 0, sizeof(low));
		memset(high, 0xff, sizeof(high));
		status = cuPointerGetAttribute(low, (CUpointer_attribute)asked[i], ptr);
		cuPointerGetAttribute(high, (CUpointer_attribute)asked[i], ptr);
		while (width < 16 && low[width] == high[width])
			width++;
		printf("%s.attribute %d=%d width %d", whose, asked[i], status, width);
		if (width && width <= 4)
			printf(" value %d", low[0]);
		printf("\n");
	}
}

static void plain(void)
{
	CUdeviceptr a = 0, b = 0, base = 0;
	size_t size = 0, pitch = 0, before, after, total;
	void *kept = (void *)0x77;
	unsigned int word = 0;

	say("alloc.zero", cuMemAlloc(&a, 0));
	say("alloc.null", cuMemAlloc(NULL, 1));
	say("alloc.huge", cuMemAlloc(&a, (size_t)1 << 46));
	say("free.unknown", cuMemFree(0x1234000));
	cuMemAlloc(&a, 1000);
	cuMemAlloc(&b, 1000);
	say("alloc.align", (long long)(a % 512));
	say("alloc.small_share_granule", a / (2 * MIB) == b / (2 * MIB));
	say("free.inside", cuMemFree(a + 512));
	say("range", cuMemGetAddressRange(&base, &size, a + 10));
	say("range.base", base == a);
	say("range.size", (long long)size);
	say("range.unknown", cuMemGetAddressRange(&base, &size, 0x1234000));
	say("attribute.type", cuPointerGetAttribute(&word, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
	say("attribute.type.value", word);
	attributes("plain", a);
	say("attribute.unknown",
	    cuPointerGetAttribute(&word, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0x1234000));
	say("free", cuMemFree(a));
	say("free.twice", cuMemFree(a));
	cuMemFree(b);
	cuMemGetInfo(&before, &total);
	cuMemAlloc(&a, 5 * MIB);
	cuMemGetInfo(&after, &total);
	say("used.5MiB", (long long)(before - after));
	cuMemFree(a);
	cuMemAlloc(&b, 5 * MIB);
	say("address_reused", a == b);
	cuMemFree(b);
	say("pitch", cuMemAllocPitch(&a, &pitch, 1000, 4, 4));
	say("pitch.pitch", (long long)pitch);
	cuMemFree(a);
	say("malloc.zero", cudaMalloc(&kept, 0));
	say("malloc.zero.null", !kept);
	say("malloc.huge", cudaMalloc(&kept, (size_t)1 << 46));
	say("last_error.peek", cudaPeekAtLastError());
	say("last_error", cudaGetLastError());
	say("last_error.cleared", cudaGetLastError());
	say("runtime_free.unknown", cudaFree((void *)0x1234000));
	cudaGetLastError();
	say("runtime_free.null", cudaFree(NULL));
}

static void host(void)
{
	void *ptr = (void *)0x77;
	CUdeviceptr managed = 0;
	unsigned int word = 0;
	char *mine = aligned_alloc(4096, 65536);

	say("host.zero", cuMemHostAlloc(&ptr, 0, 0));
	say("host.zero.kept", ptr == (void *)0x77);
	say("runtime_host.zero", cudaMallocHost(&ptr, 0));
	say("runtime_host.zero.null", !ptr);
	cudaGetLastError();
	say("host", cuMemHostAlloc(&ptr, 1000, 0));
	memset(ptr, 1, 1000);
	cuPointerGetAttribute(&word, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)ptr);
	say("host.type", word);
	attributes("host", (CUdeviceptr)(uintptr_t)ptr);
	say("host.device_free", cuMemFree((CUdeviceptr)(uintptr_t)ptr));
	say("host.free", cuMemFreeHost(ptr));
	say("host.free_twice", cuMemFreeHost(ptr));
	say("host.free_null", cuMemFreeHost(NULL));
	say("runtime_host.free_null", cudaFreeHost(NULL));
	cudaGetLastError();
	say("managed.zero", cuMemAllocManaged(&managed, 0, CU_MEM_ATTACH_GLOBAL));
	say("managed.flags", cuMemAllocManaged(&managed, 1000, 0));
	say("managed", cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
	memset((void *)(uintptr_t)managed, 1, 1000);
	word = 0;
	cuPointerGetAttribute(&word, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed);
	say("managed.is_managed", word & 1);
	attributes("managed", managed);
	say("managed.free_host", cuMemFreeHost((void *)(uintptr_t)managed));
	say("managed.free", cuMemFree(managed));
	say("register", cuMemHostRegister(mine, 65536, 0));
	say("register.again", cuMemHostRegister(mine, 65536, 0));
	say("register.free_host", cuMemFreeHost(mine));
	say("unregister", cuMemHostUnregister(mine));
	say("unregister.again", cuMemHostUnregister(mine));
	free(mine);
}

static long long pool_figure(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	cuuint64_t value = 0;

	cuMemPoolGetAttribute(pool, attribute, &value);
	return (long long)value;
}

static CUresult set_figure(CUmemoryPool pool, CUmemPool_attribute attribute, cuuint64_t value)
{
	return cuMemPoolSetAttribute(pool, attribute, &value);
}

static void pools(CUdevice device)
{
	CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				 .location = { CU_MEM_LOCATION_TYPE_DEVICE, device } };
	CUmemoryPool standard = NULL, pool = NULL;
	CUdeviceptr a = 0, b = 0, plain_ptr = 0;
	size_t size = 0;

	cuDeviceGetDefaultMemPool(&standard, device);
	say("pool.destroy_default", cuMemPoolDestroy(standard));
	say("pool.create", cuMemPoolCreate(&pool, &props));
	say("pool.threshold", pool_figure(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD));
	a = 1;
	say("async.zero", cuMemAllocFromPoolAsync(&a, 0, pool, NULL));
	say("async.zero.address", a != 0);
	say("async.huge", cuMemAllocFromPoolAsync(&a, (size_t)1 << 46, pool, NULL));
	say("async", cuMemAllocFromPoolAsync(&a, 1000, pool, NULL));
	say("async.used", pool_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
	say("async.reserved", pool_figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
	cuMemAllocFromPoolAsync(&b, 40 * MIB + 1, pool, NULL);
	say("async.used_more", pool_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
	say("async.reserved_more", pool_figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
	say("async.free", cuMemFreeAsync(b, NULL));
	cuStreamSynchronize(NULL);
	say("async.used_after", pool_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
	say("async.reserved_after", pool_figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
	say("async.used_high", pool_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
	say("async.reserved_high", pool_figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH));
	say("async.plain_free", cuMemFree(a));
	say("async.used_empty", pool_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
	say("async.reserved_empty", pool_figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
	set_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0);
	say("async.used_high_reset", pool_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
	say("async.used_high_set", set_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, 5));
	set_figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 0);
	say("async.reserved_high_reset", pool_figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH));
	cuMemAllocFromPoolAsync(&a, 3000, pool, NULL);
	say("async.used_high_grown", pool_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
	say("async.range", cuMemGetAddressRange(&b, &size, a));
	say("async.range.size", (long long)size);
	attributes("async", a);
	cuMemFreeAsync(a, NULL);
	cuStreamSynchronize(NULL);
	set_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, 0);
	say("async.used_high_reset_idle", pool_figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH));
	set_figure(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, 64 * MIB);
	cuMemAllocFromPoolAsync(&a, 48 * MIB, pool, NULL);
	cuMemFreeAsync(a, NULL);
	cuStreamSynchronize(NULL);
	say("async.kept", pool_figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
	say("async.trim", cuMemPoolTrimTo(pool, 0));
	say("async.trimmed", pool_figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT));
	cuMemAlloc(&plain_ptr, MIB);
	say("async.free_of_plain", cuMemFreeAsync(plain_ptr, NULL));
	cuCtxSynchronize();
	say("async.free_of_plain.then_free", cuMemFree(plain_ptr));
	say("async.free_unknown", cuMemFreeAsync(0x1234000, NULL));
	say("async.free_null", cuMemFreeAsync(0, NULL));
	say("pool.destroy", cuMemPoolDestroy(pool));
}

/* Four attributes at a time: what memtrace asks of a block. */
static void block_attributes(const char *whose, CUdeviceptr ptr)
{
	CUpointer_attribute asked[] = { CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
					CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
					CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
					CU_POINTER_ATTRIBUTE_IS_MANAGED };
	CUmemoryPool pool = (CUmemoryPool)1;
	unsigned int type = 77, managed = 0;
	int device = 77;
	void *data[] = { &pool, &device, &type, &managed };
	CUresult status = cuPointerGetAttributes(4, asked, data, ptr);

	printf("%s.attributes=%d pool %d device %d type %u managed %u\n", whose, status,
	       pool != NULL, device, type, managed & 0xff);
	fflush(stdout);
}

/* Pools of other memory, and one that is destroyed while a block of it lives. */
static void other_pools(CUdevice device)
{
	CUmemPoolProps props = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				 .location = { CU_MEM_LOCATION_TYPE_DEVICE, device } };
	CUmemoryPool pool = NULL;
	CUdeviceptr ptr = 0, other = 0;
	size_t before, held, after, total;

	cuMemGetInfo(&before, &total);
	cuMemPoolCreate(&pool, &props);
	cuMemAllocFromPoolAsync(&ptr, 40 * MIB, pool, NULL);
	cuMemAllocFromPoolAsync(&other, MIB, pool, NULL);
	cuCtxSynchronize();
	block_attributes("pool.block", ptr);
	cuMemGetInfo(&held, &total);
	say("pool.held", (long long)(before - held));
	say("pool.destroy_in_use", cuMemPoolDestroy(pool));
	cuMemGetInfo(&after, &total);
	say("pool.destroy_in_use.held", (long long)(before - after));
	say("pool.destroy_in_use.free", cuMemFreeAsync(ptr, NULL));
	cuCtxSynchronize();
	cuMemGetInfo(&after, &total);
	say("pool.destroy_in_use.half_held", (long long)(before - after));
	say("pool.destroy_in_use.last_free", cuMemFreeAsync(other, NULL));
	cuCtxSynchronize();
	cuMemGetInfo(&after, &total);
	say("pool.destroy_in_use.all_free", (long long)(before - after));
	props.location.type = CU_MEM_LOCATION_TYPE_HOST;
	props.location.id = 0;
	say("pool.host", cuMemPoolCreate(&pool, &props));
	say("pool.host.alloc", cuMemAllocFromPoolAsync(&ptr, MIB, pool, NULL));
	block_attributes("pool.host.block", ptr);
	cuMemFreeAsync(ptr, NULL);
	cuMemPoolDestroy(pool);
	props.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
	props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	props.location.id = device;
	say("pool.managed", cuMemPoolCreate(&pool, &props));
	say("pool.managed.alloc", cuMemAllocFromPoolAsync(&ptr, MIB, pool, NULL));
	block_attributes("pool.managed.block", ptr);
	cuMemFreeAsync(ptr, NULL);
	cuMemPoolDestroy(pool);
}

static void virtual_memory(CUdevice device)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
				     .location = { CU_MEM_LOCATION_TYPE_DEVICE, device } };
	CUmemAccessDesc access = { .location = { CU_MEM_LOCATION_TYPE_DEVICE, device },
				   .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	CUmemGenericAllocationHandle handle = 0, again = 0;
	CUdeviceptr ptr = 0, base = 0;
	size_t size = 0, granularity = 0, before, held, after, total;

	cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
	say("vmm.granularity", (long long)granularity);
	say("vmm.odd_size", cuMemCreate(&handle, 1000, &prop, 0));
	say("vmm.zero", cuMemCreate(&handle, 0, &prop, 0));
	say("vmm.huge", cuMemCreate(&handle, (size_t)1 << 46, &prop, 0));
	say("vmm.reserve", cuMemAddressReserve(&ptr, 64 * MIB, 0, 0, 0));
	cuMemGetInfo(&before, &total);
	say("vmm.create", cuMemCreate(&handle, 32 * MIB, &prop, 0));
	cuMemGetInfo(&held, &total);
	say("vmm.create.used", (long long)(before - held));
	say("vmm.map", cuMemMap(ptr, 32 * MIB, 0, handle, 0));
	say("vmm.map.overlap", cuMemMap(ptr, 32 * MIB, 0, handle, 0));
	say("vmm.map.outside", cuMemMap(ptr + 64 * MIB, 32 * MIB, 0, handle, 0));
	say("vmm.release", cuMemRelease(handle));
	cuMemGetInfo(&after, &total);
	say("vmm.release.held_by_mapping", after == held);
	say("vmm.retain", cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)ptr));
	say("vmm.retain.same", again == handle);
	attributes("vmm", ptr);
	say("vmm.range", cuMemGetAddressRange(&base, &size, ptr));
	say("vmm.range.size", (long long)size);
	say("vmm.access", cuMemSetAccess(ptr, 32 * MIB, &access, 1));
	attributes("vmm.accessible", ptr);
	say("vmm.accessible.range", cuMemGetAddressRange(&base, &size, ptr + 4 * MIB));
	say("vmm.accessible.range.size", (long long)size);
	say("vmm.accessible.range.base", base == ptr);
	say("vmm.plain_free", cuMemFree(ptr));
	say("vmm.unmap.half", cuMemUnmap(ptr, 16 * MIB));
	say("vmm.unmap", cuMemUnmap(ptr, 32 * MIB));
	cuMemGetInfo(&after, &total);
	say("vmm.unmap.held_by_retain", after == held);
	say("vmm.release.last", cuMemRelease(again));
	cuMemGetInfo(&after, &total);
	say("vmm.release.last.given_back", (long long)(after - held));
	say("vmm.address_free.part", cuMemAddressFree(ptr, 32 * MIB));
	say("vmm.address_free", cuMemAddressFree(ptr, 64 * MIB));
}

static void capture(void)
{
	CUstream stream = NULL;
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
	CUdeviceptr ptr = 0;
	CUgraph graph = NULL;
	size_t before, after, total;

	cuStreamCreate(&stream, 1);
	cuStreamIsCapturing(stream, &status);
	say("capture.none", status);
	cuMemGetInfo(&before, &total);
	say("capture.begin", cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	cuStreamIsCapturing(stream, &status);
	say("capture.active", status);
	say("capture.alloc", cuMemAllocAsync(&ptr, 4 * MIB, stream));
	say("capture.alloc.address", ptr != 0);
	say("capture.free", cuMemFreeAsync(ptr, stream));
	say("capture.synchronize", cuStreamSynchronize(stream));
	say("capture.end", cuStreamEndCapture(stream, &graph));
	cuStreamDestroy(stream);
	cuStreamCreate(&stream, 1);
	say("capture.begin_again", cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	cuMemAllocAsync(&ptr, 4 * MIB, stream);
	cuMemFreeAsync(ptr, stream);
	say("capture.end_again", cuStreamEndCapture(stream, &graph));
	say("capture.graph", graph != NULL);
	cuMemGetInfo(&after, &total);
	say("capture.used", (long long)(before - after));
	say("capture.end_none", cuStreamEndCapture(stream, &graph));
	cuStreamDestroy(stream);
}

static long long graph_figure(CUdevice device, CUgraphMem_attribute attribute)
{
	cuuint64_t value = 0;

	cuDeviceGetGraphMemAttribute(device, attribute, &value);
	return (long long)value;
}

static void graph_state(const char *when, CUdevice device)
{
	cuCtxSynchronize();
	printf("graph.%s used %lld reserved %lld\n", when,
	       graph_figure(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT),
	       graph_figure(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT));
	fflush(stdout);
}

/* When a graph's memory is taken, and when it is given back. */
static void graphs(CUdevice device)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params = {
		.poolProps = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			       .location = { CU_MEM_LOCATION_TYPE_DEVICE, device } },
		.bytesize = 4 * MIB,
	};
	CUgraphNode alloc = NULL, give = NULL;
	CUgraph graph = NULL, freeing = NULL;
	CUgraphExec exec = NULL, freeing_exec = NULL;
	CUdeviceptr kept = 0;
	size_t size = 0;

	cuDeviceGraphMemTrim(device);
	cuGraphCreate(&graph, 0);
	say("graph.node", cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
	kept = params.dptr;
	say("graph.node.address", kept != 0);
	graph_state("made", device);
	say("graph.instantiate", cuGraphInstantiate(&exec, graph, 0));
	graph_state("instantiated", device);
	say("graph.upload", cuGraphUpload(exec, NULL));
	graph_state("uploaded", device);
	say("graph.launch", cuGraphLaunch(exec, NULL));
	graph_state("launched", device);
	say("graph.range", cuMemGetAddressRange(NULL, &size, kept));
	say("graph.range.size", (long long)size);
	say("graph.launch_again", cuGraphLaunch(exec, NULL));
	say("graph.free", cuMemFreeAsync(kept, NULL));
	graph_state("freed", device);
	say("graph.launch_after_free", cuGraphLaunch(exec, NULL));
	graph_state("launched_again", device);
	say("graph.plain_free", cuMemFree(kept));
	graph_state("freed_again", device);
	cuGraphCreate(&freeing, 0);
	params.bytesize = 16 * MIB;
	cuGraphAddMemAllocNode(&alloc, freeing, NULL, 0, &params);
	say("graph.free_node", cuGraphAddMemFreeNode(&give, freeing, &alloc, 1, params.dptr));
	cuGraphInstantiate(&freeing_exec, freeing, 0);
	say("graph.freeing.launch", cuGraphLaunch(freeing_exec, NULL));
	graph_state("freeing", device);
	say("graph.trim.in_use", cuDeviceGraphMemTrim(device));
	graph_state("trimmed_in_use", device);
	cuGraphExecDestroy(exec);
	cuGraphExecDestroy(freeing_exec);
	cuGraphDestroy(graph);
	cuGraphDestroy(freeing);
	graph_state("destroyed", device);
	say("graph.trim", cuDeviceGraphMemTrim(device));
	graph_state("trimmed", device);
}

/* What a process can do with its own exports. */
static void sharing(CUdevice device)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, device },
	};
	CUmemGenericAllocationHandle mine = 0, again = 0;
	CUipcMemHandle handle;
	CUdeviceptr ptr = 0, opened = 0;
	size_t before, after, total;
	int fd = -1;

	cuMemAlloc(&ptr, 4 * MIB);
	say("ipc.get", cuIpcGetMemHandle(&handle, ptr));
	say("ipc.get.inside", cuIpcGetMemHandle(&handle, ptr + MIB));
	say("ipc.get.unknown", cuIpcGetMemHandle(&handle, 0x1234000));
	cuIpcGetMemHandle(&handle, ptr);
	say("ipc.open_own",
	    cuIpcOpenMemHandle(&opened, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	say("ipc.close_own", cuIpcCloseMemHandle(ptr));
	cuMemFree(ptr);
	cuMemGetInfo(&before, &total);
	say("share.create", cuMemCreate(&mine, 2 * MIB, &prop, 0));
	say("share.export",
	    cuMemExportToShareableHandle(&fd, mine, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	say("share.import",
	    cuMemImportFromShareableHandle(&again, (void *)(intptr_t)fd,
					   CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	say("share.import.same_handle", again == mine);
	say("share.release", cuMemRelease(mine));
	cuMemGetInfo(&after, &total);
	say("share.release.held", (long long)(before - after));
	say("share.release_import", cuMemRelease(again));
	close(fd);
	cuMemGetInfo(&after, &total);
	say("share.closed.held", (long long)(before - after));
}

/* What the card gives for an array of 16 bytes a texel, in units of its granule. */
static void array_use(const char *fact, size_t width, size_t height, size_t depth)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = { .Width = width,
					  .Height = height,
					  .Depth = depth,
					  .Format = CU_AD_FORMAT_FLOAT,
					  .NumChannels = 4 };
	CUarray array = NULL;
	size_t before, after, total;

	cuMemGetInfo(&before, &total);
	cuArray3DCreate(&array, &shape);
	cuMemGetInfo(&after, &total);
	say(fact, (long long)(before - after));
	cuArrayDestroy(array);
}

static void arrays(void)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = { .Width = 64,
					  .Height = 64,
					  .Depth = 0,
					  .Format = CU_AD_FORMAT_FLOAT,
					  .NumChannels = 4 };
	CUarray array = NULL;

	say("array", cuArray3DCreate(&array, &shape));
	say("array.destroy", cuArrayDestroy(array));
	shape.Width = 0;
	say("array.zero", cuArray3DCreate(&array, &shape));
	shape.Width = 64;
	shape.NumChannels = 3;
	say("array.three_channels", cuArray3DCreate(&array, &shape));
	shape.NumChannels = 4;
	array_use("array.4MiB", 512, 512, 0);
	array_use("array.64MiB", 2048, 2048, 0);
	array_use("array.64MiB_volume", 256, 256, 64);
	array_use("array.odd", 1000, 1000, 0);
}

static void mipmaps(void)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = {
		.Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 4
	};
	CUmipmappedArray mipmap = NULL;
	CUarray array = NULL;

	say("mipmap", cuMipmappedArrayCreate(&mipmap, &shape, 7));
	say("mipmap.destroy", cuMipmappedArrayDestroy(mipmap));
	shape.Flags = CUDA_ARRAY3D_DEFERRED_MAPPING;
	say("array.deferred", cuArray3DCreate(&array, &shape));
	say("array.deferred.destroy", cuArrayDestroy(array));
	shape.Flags = CUDA_ARRAY3D_CUBEMAP;
	shape.Depth = 6;
	say("array.cube", cuArray3DCreate(&array, &shape));
	say("array.cube.destroy", cuArrayDestroy(array));
}

/* What a context takes along: each is freed after it, which only survivors allow. */
static void context_ends(CUdevice device)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
				     .location = { CU_MEM_LOCATION_TYPE_DEVICE, device } };
	CUcontext context = NULL, before = NULL;
	CUmemGenericAllocationHandle handle = 0;
	CUdeviceptr plain_ptr = 0, managed = 0, ordered = 0;
	char *mine = aligned_alloc(4096, 65536);
	void *pinned = NULL;
	size_t size = 0;

	cuCtxGetCurrent(&before);
	cuCtxCreate(&context, NULL, 0, device);
	cuMemAlloc(&plain_ptr, MIB);
	cuMemAllocManaged(&managed, MIB, CU_MEM_ATTACH_GLOBAL);
	cuMemHostAlloc(&pinned, MIB, 0);
	cuMemHostRegister(mine, 65536, 0);
	cuMemAllocAsync(&ordered, MIB, NULL);
	cuMemCreate(&handle, 2 * MIB, &prop, 0);
	say("ends.range.host", cuMemGetAddressRange(NULL, &size, (CUdeviceptr)(uintptr_t)pinned));
	say("ends.range.managed", cuMemGetAddressRange(NULL, &size, managed));
	say("ends.destroy", cuCtxDestroy(context));
	cuCtxSetCurrent(NULL);
	say("ends.range.no_context", cuMemGetAddressRange(NULL, &size, plain_ptr));
	cuCtxSetCurrent(before);
	say("ends.range.plain", cuMemGetAddressRange(NULL, &size, plain_ptr));
	say("ends.range.managed_after", cuMemGetAddressRange(NULL, &size, managed));
	say("ends.range.host_after",
	    cuMemGetAddressRange(NULL, &size, (CUdeviceptr)(uintptr_t)pinned));
	say("ends.free.plain", cuMemFree(plain_ptr));
	say("ends.free.managed", cuMemFree(managed));
	say("ends.free.host", cuMemFreeHost(pinned));
	say("ends.free.registered", cuMemHostUnregister(mine));
	say("ends.free.ordered", cuMemFreeAsync(ordered, NULL));
	say("ends.free.handle", cuMemRelease(handle));
	free(mine);
}

/* Primary contexts: whether the last release is what ends one. */
static void primary_ends(CUdevice device)
{
	CUcontext context = NULL;
	unsigned int flags = 0;
	int active = 77;

	cuDevicePrimaryCtxGetState(device, &flags, &active);
	say("primary.active", active);
	cuDevicePrimaryCtxRetain(&context, device);
	say("primary.release", cuDevicePrimaryCtxRelease(device));
	cuDevicePrimaryCtxGetState(device, &flags, &active);
	say("primary.release.active", active);
	say("primary.reset", cuDevicePrimaryCtxReset(device));
	cuDevicePrimaryCtxGetState(device, &flags, &active);
	say("primary.reset.active", active);
	say("primary.release_unretained", cuDevicePrimaryCtxRelease(device));
}

static void endings(CUdevice device)
{
	CUcontext context = NULL, current = NULL, before = NULL;
	CUmemoryPool standard = NULL;
	CUdeviceptr ptr = 0, ordered = 0;
	void *block = NULL;

	cuCtxGetCurrent(&before);
	say("ctx.create", cuCtxCreate(&context, NULL, 0, device));
	cuCtxGetCurrent(&current);
	say("ctx.create.current", current == context);
	cuMemAlloc(&ptr, MIB);
	say("ctx.destroy", cuCtxDestroy(context));
	cuCtxGetCurrent(&current);
	say("ctx.destroy.current_left", current != context);
	say("ctx.destroy.current", cuCtxSetCurrent(before));
	say("ctx.destroy.frees", cuMemFree(ptr));
	cudaMalloc(&block, MIB);
	cuDeviceGetDefaultMemPool(&standard, device);
	cuMemAllocAsync(&ordered, MIB, NULL);
	say("reset.before", pool_figure(standard, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
	say("reset", cudaDeviceReset());
	say("reset.free_of_plain", cudaFree(block));
	cudaGetLastError();
	say("reset.ordered_survives", pool_figure(standard, CU_MEMPOOL_ATTR_USED_MEM_CURRENT));
	say("reset.free_of_ordered", cudaFree((void *)(uintptr_t)ordered));
}

/* A child of a process that has used CUDA cannot. */
static void child(void)
{
	CUdeviceptr ptr = 0;
	int status = 0;

	if (!fork())
		_exit(cuMemAlloc(&ptr, MIB));
	wait(&status);
	say("fork.child", WEXITSTATUS(status));
}

int main(void)
{
	CUdevice device = 0;

	lookups();
	bare_driver();
	cudaSetDevice(device);
	plain();
	host();
	pools(device);
	other_pools(device);
	virtual_memory(device);
	capture();
	graphs(device);
	sharing(device);
	arrays();
	mipmaps();
	context_ends(device);
	endings(device);
	primary_ends(device);
	child();
	return 0;
}
