/*
 * Free memory inside the segments of memory pools at one point in time: where the gaps between
 * blocks are, how large they are, and which blocks keep a segment from being freed by its pool.
 *
 * Only segments with known addresses can be examined. The driver does not report the segments of
 * its stream-ordered pools, so the blocks of these pools are counted as `elsewhere`.
 *
 * This also runs in the traced program when it ends, so memory comes from mmap, not malloc.
 */
#pragma once

#include "base/mem/arena.h"
#include "facts/lives.h"

enum { GAPS_SIZES = 64, GAPS_FRAGMENT = 1 << 20 };

struct gaps_segment {
	uint64_t ptr, size, used, largest; /* largest: bytes of the largest gap */
	uint64_t held_back;                /* free bytes of a segment that has a block, else 0 */
	uint32_t gaps, pool;    /* gaps: number of gaps; pool: position in pools[] of struct gaps */
	size_t first, blocks_n; /* position of its first block in gaps.blocks[], and their number */
	bool mapped;            /* true if the segment's memory was mapped by cuMemMap() */
};

struct gaps_pool {
	int device;
	uint32_t pool; /* id of the pool's name in the spool's texts */
	size_t segments_n;
	bool filled;
	uint64_t reserved, used; /* bytes of the segments with addresses, and of their blocks */
	uint64_t whole, whole_n; /* bytes and number of segments without a block */
	uint64_t gaps, gaps_n, largest;  /* gaps in segments with blocks: bytes, number, largest */
	uint64_t fragments;              /* bytes in gaps smaller than GAPS_FRAGMENT */
	uint64_t elsewhere, elsewhere_n; /* bytes and number of blocks outside known segments */
	struct {
		uint64_t bytes, count;
	} by_size[GAPS_SIZES]; /* element i: gaps of at least 2^i and less than 2^(i+1) bytes */
};

struct gaps {
	struct gaps_pool *pools;
	size_t pools_n;
	struct gaps_segment *segments; /* sorted by held_back, largest first */
	size_t segments_n;
	struct block *blocks; /* the pools' blocks that the program uses, by pool and address */
	size_t blocks_n;
	struct arena arena; /* holds all tables of this struct */
};

/* Fills *gaps from the live blocks (block_counts() is true for them). Returns 0 or -ENOMEM. */
int gaps_find(struct gaps *gaps, const struct blocks *blocks);
void gaps_clear(struct gaps *gaps);
