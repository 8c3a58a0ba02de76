/*
 * What was allocated and reserved, on one device or all, while phases begin and end: made so that
 * each phase's figures cost the logarithm of how many there were, however they nest or overlap.
 *
 * Time is counted in pushes: `gap` is how many phases have begun. The highest value since a push is
 * the first of a falling row of peaks at or behind it. What was born and died since a push is a sum
 * over a Fenwick tree by the gap of birth (Fenwick 1994): a block is inside if it was born behind
 * the push, as it died before anybody asks.
 */
#ifndef FACTS_PHASE_STATS_H
#define FACTS_PHASE_STATS_H

#include "facts/trace_model.h"

struct track_peak {
	uint64_t bytes;
	uint64_t gap;
};

struct track_curve {
	uint64_t now;
	struct track_peak *peaks; /* gaps rise, bytes fall */
	size_t count, size;
};

struct track {
	int device; /* NO_DEVICE: all of them */
	struct track_curve allocated, reserved;
	struct trace_phase_count born, freed; /* since the beginning */
	struct trace_phase_count inside;      /* of freed, what the tree has */
	struct trace_phase_count *tree;       /* by gap, from 1 */
	size_t tree_n, tree_size;
};

void track_clear(struct track *track);

/* Sums move to what they are now; `gap` pushes were before. False without memory. */
bool track_move(struct track *track, uint64_t allocated, uint64_t reserved, uint32_t gap);

/* A block is born, or freed; `gap` is then that of its birth, 0 when that is not known. */
void track_born(struct track *track, uint64_t bytes);
bool track_freed(struct track *track, uint64_t bytes, uint32_t gap);

/* No phase is open: what lies behind is nobody's. */
void track_forget(struct track *track);

/*
 * A phase begins, or ends: the one whose push was number `gap`, counted from 1. Between the two its
 * share has of `born` and `freed` what the track had counted at its start. In the end `outliving`
 * is what is left of those born inside.
 */
void track_begin(const struct track *track, struct trace_phase_device *share);
void track_end(const struct track *track, uint32_t gap, struct trace_phase_device *share);

#endif
