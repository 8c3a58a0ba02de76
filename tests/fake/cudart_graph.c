/* The simulated runtime: graphs. */
#include "cudart.h"

_Static_assert(sizeof(struct cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
	       "same layout");

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags)
{
	cudaError_t error = runtime_load();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuGraphCreate(graph, flags));
	return runtime_leave(error);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	cudaError_t error = runtime_load();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuGraphDestroy(graph));
	return runtime_leave(error);
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
				     const cudaGraphNode_t *after, size_t count,
				     struct cudaMemAllocNodeParams *params)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuGraphAddMemAllocNode(
			node, graph, after, count, (CUDA_MEM_ALLOC_NODE_PARAMS *)params));
	return runtime_leave(error);
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
				    const cudaGraphNode_t *after, size_t count, void *ptr)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuGraphAddMemFreeNode(node, graph, after, count,
								      (CUdeviceptr)(uintptr_t)ptr));
	return runtime_leave(error);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuGraphInstantiate(exec, graph, flags));
	return runtime_leave(error);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuGraphUpload(exec, stream));
	return runtime_leave(error);
}

cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuGraphUpload_ptsz(exec, stream));
	return runtime_leave(error);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuGraphLaunch(exec, stream));
	return runtime_leave(error);
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
	cudaError_t error = runtime_enter();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuGraphLaunch_ptsz(exec, stream));
	return runtime_leave(error);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	cudaError_t error = runtime_load();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuGraphExecDestroy(exec));
	return runtime_leave(error);
}

cudaError_t cudaDeviceGraphMemTrim(int device)
{
	cudaError_t error = runtime_load();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuDeviceGraphMemTrim(device));
	return runtime_leave(error);
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute,
					   void *value)
{
	cudaError_t error = runtime_load();

	if (error == cudaSuccess)
		error = error_of(runtime_driver.cuDeviceGetGraphMemAttribute(
			device, (CUgraphMem_attribute)attribute, value));
	return runtime_leave(error);
}
