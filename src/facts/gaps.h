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
	uint64_t ptr, size, used, largest; /* largest: of its gaps, bytes */
	uint64_t held_back;                /* free bytes, in a segment that has blocks */
	uint32_t gaps, pool;               /* pool: position in pools */
	size_t first, blocks_n;            /* in blocks[] of struct gaps */
	bool mapped;                       /* addresses that physical memory is mapped at */
};

struct gaps_pool {
	int device;
	uint32_t pool; /* a text of the trace */
	size_t segments_n;
	bool filled;
	uint64_t reserved, used;         /* of segments with addresses */
	uint64_t whole, whole_n;         /* segments without a block */
	uint64_t gaps, gaps_n, largest;  /* free pieces of the others */
	uint64_t fragments;              /* of those, in pieces below GAPS_FRAGMENT */
	uint64_t elsewhere, elsewhere_n; /* blocks in no known segment */
	struct {
		uint64_t bytes, count;
	} by_size[GAPS_SIZES]; /* gaps from 2^i bytes, below 2^(i+1) */
};

struct gaps {
	struct gaps_pool *pools;
	size_t pools_n;
	struct gaps_segment *segments; /* those with the most bytes held back first */
	size_t segments_n;
	struct block *blocks; /* handed out, by pool and address */
	size_t blocks_n;
	struct arena arena; /* all of it */
};

/* Examines the blocks for which block_counts() is true. 0 or -ENOMEM. */
int gaps_find(struct gaps *gaps, const struct blocks *blocks);
void gaps_clear(struct gaps *gaps);
