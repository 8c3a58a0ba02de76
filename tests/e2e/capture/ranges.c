/*
 * ranges N [killed]: N ranges by memtrace_push() and memtrace_pop(), a hundred deep, each innermost
 * one with a block of its own name's size, on all devices in turns. One range is left open, one pop
 * is too many. With "killed" the process ends itself by SIGKILL.
 */
#include <cuda_runtime.h>
#include <memtrace/memtrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEEP = 100, BLOCK = 4096 };

static void *take(size_t size)
{
	void *ptr = NULL;

	if (cudaMalloc(&ptr, size))
		exit(1);
	return ptr;
}

/* A hundred ranges, one inside the other: what the innermost takes, the outermost gives back. */
static void nest(unsigned long round, int devices)
{
	char name[32];
	void *block;

	if (cudaSetDevice((int)(round % (unsigned)devices)))
		exit(1);
	for (int i = 0; i < DEEP; i++) {
		snprintf(name, sizeof(name), "depth %d", i);
		memtrace_push(name);
	}
	block = take(BLOCK);
	for (int i = 1; i < DEEP; i++)
		memtrace_pop();
	cudaFree(block);
	memtrace_pop();
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) / DEEP : 10;
	int devices = 0;

	if (cudaGetDeviceCount(&devices))
		return 1;
	memtrace_pop();
	memtrace_push("all");
	take(BLOCK);
	for (unsigned long i = 0; i < rounds; i++)
		nest(i, devices);
	memtrace_mark("last");
	if (argc > 2)
		raise(SIGKILL);
	return 0;
}
