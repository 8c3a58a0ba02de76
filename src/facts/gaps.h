/*
 * Free memory inside the segments of pools at one moment: where it lies, the sizes of the pieces,
 * and the blocks that keep a segment from being given back.
 *
 * Only memory that has an address can be examined: the driver does not report the segments of its
 * stream-ordered pools, whose blocks are then `elsewhere`.
 *
 * Also used at the end of the traced program.
 */
#pragma once

#include "base/mem/arena.h"
#include "facts/lives.h"

enum { GAPS_SIZES = 64, GAPS_FRAGMENT = 1 << 20 };

struct gaps_segment {
	uint64_t ptr, size, used, largest; /* largest: bytes of its largest gap */
	uint64_t held_back;     /* free bytes, if a block keeps the segment from being freed */
	uint32_t gaps, pool;    /* pool: position in pools of struct gaps */
	size_t first, blocks_n; /* the segment's blocks, in blocks[] of struct gaps */
	bool mapped;            /* made of addresses with physical memory mapped to them */
};

struct gaps_pool {
	int device;
	uint32_t pool; /* its name: number of a text of the trace */
	size_t segments_n;
	bool filled;
	uint64_t reserved, used; /* bytes of segments with addresses; of the blocks in them */
	uint64_t whole, whole_n; /* bytes and number of segments without a block */
	uint64_t gaps, gaps_n, largest;  /* bytes, number, largest of the gaps in other segments */
	uint64_t fragments;              /* bytes, number of gaps below GAPS_FRAGMENT */
	uint64_t elsewhere, elsewhere_n; /* bytes and number of blocks in no known segment */
	struct {
		uint64_t bytes, count;
	} by_size[GAPS_SIZES]; /* [i]: the gaps of at least 2^i and less than 2^(i+1) bytes */
};

struct gaps {
	struct gaps_pool *pools;
	size_t pools_n;
	struct gaps_segment *segments; /* sorted by bytes held back, the most first */
	size_t segments_n;
	struct block *blocks; /* blocks that programs got from the pools, by pool and address */
	size_t blocks_n;
	struct arena arena; /* holds all tables of this struct */
};

/* Examines the blocks for which block_counts() is true. 0 or -ENOMEM. */
int gaps_find(struct gaps *gaps, const struct blocks *blocks);
void gaps_clear(struct gaps *gaps);
