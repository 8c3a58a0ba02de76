/*
 * Another tool that wants CUPTI, in the same process.
 *
 * cupti none|first|later|linked|fork: allocates three times, then five times more. With `first` it
 * comes to CUPTI before CUDA starts, with `later` after the first three; `linked` as `later`, but
 * through symbols that the linker bound. Prints how many records of memory CUPTI gave it. `fork`
 * allocates in a child, whose CUDA starts there.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../src/capture/cupti/cupti_abi.h"

/* Bound by the linker where a libcupti is preloaded. */
int cuptiSubscribe(void *subscriber, void *callback, void *data) __attribute__((weak));
int cuptiActivityRegisterCallbacks(cupti_wanted_fn *wanted, cupti_filled_fn *filled)
	__attribute__((weak));

static int (*next_record)(uint8_t *, size_t, void **);
static int (*flush)(uint32_t);
static unsigned records;

static void wanted(uint8_t **buffer, size_t *size, size_t *most)
{
	*size = 1 << 16;
	*buffer = malloc(*size);
	*most = 0;
}

static void filled(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	void *record = NULL;

	(void)context;
	(void)stream;
	(void)size;
	while (!next_record(buffer, valid, &record))
		records += ((struct cupti_record *)record)->kind == CUPTI_KIND_MEMORY2;
	free(buffer);
}

static int need(int status, const char *what)
{
	if (status) {
		fprintf(stderr, "%s: %d\n", what, status);
		exit(1);
	}
	return status;
}

static void take_cupti(int linked)
{
	void *handle = dlopen("libcupti.so.13", RTLD_NOW);
	int (*subscribe)(void *, void *, void *);
	int (*enroll)(cupti_wanted_fn *, cupti_filled_fn *);
	int (*enable)(uint32_t);
	void *subscriber = NULL;

	need(!handle, "dlopen");
	*(void **)&subscribe = dlsym(handle, "cuptiSubscribe");
	*(void **)&enroll = dlsym(handle, "cuptiActivityRegisterCallbacks");
	*(void **)&enable = dlsym(handle, "cuptiActivityEnable");
	*(void **)&next_record = dlsym(handle, "cuptiActivityGetNextRecord");
	*(void **)&flush = dlsym(handle, "cuptiActivityFlushAll");
	if (linked) {
		subscribe = cuptiSubscribe;
		enroll = cuptiActivityRegisterCallbacks;
	}
	need(!subscribe || !enroll, "dlsym");
	need(subscribe(&subscriber, NULL, NULL), "cuptiSubscribe");
	need(enroll(wanted, filled), "cuptiActivityRegisterCallbacks");
	need(cudaFree(NULL), "cudaFree"); /* the simulated CUPTI wants a driver to listen to */
	need(enable(CUPTI_KIND_MEMORY2), "cuptiActivityEnable");
}

static void allocate(unsigned times)
{
	void *ptr;

	while (times--)
		need(cudaMalloc(&ptr, 1 << 20), "cudaMalloc");
}

static int forked(void)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		allocate(2);
		exit(0);
	}
	waitpid(child, &status, 0);
	allocate(3);
	return status != 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "none";

	if (!strcmp(mode, "fork"))
		return forked();
	if (!strcmp(mode, "first"))
		take_cupti(0);
	allocate(3);
	if (!strcmp(mode, "later") || !strcmp(mode, "linked"))
		take_cupti(!strcmp(mode, "linked"));
	allocate(5);
	if (flush)
		flush(CUPTI_FLUSH_FORCED);
	printf("%u\n", records);
	return 0;
}
