/*
 * The part of its thread's stack that a hooked call takes: smallstack [SIZE [warm|known]]. The
 * thread allocates and frees on SIZE bytes (the least that there may be) with a page without access
 * below; `warm`: not as the first of the process; `known`: not as the first of the thread either,
 * from the same line. Prints how many of them were written to, or with `known`, by those calls.
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { UNTOUCHED = 0x5a, RED_ZONE = 512 };

static char *stack;
static char *top; /* of what is counted */

static __attribute__((noinline)) void paint(void)
{
	for (volatile char *at = stack; at < top; at++)
		*at = UNTOUCHED;
}

static void *work(void *times)
{
	void *ptr;

	for (long left = (long)times; left; left--) {
		if (left == 1 && times != (void *)1) {
			top = (char *)__builtin_frame_address(0) - RED_ZONE;
			paint();
		}
		if (cudaMalloc(&ptr, 4096) || cudaFree(ptr))
			puts("failed");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	size_t left = 0;
	pthread_attr_t attributes;
	pthread_t thread;

	if (!size)
		size = (size_t)sysconf(_SC_THREAD_STACK_MIN);
	if (argc > 2)
		work((void *)1);
	stack = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(stack, page, PROT_NONE);
	stack += page;
	memset(stack, UNTOUCHED, size);
	top = stack + size;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, size);
	if (pthread_create(&thread, &attributes, work,
			   (void *)(argc > 2 && !strcmp(argv[2], "known") ? 8L : 1L))) {
		puts("no thread");
		return 1;
	}
	pthread_join(thread, NULL);
	while (stack + left < top && stack[left] == UNTOUCHED)
		left++;
	printf("%zu\n", (size_t)(top - stack) - left);
	return 0;
}
