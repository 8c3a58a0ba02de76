/*
 * Holds 4 MiB in a small caching allocator of its own, of which 1.5 MiB are in use when it ends.
 *
 * To a tracer it is three cudaMallocs. The memtrace_pool_* calls tell what becomes of them; they
 * cost nothing, and need no library, when the program is not traced.
 */
#include <cuda_runtime.h>
#include <memtrace/memtrace.h>
#include <stdio.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
#define SEGMENT (2 * MIB)
#define BLOCK (MIB / 2)
#define BLOCKS 12 /* in three segments */
#define NOINLINE __attribute__((noinline))

static struct {
	memtrace_pool pool;
	char *segments[BLOCKS * BLOCK / SEGMENT];
	char *blocks[BLOCKS]; /* free ones: a stack, so addresses come back soon */
	size_t ready;
	size_t reserved, reserved_peak;
	size_t used, used_peak;
} cache;

NOINLINE void grow_cache(size_t index);
NOINLINE void *cache_take(void);
NOINLINE void cache_give(void *block);

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "caching: %s\n", cudaGetErrorString(error));
	exit(1);
}

void grow_cache(size_t index)
{
	void *segment = NULL;

	must(cudaMalloc(&segment, SEGMENT));
	memtrace_pool_reserve(cache.pool, segment, SEGMENT);
	cache.segments[index] = segment;
	for (size_t offset = 0; offset < SEGMENT; offset += BLOCK)
		cache.blocks[cache.ready++] = cache.segments[index] + offset;
	cache.reserved += SEGMENT;
	if (cache.reserved > cache.reserved_peak)
		cache.reserved_peak = cache.reserved;
}

void *cache_take(void)
{
	void *block;

	if (!cache.ready)
		grow_cache(cache.reserved / SEGMENT);
	block = cache.blocks[--cache.ready];
	memtrace_pool_alloc(cache.pool, block, BLOCK);
	cache.used += BLOCK;
	if (cache.used > cache.used_peak)
		cache.used_peak = cache.used;
	return block;
}

void cache_give(void *block)
{
	memtrace_pool_free(cache.pool, block);
	cache.blocks[cache.ready++] = block;
	cache.used -= BLOCK;
}

/* Gives the last segment back; its blocks, the first to be taken out, must all be free. */
static void shrink_cache(void)
{
	size_t index = cache.reserved / SEGMENT - 1;
	size_t left = 0;

	for (size_t i = 0; i < cache.ready; i++) {
		size_t offset = (size_t)cache.blocks[i] - (size_t)cache.segments[index];

		if (offset >= SEGMENT)
			cache.blocks[left++] = cache.blocks[i];
	}
	cache.ready = left;
	memtrace_pool_release(cache.pool, cache.segments[index]);
	must(cudaFree(cache.segments[index]));
	cache.reserved -= SEGMENT;
}

int main(void)
{
	void *blocks[9];

	cache.pool = memtrace_pool_create("caching");
	memtrace_push("fill");
	for (size_t i = 0; i < 9; i++)
		blocks[i] = cache_take();
	memtrace_pop();
	memtrace_mark("filled");
	for (size_t i = 3; i < 9; i++)
		cache_give(blocks[i]);
	shrink_cache();
	printf("allocations=9\nfrees=6\n");
	printf("reserved.peak=%zu\nreserved.live=%zu\n", cache.reserved_peak, cache.reserved);
	printf("peak=%zu\nlive=%zu\n", cache.used_peak, cache.used);
	return 0;
}
