/*
 * A library to be loaded, used and unloaded again; libunload2.c is its like, under other names.
 *
 * Both have the same instructions at the same places, and frames of other sizes: who remembers an
 * address of the first takes the second for it, when it lies where the first was.
 */
#include <cuda_runtime.h>
#include <string.h>

#ifndef UNLOAD_FRAME
#define UNLOAD_FRAME 512
#define UNLOAD_INNER unload1_inner
#define UNLOAD_DEEPER unload1_deeper
#endif

int unload_pair(size_t size, int keep);
int UNLOAD_INNER(size_t size, int keep);
int UNLOAD_DEEPER(size_t size, int keep);

static void *kept;

__attribute__((noinline)) int UNLOAD_INNER(size_t size, int keep)
{
	volatile char room[UNLOAD_FRAME];
	void *ptr = NULL;
	int error = cudaMalloc(&ptr, size);

	room[0] = (char)size;
	if (keep)
		kept = ptr;
	else
		error += cudaFree(ptr);
	return error + (room[0] != (char)size);
}

__attribute__((noinline)) int UNLOAD_DEEPER(size_t size, int keep)
{
	volatile char room[UNLOAD_FRAME];

	room[0] = (char)keep;
	return UNLOAD_INNER(size, room[0]) + (room[0] != (char)keep);
}

int unload_pair(size_t size, int keep)
{
	volatile int error = UNLOAD_DEEPER(size, keep);

	return error;
}

/* What it kept goes when it goes: a call out of a library that is being unloaded. */
__attribute__((destructor)) static void give_back(void)
{
	if (kept)
		cudaFree(kept);
}
