/* Finds the free memory inside pools' segments, by the addresses of blocks and segments. */
#include "facts/gaps.h"

#include <errno.h>

#include "base/mem/sort.h"

static const struct sort_key by_place[] = {
	SORT_UP(struct block, pool),
	SORT_UP(struct block, device),
	SORT_UP(struct block, ptr),
	SORT_UP(struct block, size),
	{ 0 },
};

static bool same_pool(const struct block *a, const struct block *b)
{
	return a->pool == b->pool && a->device == b->device;
}

/* True if a pool owns the block and block_counts() is true for it (it was live). If `handed`, the
 * block must be memory that the program uses, else a segment or mapping that has an address. */
static bool is_place(const struct blocks *blocks, const struct block *block, bool handed)
{
	return block->pool && block_counts(blocks, block) && block->size &&
	       block->ptr + block->size >= block->ptr && (block->kind == BLOCK_HANDED) == handed &&
	       (handed || !block->handle);
}

static struct block *collect(struct gaps *gaps, const struct blocks *blocks, bool handed,
			     size_t *count)
{
	struct block *list;

	*count = 0;
	for (uint32_t i = 0; i < blocks->used; i++)
		*count += is_place(blocks, &blocks->list[i], handed);
	list = arena_alloc(&gaps->arena, (*count + 1) * sizeof(*list));
	*count = 0;
	for (uint32_t i = 0; list && i < blocks->used; i++) {
		const struct block *block = &blocks->list[i];

		if (is_place(blocks, block, handed))
			list[(*count)++] = *block;
	}
	if (list)
		sort_rows(list, *count, sizeof(*list), by_place);
	return list;
}

static size_t count_pools(const struct block *sorted, size_t count)
{
	size_t pools = 0;

	for (size_t i = 0; i < count; i++)
		pools += !i || !same_pool(&sorted[i - 1], &sorted[i]);
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

/* Makes one segment of each run of adjacent mappings, and of each range that is no mapping. */
static void find_segments(struct gaps *gaps, const struct block *ranges, size_t count)
{
	struct gaps_segment *last = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct block *range = &ranges[i];
		struct gaps_pool *pool = pool_of(gaps, range);
		bool mapped = range->kind == BLOCK_MAPPING;

		pool->reserved += range->size;
		if (last && mapped && last->mapped && same_pool(&ranges[i - 1], range) &&
		    last->ptr + last->size == range->ptr) {
			last->size += range->size;
			continue;
		}
		pool->segments_n++;
		last = &gaps->segments[gaps->segments_n++];
		*last = (struct gaps_segment){
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

/* Finds the segment's blocks, of which the first is blocks[at], and its gaps. Returns the position
 * after its last block. */
static size_t fill_segment(struct gaps *gaps, struct gaps_segment *segment, size_t at, size_t end)
{
	struct gaps_pool *pool = &gaps->pools[segment->pool];
	uint64_t limit = segment->ptr + segment->size;
	uint64_t free_from = segment->ptr;

	for (segment->first = at; at < end && gaps->blocks[at].ptr < limit; at++) {
		uint64_t ptr = gaps->blocks[at].ptr;
		uint64_t left = limit - ptr;
		uint64_t stop = ptr + (gaps->blocks[at].size < left ? gaps->blocks[at].size : left);

		segment->blocks_n++;
		if (ptr > free_from) {
			add_gap(pool, segment, ptr - free_from);
			free_from = ptr;
		}
		if (stop > free_from) {
			segment->used += stop - free_from;
			free_from = stop;
		}
	}
	add_gap(pool, segment, limit - free_from);
	pool->used += segment->used;
	if (segment->blocks_n) {
		segment->held_back = segment->size - segment->used;
	} else {
		pool->whole += segment->size;
		pool->whole_n++;
	}
	return at;
}

/* Finds the gaps in one pool, whose blocks are gaps->blocks[at] to gaps->blocks[end - 1]. */
static void fill_pool(struct gaps *gaps, uint32_t number, size_t at, size_t end)
{
	struct gaps_pool *pool = &gaps->pools[number];

	pool->filled = true;
	for (size_t i = 0; i <= gaps->segments_n; i++) {
		struct gaps_segment *segment = i < gaps->segments_n ? &gaps->segments[i] : NULL;

		if (segment && segment->pool != number)
			continue;
		for (; at < end && (!segment || gaps->blocks[at].ptr < segment->ptr); at++) {
			pool->elsewhere += gaps->blocks[at].size;
			pool->elsewhere_n++;
		}
		if (segment)
			at = fill_segment(gaps, segment, at, end);
	}
}

static void fill_pools(struct gaps *gaps)
{
	size_t count = gaps->blocks_n;
	size_t end;

	for (size_t i = 0; i < count; i = end) {
		const struct block *first = &gaps->blocks[i];

		for (end = i + 1; end < count && same_pool(&gaps->blocks[end], first); end++)
			;
		fill_pool(gaps, (uint32_t)(pool_of(gaps, first) - gaps->pools), i, end);
	}
	/* For pools without a block, all of whose memory is free. */
	for (size_t i = 0; i < gaps->pools_n; i++) {
		if (!gaps->pools[i].filled)
			fill_pool(gaps, (uint32_t)i, count, count);
	}
}

static int fill_in(struct gaps *gaps, const struct block *ranges, size_t count)
{
	static const struct sort_key by_waste[] = {
		SORT_DOWN(struct gaps_segment, held_back),
		SORT_UP(struct gaps_segment, ptr),
		{ 0 },
	};
	size_t pools = count_pools(ranges, count) + count_pools(gaps->blocks, gaps->blocks_n);

	gaps->segments = arena_alloc(&gaps->arena, (count + 1) * sizeof(*gaps->segments));
	gaps->pools = arena_alloc(&gaps->arena, (pools + 1) * sizeof(*gaps->pools));
	if (!gaps->segments || !gaps->pools)
		return -ENOMEM;
	find_segments(gaps, ranges, count);
	fill_pools(gaps);
	sort_rows(gaps->segments, gaps->segments_n, sizeof(*gaps->segments), by_waste);
	return 0;
}

int gaps_find(struct gaps *gaps, const struct blocks *blocks)
{
	struct block *ranges;
	size_t count = 0;
	int error = -ENOMEM;

	*gaps = (struct gaps){ 0 };
	ranges = collect(gaps, blocks, false, &count);
	gaps->blocks = collect(gaps, blocks, true, &gaps->blocks_n);
	if (ranges && gaps->blocks)
		error = fill_in(gaps, ranges, count);
	if (error)
		gaps_clear(gaps);
	return error;
}

void gaps_clear(struct gaps *gaps)
{
	arena_clear(&gaps->arena);
	*gaps = (struct gaps){ 0 };
}
