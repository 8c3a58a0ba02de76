/*
 * Python frames told apart without being listed: CPython 3.12 on, where each code object has a
 * number that no other ever has, so what lies in a frame says which line of what it is at.
 *
 * A frame is at the same place, with the same words, for as long as it runs: what the walk before
 * found is compared with what is there now, every frame of it, and only what differs is summed
 * anew. No frame waits for the one before to say where it lies: the walk before knows.
 */
#ifndef CAPTURE_PYTHON_PYTHON_FAST_H
#define CAPTURE_PYTHON_PYTHON_FAST_H

#include "base/mem/hash.h"
#include "capture/python/python.h"
#include "capture/python/python_parts.h"

enum { PYTHON_TRAIL = 160 }; /* frames and shims; what is deeper is listed each time */

/* A frame as it lay there: its words decide all that is made of it. */
struct python_place {
	uint64_t frame;
	uint64_t code, next;
	uint64_t kind; /* its owner, and above that the code's number */
};

/* The last walk, outermost first. Zeroed before the first. */
struct python_trail {
	unsigned last; /* places of that walk */
	unsigned high; /* places that were filled: deeper walks come back to them */
	unsigned good; /* sums that still hold */
	struct python_place at[PYTHON_TRAIL];
	unsigned __int128 sum[PYTHON_TRAIL + 1]; /* of so many outermost places */
	uint16_t frames[PYTHON_TRAIL + 1];       /* of them, those that are no shims */
	struct python_place fresh[PYTHON_TRAIL];
};

/* Is the layout one that can be walked so? */
bool python_is_quick(const struct python_layout *at);

/*
 * Counts and sums the frames from the innermost on; the list stays as it is. False when a code has
 * no number, and when there are more than the trail or the list has room for.
 */
bool python_quick_walk(const struct python_layout *at, const void *innermost,
		       struct python_frames *to);

/* --- what tells one list of frames from another --------------------------------------------------
 */

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
