/*
 * Sampling by bytes: the blocks that are sampled, and the weight of each.
 *
 * A Poisson process runs along the bytes that a thread allocates, with one point per `interval`
 * bytes on average; a block with a point in it is sampled. So a block of `size` bytes is sampled
 * with probability p = 1 - exp(-size / interval), independent of the blocks before it. Sums in
 * which each sampled block counts 1 / p times are unbiased. The heap profilers of Go, tcmalloc and
 * jemalloc sample this way.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The sampling state of one thread; all 0 at first. */
struct sample {
	uint64_t chance; /* state of the random generator, 0 before its first use */
	uint64_t left;   /* bytes to allocate up to the next point of the Poisson process */
};

enum { SAMPLE_PARTS = 1 << 16 };

/* Counts a block of `size` bytes; true if the block is sampled. Only the first call uses `seed`. */
bool sample_take(struct sample *sample, uint64_t seed, uint64_t size, uint64_t interval);

/* The weight of a sampled block in estimates: bytes, and blocks in units of 1 / SAMPLE_PARTS. */
struct sample_weight {
	uint64_t bytes, parts;
};

struct sample_weight sample_weigh(uint64_t size, uint64_t interval);

static inline uint64_t sample_allocations(uint64_t parts)
{
	return (parts + SAMPLE_PARTS / 2) / SAMPLE_PARTS;
}
