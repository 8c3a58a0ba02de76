/*
 * A caching allocator that reports its blocks as PyTorch's does: for backward.py, of one segment
 * that never ends; for oom.py, with segments, splits, a limit, and a try again once the cache is
 * empty.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "cuda_runtime.h"

#define REPORT _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
#define FAILED _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE
#define MIB ((int64_t)1 << 20)

enum { SEGMENT = 64 << 20, CUDA = 1, PIECES = 4096 };

/* Of libc10.c, through the PLT. */
void REPORT(void *ptr, int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device);
void FAILED(int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device);
void block(int64_t size);
void *take(int64_t size);
void give(void *ptr);
void empty_cache(void);
void set_limit(int64_t bytes);
void *take_ordered(int64_t size);
void *take_expandable(int64_t size);

static char *segment;
static uint64_t allocated;

void block(int64_t size)
{
	char *at;

	if (!segment)
		cudaMalloc((void **)&segment, SEGMENT);
	at = segment + allocated;
	allocated += (uint64_t)size;
	REPORT(at, size, allocated, SEGMENT, CUDA);
}

/* --- segments ------------------------------------------------------------------------------ */

/* Pieces of one segment lie side by side in the list. */
static struct piece {
	char *at;
	int64_t size;
	bool used, first; /* first: of its segment */
} pieces[PIECES];
static int count;
static int64_t used, reserved, limit;

static void insert(int at, struct piece piece)
{
	if (count == PIECES)
		abort();
	for (int i = count++; i > at; i--)
		pieces[i] = pieces[i - 1];
	pieces[at] = piece;
}

static void take_out(int at)
{
	count--;
	for (int i = at; i < count; i++)
		pieces[i] = pieces[i + 1];
}

/* As CUDACachingAllocator.cpp rounds. */
static int64_t segment_for(int64_t size)
{
	if (size <= MIB)
		return 2 * MIB;
	if (size < 10 * MIB)
		return 20 * MIB;
	return (size + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
}

static int find_free(int64_t size)
{
	int best = -1;

	for (int i = 0; i < count; i++) {
		if (!pieces[i].used && pieces[i].size >= size &&
		    (best < 0 || pieces[i].size < pieces[best].size))
			best = i;
	}
	return best;
}

static int new_segment(int64_t size)
{
	struct piece piece = { .size = segment_for(size), .first = true };

	if (limit && reserved + piece.size > limit)
		return -1;
	if (cudaMalloc((void **)&piece.at, (size_t)piece.size)) {
		cudaGetLastError();
		return -1;
	}
	reserved += piece.size;
	insert(count, piece);
	return count - 1;
}

void empty_cache(void)
{
	for (int i = 0; i < count;) {
		bool last = i + 1 == count || pieces[i + 1].first;

		if (pieces[i].used || !pieces[i].first || !last) {
			i++;
			continue;
		}
		cudaFree(pieces[i].at);
		reserved -= pieces[i].size;
		take_out(i);
	}
}

void *take(int64_t size)
{
	int at;

	size = (size + 511) / 512 * 512;
	at = find_free(size);
	if (at < 0)
		at = new_segment(size);
	if (at < 0) {
		empty_cache();
		at = new_segment(size);
	}
	if (at < 0) {
		FAILED(size, (uint64_t)used, (uint64_t)reserved, CUDA);
		return NULL;
	}
	if (pieces[at].size > size) {
		insert(at + 1, (struct piece){ .at = pieces[at].at + size,
					       .size = pieces[at].size - size });
		pieces[at].size = size;
	}
	pieces[at].used = true;
	used += size;
	REPORT(pieces[at].at, size, (uint64_t)used, (uint64_t)reserved, CUDA);
	return pieces[at].at;
}

void give(void *ptr)
{
	int i = 0;

	while (i < count && (!pieces[i].used || pieces[i].at != ptr))
		i++;
	if (i == count)
		abort();
	pieces[i].used = false;
	used -= pieces[i].size;
	REPORT(ptr, -pieces[i].size, (uint64_t)used, (uint64_t)reserved, CUDA);
	if (i + 1 < count && !pieces[i + 1].used && !pieces[i + 1].first) {
		pieces[i].size += pieces[i + 1].size;
		take_out(i + 1);
	}
	if (i && !pieces[i - 1].used && !pieces[i].first) {
		pieces[i - 1].size += pieces[i].size;
		take_out(i);
	}
}

void set_limit(int64_t bytes)
{
	limit = bytes;
}

/* An expandable segment grows by 20 MiB at a time; one is refused, and it gives back what it had
 * got. */
void *take_expandable(int64_t size)
{
	void *got[PIECES];
	int n = 0;

	while (n < PIECES && n * 20 * MIB < size && !cudaMalloc(&got[n], 20 * MIB))
		n++;
	if (n * 20 * MIB >= size)
		return got[0];
	cudaGetLastError();
	while (n)
		cudaFree(got[--n]);
	FAILED(size, (uint64_t)used, (uint64_t)reserved, CUDA);
	return NULL;
}

/* backend:cudaMallocAsync: no report, and no second try. */
void *take_ordered(int64_t size)
{
	void *ptr = NULL;

	return cudaMallocAsync(&ptr, (size_t)size, NULL) ? NULL : ptr;
}
