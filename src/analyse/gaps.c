/* Free memory inside the segments of pools: segments and blocks side by side, by address. */
#include "analyse/gaps.h"

#include <errno.h>
#include <stdlib.h>

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
	const struct block *x = *(const struct block *const *)a;
	const struct block *y = *(const struct block *const *)b;
	int order = compare(x->pool, y->pool);

	if (!order)
		order = compare((uint64_t)(x->device + 1), (uint64_t)(y->device + 1));
	if (!order)
		order = compare(x->ptr, y->ptr);
	return order ? order : compare(x->seq, y->seq);
}

static bool same_pool(const struct block *a, const struct block *b)
{
	return a->pool == b->pool && a->device == b->device;
}

/* What has an address and is a pool's: ranges first, blocks behind them, each sorted. */
static const struct block **collect(const struct blocks *blocks, size_t *ranges_n, size_t *handed_n)
{
	const struct block **list = calloc((size_t)blocks->used + 1, sizeof(*list));
	size_t ranges = 0;
	size_t handed = blocks->used;

	for (uint32_t i = 0; list && i < blocks->used; i++) {
		const struct block *block = &blocks->list[i];

		if (!block->pool || !block_counts(blocks, block) || !block->size ||
		    block->ptr + block->size < block->ptr)
			continue;
		if (block->kind == BLOCK_HANDED)
			list[--handed] = block;
		else if (!block->handle)
			list[ranges++] = block;
	}
	if (!list)
		return NULL;
	*ranges_n = ranges;
	*handed_n = blocks->used - handed;
	for (size_t i = 0; i < *handed_n; i++)
		list[ranges + i] = list[handed + i];
	qsort(list, ranges, sizeof(*list), by_place);
	qsort(list + ranges, *handed_n, sizeof(*list), by_place);
	return list;
}

static size_t count_pools(const struct block *const *sorted, size_t count)
{
	size_t pools = 0;

	for (size_t i = 0; i < count; i++)
		pools += !i || !same_pool(sorted[i - 1], sorted[i]);
	return pools;
}

static struct gaps_pool *pool_of(struct gaps *gaps, const struct block *block)
{
	for (size_t i = 0; i < gaps->pools_n; i++) {
		if (gaps->pools[i].pool == block->pool && gaps->pools[i].device == block->device)
			return &gaps->pools[i];
	}
	gaps->pools[gaps->pools_n] =
		(struct gaps_pool){ .pool = block->pool, .device = block->device };
	return &gaps->pools[gaps->pools_n++];
}

/* Mappings side by side are one stretch of addresses; segments are what the driver gave at once. */
static void find_segments(struct gaps *gaps, const struct block *const *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct block *range = ranges[i];
		struct gaps_pool *pool = pool_of(gaps, range);
		struct gaps_segment *last =
			gaps->segments_n ? &gaps->segments[gaps->segments_n - 1] : NULL;
		bool mapped = range->kind == BLOCK_MAPPING;

		pool->reserved += range->size;
		if (last && mapped && last->mapped && same_pool(ranges[i - 1], range) &&
		    last->ptr + last->size == range->ptr) {
			last->size += range->size;
			continue;
		}
		pool->segments_n++;
		gaps->segments[gaps->segments_n++] = (struct gaps_segment){
			.ptr = range->ptr,
			.size = range->size,
			.pool = (uint32_t)(pool - gaps->pools),
			.mapped = mapped,
		};
	}
}

static void add_gap(struct gaps_pool *pool, struct gaps_segment *segment, uint64_t size)
{
	unsigned bit = size ? 63 - (unsigned)__builtin_clzll(size) : 0;

	if (!size)
		return;
	segment->gaps++;
	segment->largest = size > segment->largest ? size : segment->largest;
	if (!segment->blocks_n)
		return;
	pool->gaps += size;
	pool->gaps_n++;
	pool->largest = size > pool->largest ? size : pool->largest;
	if (size < GAPS_FRAGMENT)
		pool->fragments += size;
	pool->by_size[bit].bytes += size;
	pool->by_size[bit].count++;
}

/* Blocks inside the segment, from `at` on; gives the first behind it. */
static size_t fill(struct gaps *gaps, struct gaps_segment *segment, size_t at, size_t end)
{
	struct gaps_pool *pool = &gaps->pools[segment->pool];
	uint64_t limit = segment->ptr + segment->size;
	uint64_t free_from = segment->ptr;
	size_t i = at;

	segment->first = at;
	while (i < end && gaps->blocks[i]->ptr < limit)
		i++;
	segment->blocks_n = i - at;
	for (size_t k = at; k < i; k++) {
		uint64_t block_end = gaps->blocks[k]->ptr + gaps->blocks[k]->size;

		if (gaps->blocks[k]->ptr > free_from)
			add_gap(pool, segment, gaps->blocks[k]->ptr - free_from);
		block_end = block_end < limit ? block_end : limit;
		if (block_end <= free_from)
			continue;
		segment->used +=
			block_end -
			(gaps->blocks[k]->ptr > free_from ? gaps->blocks[k]->ptr : free_from);
		free_from = block_end;
	}
	add_gap(pool, segment, limit - free_from);
	pool->used += segment->used;
	if (!segment->blocks_n) {
		pool->whole += segment->size;
		pool->whole_n++;
	}
	return i;
}

/* Blocks of one pool against its segments; both are sorted by address. */
static void fill_pool(struct gaps *gaps, uint32_t number, size_t from, size_t end)
{
	struct gaps_pool *pool = &gaps->pools[number];
	size_t at = from;

	for (size_t i = 0; i < gaps->segments_n; i++) {
		if (gaps->segments[i].pool != number)
			continue;
		for (; at < end && gaps->blocks[at]->ptr < gaps->segments[i].ptr; at++) {
			pool->elsewhere += gaps->blocks[at]->size;
			pool->elsewhere_n++;
		}
		at = fill(gaps, &gaps->segments[i], at, end);
	}
	for (; at < end; at++) {
		pool->elsewhere += gaps->blocks[at]->size;
		pool->elsewhere_n++;
	}
}

static uint64_t held_back(const struct gaps_segment *segment)
{
	return segment->blocks_n ? segment->size - segment->used : 0;
}

static int by_waste(const void *a, const void *b)
{
	const struct gaps_segment *x = a;
	const struct gaps_segment *y = b;
	int order = compare(held_back(y), held_back(x));

	return order ? order : compare(x->ptr, y->ptr);
}

int gaps_find(struct gaps *gaps, const struct blocks *blocks)
{
	size_t ranges, handed;
	size_t end;

	*gaps = (struct gaps){ .blocks = collect(blocks, &ranges, &handed) };
	if (!gaps->blocks)
		return -ENOMEM;
	gaps->segments = calloc(ranges + 1, sizeof(*gaps->segments));
	gaps->pools = calloc(count_pools(gaps->blocks, ranges) +
				     count_pools(gaps->blocks + ranges, handed) + 1,
			     sizeof(*gaps->pools));
	if (!gaps->segments || !gaps->pools) {
		gaps_clear(gaps);
		return -ENOMEM;
	}
	find_segments(gaps, gaps->blocks, ranges);
	for (size_t i = 0; i < handed; i++)
		gaps->blocks[i] = gaps->blocks[ranges + i];
	gaps->blocks_n = handed;
	for (size_t i = 0; i < handed; i = end) {
		const struct block *first = gaps->blocks[i];
		struct gaps_pool *pool = pool_of(gaps, first);

		for (end = i + 1; end < handed && same_pool(gaps->blocks[end], first); end++)
			;
		fill_pool(gaps, (uint32_t)(pool - gaps->pools), i, end);
	}
	/* Pools without a block were not filled: all of them is free. */
	for (size_t i = 0; i < gaps->pools_n; i++) {
		if (!gaps->pools[i].used && !gaps->pools[i].whole_n && !gaps->pools[i].elsewhere_n)
			fill_pool(gaps, (uint32_t)i, handed, handed);
	}
	qsort(gaps->segments, gaps->segments_n, sizeof(*gaps->segments), by_waste);
	return 0;
}

void gaps_clear(struct gaps *gaps)
{
	free(gaps->pools);
	free(gaps->segments);
	free(gaps->blocks);
	*gaps = (struct gaps){ 0 };
}
