/*
 * A library that waits for the loader's lock in a report of PyTorch's takes two locks in the wrong
 * order: a thread in dlopen(), which has the loader's lock, waits in a constructor for PyTorch's
 * allocator; meanwhile the thread that has the allocator's lock reports a block, from a library
 * that nobody has seen before. constructor LIBC10_CUDA LIBCONSTRUCTOR COPY
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>

void constructor_waits(void);

static pthread_mutex_t allocator = PTHREAD_MUTEX_INITIALIZER;
static sem_t in_constructor;

void constructor_waits(void)
{
	sem_post(&in_constructor);
	pthread_mutex_lock(&allocator);
	pthread_mutex_unlock(&allocator);
}

static void *load(void *path)
{
	return dlopen(path, RTLD_NOW);
}

static void *function(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

int main(int argc, char **argv)
{
	void *torch = argc == 4 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	void (*block)(int64_t);
	void (*call)(void (*)(int64_t), int64_t);
	pthread_t thread;
	void *loaded;

	*(void **)&block = function(torch, "block");
	if (!block)
		return 2;
	block(4096);
	sem_init(&in_constructor, 0, 0);
	*(void **)&call = function(dlopen(argv[3], RTLD_NOW), "call_block");
	sem_wait(&in_constructor);
	if (!call)
		return 2;
	pthread_mutex_lock(&allocator);
	pthread_create(&thread, NULL, load, argv[2]);
	sem_wait(&in_constructor);
	call(block, 8192);
	pthread_mutex_unlock(&allocator);
	pthread_join(thread, &loaded);
	call(block, 16384);
	printf("loaded=%d\n", loaded != NULL);
	return 0;
}
