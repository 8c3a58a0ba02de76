/*
 * Sampling by bytes: which blocks stand for all of them, and for how much each does.
 *
 * A Poisson process runs along the bytes that a thread allocates, one point in `interval` bytes on
 * the average; a block with a point in it is sampled. So a block of `size` bytes is with
 * probability p = 1 - exp(-size / interval), whatever came before it, and counted 1 / p times the
 * sums over the sampled ones are unbiased. As the heap profilers of Go, tcmalloc and jemalloc do.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* One thread's; to begin with, all 0. */
struct sample {
	uint64_t chance; /* state of the random numbers, 0 before the first */
	uint64_t left;   /* bytes up to the next point */
};

/* What a number of blocks is told in: so many parts of one. */
enum { SAMPLE_PARTS = 1 << 16 };

/* Goes on by a block: is it sampled? `seed` is for a thread's first one. */
bool sample_take(struct sample *sample, uint64_t seed, uint64_t size, uint64_t interval);

/* What a sampled block stands for: bytes, and blocks in SAMPLE_PARTS. */
struct sample_weight {
	uint64_t bytes, parts;
};

struct sample_weight sample_weigh(uint64_t size, uint64_t interval);

/* Blocks of parts, rounded. */
static inline uint64_t sample_allocations(uint64_t parts)
{
	return (parts + SAMPLE_PARTS / 2) / SAMPLE_PARTS;
}
