/*
 * Loads and unloads two libraries by turns while threads allocate: unload TIMES THREADS LIBRARY
 * LIBRARY.
 *
 * Library i's allocations have SIZE * (i + 1) bytes, the threads' 4 KiB. Each library keeps a block
 * every eighth time, which its destructor frees. At the end the first is loaded once more,
 * allocates, and is unloaded for good; the block stays.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SIZE ((size_t)1 << 20)

static atomic_bool stop;
static atomic_int failures;

int work_at(int depth);

__attribute__((noinline)) int work_at(int depth)
{
	volatile int error = 0;
	void *ptr = NULL;

	if (depth)
		error = work_at(depth - 1);
	else
		error = (int)cudaMalloc(&ptr, 4096) + (int)cudaFree(ptr);
	return error;
}

static void *work(void *argument)
{
	int depth = (int)(long)argument;

	for (int i = 0; !stop; i++) {
		failures += work_at((depth + i) % 24) != 0;
		usleep(20); /* the trace need not be large */
	}
	return NULL;
}

static void use(const char *path, int number, int keep)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*pair)(size_t, int) =
		handle ? (int (*)(size_t, int))dlsym(handle, "unload_pair") : NULL;

	if (!pair) {
		fprintf(stderr, "unload: %s\n", dlerror());
		exit(1);
	}
	failures += pair(SIZE * (size_t)(number + 1), keep) != 0;
	failures += dlclose(handle) != 0;
}

int main(int argc, char **argv)
{
	int times = argc >= 5 ? atoi(argv[1]) : 0;
	int count = argc >= 5 ? atoi(argv[2]) : 0;
	pthread_t threads[64];

	if (times <= 0 || count < 0 || count > 64)
		return 2;
	for (long i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i * 5));
	for (int i = 0; i < times; i++)
		use(argv[3 + i % 2], i % 2, i % 16 < 2);
	stop = true;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	if (argc > 5 && rename(argv[5], argv[3]))
		return 3;
	printf("failures=%d\n", failures);
	return failures != 0;
}
