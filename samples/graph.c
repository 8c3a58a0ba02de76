/*
 * A graph that was captured allocates 16 MiB and frees them, another one leaves 4 MiB allocated.
 *
 * Launching takes the memory without a call that says so. What graphs hold only the driver knows:
 * it is asked for, not counted.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define LAUNCHES 5
#define NOINLINE __attribute__((noinline))

NOINLINE cudaGraphExec_t capture_step(cudaStream_t stream);
NOINLINE cudaGraphExec_t build_result(void **result);

static void must(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "graph: %s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
	cudaGraphExec_t exec = NULL;

	must(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
	must(cudaGraphDestroy(graph), "cudaGraphDestroy");
	return exec;
}

/* While the stream captures no memory is allocated: nodes are made that will. */
cudaGraphExec_t capture_step(cudaStream_t stream)
{
	cudaGraph_t graph = NULL;
	void *ptr = NULL;

	must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "begin");
	must(cudaMallocAsync(&ptr, 16 * MIB, stream), "cudaMallocAsync");
	must(cudaFreeAsync(ptr, stream), "cudaFreeAsync");
	must(cudaStreamEndCapture(stream, &graph), "end");
	return instantiate(graph);
}

cudaGraphExec_t build_result(void **result)
{
	struct cudaMemAllocNodeParams params = {
		.poolProps = { .allocType = cudaMemAllocationTypePinned,
			       .location = { cudaMemLocationTypeDevice, 0 } },
		.bytesize = 4 * MIB,
	};
	cudaGraphNode_t node = NULL;
	cudaGraph_t graph = NULL;

	must(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
	must(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &params), "cudaGraphAddMemAllocNode");
	*result = params.dptr;
	return instantiate(graph);
}

static unsigned long long asked(enum cudaGraphMemAttributeType attribute)
{
	unsigned long long value = 0;

	must(cudaDeviceGetGraphMemAttribute(0, attribute, &value), "attribute");
	return value;
}

static void print_state(const char *when)
{
	printf("graph.%s.reserved=%llu\n", when, asked(cudaGraphMemAttrReservedMemCurrent));
	printf("graph.%s.used=%llu\n", when, asked(cudaGraphMemAttrUsedMemCurrent));
}

int main(void)
{
	cudaGraphExec_t step, leaving;
	cudaStream_t stream = NULL;
	void *result = NULL;

	must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
	step = capture_step(stream);
	leaving = build_result(&result);
	print_state("made");
	for (int launch = 0; launch < LAUNCHES; launch++) {
		must(cudaGraphLaunch(step, stream), "cudaGraphLaunch");
		must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
	}
	must(cudaGraphLaunch(leaving, stream), "cudaGraphLaunch");
	must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
	print_state("launched");
	must(cudaFreeAsync(result, stream), "cudaFreeAsync");
	must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
	must(cudaGraphExecDestroy(step), "cudaGraphExecDestroy");
	must(cudaGraphExecDestroy(leaving), "cudaGraphExecDestroy");
	must(cudaDeviceGraphMemTrim(0), "cudaDeviceGraphMemTrim");
	print_state("trimmed");
	return 0;
}
