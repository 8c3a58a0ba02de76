/* Chance for tests: splitmix64, so that a seed gives the same numbers everywhere. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t chance_next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static inline uint64_t chance_below(uint64_t *state, uint64_t below)
{
	return chance_next(state) % below;
}

static inline bool chance_one_in(uint64_t *state, uint64_t n)
{
	return chance_next(state) % n == 0;
}
