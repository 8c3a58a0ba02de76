/* Scenarios: stream-ordered memory and graphs. Included by rows.c alone. */
#pragma once

#include "rows.h"

/* Pools here give nothing back by themselves: what they reserve falls in calls that nobody hooks.
 */
static void keep_all(CUmemoryPool pool)
{
	cuuint64_t threshold = UINT64_MAX;

	must(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
	     "cuMemPoolSetAttribute");
}

static void prepare_pools(void)
{
	CUmemoryPool pool = NULL;

	for (int device = 0; device < DEVICES; device++) {
		must(cuDeviceGetDefaultMemPool(&pool, device), "cuDeviceGetDefaultMemPool");
		keep_all(pool);
	}
}

static const CUmemPoolProps pool_on_device = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
					       .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };
static const CUmemPoolProps pool_on_host = { .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
					     .location = { CU_MEM_LOCATION_TYPE_HOST, 0 } };
static const CUmemPoolProps pool_managed = { .allocType = CU_MEM_ALLOCATION_TYPE_MANAGED,
					     .location = { CU_MEM_LOCATION_TYPE_DEVICE, 0 } };

static CUmemoryPool pool_of(const CUmemPoolProps *props)
{
	CUmemoryPool pool = NULL;

	must(cuMemPoolCreate(&pool, props), "cuMemPoolCreate");
	keep_all(pool);
	return pool;
}

static CUdeviceptr block_of(CUmemoryPool pool, size_t size)
{
	CUdeviceptr ptr = 0;

	must(cuMemAllocFromPoolAsync(&ptr, size, pool, NULL), "cuMemAllocFromPoolAsync");
	return ptr;
}

/* A pool that holds 32 MiB and has handed out nothing. */
static CUmemoryPool cached_pool(void)
{
	CUmemoryPool pool = pool_of(&pool_on_device);

	must(cuMemFreeAsync(block_of(pool, MIB), NULL), "cuMemFreeAsync");
	return pool;
}

static CUdeviceptr ordered(size_t size)
{
	CUdeviceptr ptr = 0;

	must(cuMemAllocAsync(&ptr, size, NULL), "cuMemAllocAsync");
	return ptr;
}

/* --- blocks -------------------------------------------------------------------------------- */

static void use_cudaMallocAsync(fn_cudaMallocAsync *call)
{
	void *ptr = NULL;

	beneath("cuMemAllocAsync");
	takes("device", 30 * KIB);
	if (!CALL(&ptr, 30 * KIB, NULL))
		cudaFreeAsync(ptr, NULL);
}

static void use_cuMemAllocAsync(fn_cuMemAllocAsync *call)
{
	CUdeviceptr ptr = 0;

	takes("device", 31 * KIB);
	if (!CALL(&ptr, 31 * KIB, NULL))
		cuMemFreeAsync(ptr, NULL);
}

/* Blocks of a pool of managed memory are that. A failed call does not say whose block it was to be.
 */
static void use_cudaMallocFromPoolAsync(fn_cudaMallocFromPoolAsync *call)
{
	CUmemoryPool pool = pool_of(&pool_managed);
	void *ptr = NULL;

	beneath("cuMemAllocFromPoolAsync");
	takes(call_fails() ? "device" : "managed", 32 * KIB);
	if (!CALL(&ptr, 32 * KIB, pool, NULL))
		cudaFreeAsync(ptr, NULL);
	cuMemPoolDestroy(pool);
}

static void use_cuMemAllocFromPoolAsync(fn_cuMemAllocFromPoolAsync *call)
{
	CUmemoryPool pool = pool_of(&pool_on_host);
	CUdeviceptr ptr = 0;

	takes(call_fails() ? "device" : "pinned", 33 * KIB);
	if (!CALL(&ptr, 33 * KIB, pool, NULL))
		cuMemFreeAsync(ptr, NULL);
	cuMemPoolDestroy(pool);
}

static void use_cudaFreeAsync(fn_cudaFreeAsync *call)
{
	CUdeviceptr ptr = ordered(34 * KIB);

	beneath("cuMemFreeAsync");
	gives("device", 34 * KIB);
	if (CALL((void *)(uintptr_t)ptr, NULL))
		cuMemFreeAsync(ptr, NULL);
}

static void use_cuMemFreeAsync(fn_cuMemFreeAsync *call)
{
	CUdeviceptr ptr = ordered(35 * KIB);

	gives("device", 35 * KIB);
	if (CALL(ptr, NULL))
		cuMemFreeAsync(ptr, NULL);
}

/* --- pools --------------------------------------------------------------------------------- */

static void use_cuMemPoolCreate(fn_cuMemPoolCreate *call)
{
	CUmemoryPool pool = NULL;

	if (!CALL(&pool, &pool_on_device))
		cuMemPoolDestroy(pool);
}

static void use_cudaMemPoolCreate(fn_cudaMemPoolCreate *call)
{
	struct cudaMemPoolProps props = { .allocType = cudaMemAllocationTypePinned,
					  .location = { cudaMemLocationTypeDevice, 0 } };
	cudaMemPool_t pool = NULL;

	beneath("cuMemPoolCreate");
	if (!CALL(&pool, &props))
		cudaMemPoolDestroy(pool);
}

/* Its last block keeps it. */
static void use_cuMemPoolDestroy(fn_cuMemPoolDestroy *call)
{
	CUmemoryPool pool = cached_pool();
	CUdeviceptr blocks[] = { block_of(pool, MIB), block_of(pool, MIB) };

	if (CALL(pool))
		cuMemPoolDestroy(pool);
	must(cuMemFreeAsync(blocks[0], NULL), "cuMemFreeAsync");
	check_now();
	must(cuMemFreeAsync(blocks[1], NULL), "cuMemFreeAsync");
	check_now();
}

static void use_cudaMemPoolDestroy(fn_cudaMemPoolDestroy *call)
{
	CUmemoryPool pool = cached_pool();

	beneath("cuMemPoolDestroy");
	if (CALL(pool))
		cuMemPoolDestroy(pool);
}

static void use_cuMemPoolTrimTo(fn_cuMemPoolTrimTo *call)
{
	CUmemoryPool pool = cached_pool();

	CALL(pool, 0);
	cuMemPoolDestroy(pool);
}

static void use_cudaMemPoolTrimTo(fn_cudaMemPoolTrimTo *call)
{
	beneath("cuMemPoolTrimTo");
	use_cuMemPoolTrimTo((fn_cuMemPoolTrimTo *)(void *)call);
}

static void use_cuMemPoolSetAttribute(fn_cuMemPoolSetAttribute *call)
{
	CUmemoryPool pool = cached_pool();
	cuuint64_t threshold = 0;

	CALL(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
	cuMemPoolDestroy(pool);
}

static void use_cudaMemPoolSetAttribute(fn_cudaMemPoolSetAttribute *call)
{
	beneath("cuMemPoolSetAttribute");
	use_cuMemPoolSetAttribute((fn_cuMemPoolSetAttribute *)(void *)call);
}

static void use_cuMemPoolSetAccess(fn_cuMemPoolSetAccess *call)
{
	CUmemAccessDesc access = { .location = { CU_MEM_LOCATION_TYPE_DEVICE, OTHER_DEVICE },
				   .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	CUmemoryPool pool = cached_pool();

	CALL(pool, &access, 1);
	cuMemPoolDestroy(pool);
}

/* --- graphs -------------------------------------------------------------------------------- */

static CUDA_MEM_ALLOC_NODE_PARAMS node_params(size_t size)
{
	return (CUDA_MEM_ALLOC_NODE_PARAMS){ .poolProps = pool_on_device, .bytesize = size };
}

static CUgraph graph_new(void)
{
	CUgraph graph = NULL;

	must(cuGraphCreate(&graph, 0), "cuGraphCreate");
	return graph;
}

/* A graph that allocates and leaves it so; *ptr is where. */
static CUgraphExec allocating_graph(size_t size, CUdeviceptr *ptr)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params = node_params(size);
	CUgraph graph = graph_new();
	CUgraphExec exec = NULL;
	CUgraphNode node;

	must(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params), "cuGraphAddMemAllocNode");
	must(cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
	cuGraphDestroy(graph);
	*ptr = params.dptr;
	return exec;
}

static void graphs_trim(void)
{
	must(cuDeviceGraphMemTrim(0), "cuDeviceGraphMemTrim");
}

/* A node allocates nothing: only a failure for want of memory is told. */
static void use_cuGraphAddMemAllocNode(fn_cuGraphAddMemAllocNode *call)
{
	CUDA_MEM_ALLOC_NODE_PARAMS params = node_params(3 * MIB);
	CUgraph graph = graph_new();
	CUgraphNode node;

	fails_to_take("device", 3 * MIB);
	CALL(&node, graph, NULL, 0, &params);
	cuGraphDestroy(graph);
}

static void use_cudaGraphAddMemAllocNode(fn_cudaGraphAddMemAllocNode *call)
{
	beneath("cuGraphAddMemAllocNode");
	use_cuGraphAddMemAllocNode((fn_cuGraphAddMemAllocNode *)(void *)call);
}

static CUgraphNodeParams any_node_params(size_t size)
{
	CUgraphNodeParams params = { .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC };

	params.alloc.poolProps = pool_on_device;
	params.alloc.bytesize = size;
	return params;
}

static void use_cuGraphAddNode(fn_cuGraphAddNode *call)
{
	CUgraphNodeParams params = any_node_params(4 * MIB);
	CUgraph graph = graph_new();
	CUgraphNode node;

	fails_to_take("device", 4 * MIB);
	CALL(&node, graph, NULL, 0, &params);
	cuGraphDestroy(graph);
}

static void use_cuGraphAddNode_v2(fn_cuGraphAddNode_v2 *call)
{
	CUgraphNodeParams params = any_node_params(5 * MIB);
	CUgraph graph = graph_new();
	CUgraphNode node;

	fails_to_take("device", 5 * MIB);
	CALL(&node, graph, NULL, NULL, 0, &params);
	cuGraphDestroy(graph);
}

/* What the launch allocated is in the sums; a free outside of the graph takes it out again. */
static void use_cuGraphLaunch(fn_cuGraphLaunch *call)
{
	CUdeviceptr ptr;
	CUgraphExec exec = allocating_graph(6 * MIB, &ptr);

	if (!CALL(exec, NULL))
		must(cuMemFreeAsync(ptr, NULL), "cuMemFreeAsync");
	check_now();
	graphs_trim();
	cuGraphExecDestroy(exec);
}

static void use_cudaGraphLaunch(fn_cudaGraphLaunch *call)
{
	beneath("cuGraphLaunch");
	use_cuGraphLaunch((fn_cuGraphLaunch *)(void *)call);
}

static void use_cuGraphUpload(fn_cuGraphUpload *call)
{
	CUdeviceptr ptr;
	CUgraphExec exec = allocating_graph(40 * MIB, &ptr);

	CALL(exec, NULL);
	graphs_trim();
	cuGraphExecDestroy(exec);
}

static void use_cudaGraphUpload(fn_cudaGraphUpload *call)
{
	beneath("cuGraphUpload");
	use_cuGraphUpload((fn_cuGraphUpload *)(void *)call);
}

static void use_cuDeviceGraphMemTrim(fn_cuDeviceGraphMemTrim *call)
{
	CUdeviceptr ptr;
	CUgraphExec exec = allocating_graph(7 * MIB, &ptr);

	must(cuGraphLaunch(exec, NULL), "cuGraphLaunch");
	must(cuMemFree(ptr), "cuMemFree");
	if (CALL(0))
		graphs_trim();
	cuGraphExecDestroy(exec);
}

static void use_cudaDeviceGraphMemTrim(fn_cudaDeviceGraphMemTrim *call)
{
	beneath("cuDeviceGraphMemTrim");
	use_cuDeviceGraphMemTrim((fn_cuDeviceGraphMemTrim *)(void *)call);
}
