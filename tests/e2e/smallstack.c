/*
 * What a hooked call needs of its thread's stack: smallstack [SIZE [warm]]. The thread allocates
 * and frees on SIZE bytes (the least that there may be) with a page without access beneath; `warm`:
 * not as the first of the process. Prints how many of them were written to.
 */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { UNTOUCHED = 0x5a };

static void *work(void *unused)
{
	void *ptr;

	(void)unused;
	if (cudaMalloc(&ptr, 4096) || cudaFree(ptr))
		puts("failed");
	return NULL;
}

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	size_t left = 0;
	pthread_attr_t attributes;
	pthread_t thread;
	char *stack;

	if (!size)
		size = (size_t)sysconf(_SC_THREAD_STACK_MIN);
	if (argc > 2)
		work(NULL);
	stack = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(stack, page, PROT_NONE);
	stack += page;
	memset(stack, UNTOUCHED, size);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, size);
	if (pthread_create(&thread, &attributes, work, NULL)) {
		puts("no thread");
		return 1;
	}
	pthread_join(thread, NULL);
	while (left < size && stack[left] == UNTOUCHED)
		left++;
	printf("%zu\n", size - left);
	return 0;
}
