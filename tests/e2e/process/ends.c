/*
 * Ends in the way that its argument names: ends HOW. Holds 3 MiB, after 500 pairs, when it does.
 *
 * return, exit, _exit, quick_exit, abort, segv, or a signal's number, which it sends itself.
 */
#include <cuda_runtime.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define PAIRS 500

static void must(cudaError_t error)
{
	if (error != cudaSuccess)
		_exit(99);
}

static void end(const char *how)
{
	volatile int *volatile nowhere = NULL;

	if (!strcmp(how, "exit"))
		exit(5);
	if (!strcmp(how, "_exit"))
		_exit(6);
	if (!strcmp(how, "quick_exit"))
		quick_exit(7);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*nowhere = 0;
	if (atoi(how))
		raise(atoi(how));
}

int main(int argc, char **argv)
{
	void *kept[2];

	must(cudaMalloc(&kept[0], 2 * MIB));
	for (int i = 0; i < PAIRS; i++) {
		void *ptr = NULL;

		must(cudaMalloc(&ptr, 4096));
		must(cudaFree(ptr));
	}
	must(cudaMalloc(&kept[1], MIB));
	printf("allocations=%d\nfrees=%d\npeak=%zu\nlive=%zu\n", PAIRS + 2, PAIRS, 3 * MIB,
	       3 * MIB);
	fflush(stdout);
	end(argc > 1 ? argv[1] : "return");
	return 0;
}
