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

#include "capture/python/python.h"
#include "capture/python/python_layout.h"

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

#endif
