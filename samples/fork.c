/*
 * Holds 5 MiB in the parent and 3 MiB in a child; a second child never touches CUDA, a third comes
 * too late: CUDA cannot be used in the child of a process that has begun to use it.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define NOINLINE __attribute__((noinline))

NOINLINE void parent_allocates(void);
NOINLINE void child_allocates(void);

static void *take(size_t size)
{
	void *ptr = NULL;
	cudaError_t error = cudaMalloc(&ptr, size);

	if (error != cudaSuccess) {
		fprintf(stderr, "fork: %s\n", cudaGetErrorString(error));
		exit(1);
	}
	return ptr;
}

void parent_allocates(void)
{
	take(5 * MIB);
	cudaFree(take(2 * MIB));
	printf("parent.pid=%d\nparent.peak=%zu\nparent.live=%zu\n", (int)getpid(), 7 * MIB,
	       5 * MIB);
}

void child_allocates(void)
{
	take(3 * MIB);
	cudaFree(take(MIB));
	printf("child.pid=%d\nchild.peak=%zu\nchild.live=%zu\n", (int)getpid(), 4 * MIB, 3 * MIB);
}

static void child_idles(void)
{
	printf("idle.pid=%d\n", (int)getpid());
}

static void child_is_late(void)
{
	void *ptr = NULL;

	printf("late.error=%d\n", (int)cudaMalloc(&ptr, MIB));
}

/* One after the other, so that the lines come in order. */
static int in_child(void (*work)(void))
{
	int status = 0;

	fflush(stdout); /* or the child prints it as well */
	if (fork() == 0) {
		work();
		exit(0);
	}
	wait(&status);
	return status;
}

int main(void)
{
	int failed = in_child(child_allocates);

	failed |= in_child(child_idles);
	parent_allocates();
	failed |= in_child(child_is_late);
	return failed ? 1 : 0;
}
