/*
 * A graph allocates three blocks in one launch, and they go one by one, the first by another
 * thread: the pool's total grows once and shrinks thrice, and nobody tells an address.
 *
 * graphs [BLOCKS]: so many of them are given back (2).
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 3 };

static const size_t sizes[BLOCKS] = { 64 << 20, 32 << 20, 32 << 20 };
static void *blocks[BLOCKS];
static cudaStream_t stream;

static void must(cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "graphs: %s: %s\n", what, cudaGetErrorString(error));
	exit(1);
}

static void launch(void)
{
	cudaGraph_t graph = NULL;
	cudaGraphExec_t exec = NULL;

	must(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
	for (int i = 0; i < BLOCKS; i++) {
		struct cudaMemAllocNodeParams params = {
			.poolProps = { .allocType = cudaMemAllocationTypePinned,
				       .location = { cudaMemLocationTypeDevice, 0 } },
			.bytesize = sizes[i],
		};
		cudaGraphNode_t node = NULL;

		must(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &params), "node");
		blocks[i] = params.dptr;
	}
	must(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
	must(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
	must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

/* The trim is where the pool's total is asked for. */
static void *give_back(void *block)
{
	must(cudaFreeAsync(block, stream), "cudaFreeAsync");
	must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
	must(cudaDeviceGraphMemTrim(0), "cudaDeviceGraphMemTrim");
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : BLOCKS - 1;
	pthread_t thread;

	must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
	launch();
	for (int i = 0; i < count && i < BLOCKS; i++) {
		if (i) {
			give_back(blocks[i]);
			continue;
		}
		if (pthread_create(&thread, NULL, give_back, blocks[i]) ||
		    pthread_join(thread, NULL))
			return 1;
	}
	return 0;
}
