/* What tells one list of Python frames from another; for python.c and python_quick.c only. */
#ifndef CAPTURE_PYTHON_PYTHON_HASH_H
#define CAPTURE_PYTHON_PYTHON_HASH_H

#include <stdint.h>

#include "base/mem/hash.h"

static inline uint64_t python_turn(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

/*
 * A key for each place, and no two pairs of places with the same difference: were the keys in even
 * steps, a function that calls itself from two lines would have one sum for the lines a, b, b, a
 * and b, a, a, b.
 */
static inline uint64_t python_key(unsigned index)
{
	uint64_t key = (index + 1) * HASH_A;

	return (key ^ key >> 32) * HASH_B;
}

/*
 * A frame's part in the sum: a product with keys of its place (NH: Black et al., UMAC, 1999), so
 * that no frame waits for the one before.
 */
static inline unsigned __int128 python_part(uint64_t code, uint64_t identity, uint64_t rest,
					    unsigned index)
{
	uint64_t key = python_key(index);

	return (unsigned __int128)(code + key) *
	       ((identity ^ rest * HASH_C) + python_turn(key, 24));
}

#endif
