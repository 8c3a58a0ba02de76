/*
 * Phases: the ranges of a recording, each with the memory that was allocated and freed in it, by
 * all threads: on all devices together and, where there are several, on each.
 *
 * Memory: some 220 bytes a phase (and 104 more for each of several devices), 56 for each block
 * allocated while a phase is open.
 */
#pragma once

#include "facts/lives.h"
#include "facts/spool_model.h"
#include "spool/journal.h"

/* --- phase_stats.c: the sums of one device over time --- */

/*
 * The bytes allocated and reserved on one device or on all, while phases begin and end. Each
 * phase's figures cost the logarithm of the number of phases, however they nest or overlap.
 *
 * Time is counted in pushes: `gap` is the number of phases that have begun. The highest value since
 * a push is the first of a falling row of peaks at or after it. The bytes allocated and freed since
 * a push are a sum over a Fenwick tree by the gap of the allocation (Fenwick 1994): a freed block
 * is inside the phase if it was allocated after the push.
 */
struct track_peak {
	uint64_t bytes;
	uint64_t gap;
};

struct track_curve {
	uint64_t now;
	struct track_peak *peaks; /* kept with rising gaps and falling bytes */
	size_t count, size;
};

struct track {
	int device; /* its number, NO_DEVICE: all devices together */
	struct track_curve allocated, reserved;
	struct trace_phase_count allocations, freed; /* since recording began */
	struct trace_phase_count inside;             /* the part of `freed` that is in the tree */
	struct trace_phase_count *tree;              /* Fenwick tree by gap, from 1 */
	size_t tree_n, tree_size;
};

void track_clear(struct track *track);

/* Sets the sums after `gap` pushes. False without memory. */
bool track_move(struct track *track, uint64_t allocated, uint64_t reserved, uint32_t gap);

/* track_born(): a block is allocated. track_freed(): one is freed; `gap` is the gap in which it was
 * allocated, 0 if unknown. */
void track_born(struct track *track, uint64_t bytes);
bool track_freed(struct track *track, uint64_t bytes, uint32_t gap);

/* To be called when no phase is open: drops the peaks, which no later phase needs. */
void track_forget(struct track *track);

/*
 * track_begin(): a phase begins. track_end(): the phase of push number `gap`, counted from 1, ends.
 * In between, `allocations` and `freed` of its share are the track's counts at its start. At its
 * end `kept` is the part of its allocations that is not freed.
 */
void track_begin(const struct track *track, struct trace_phase_device *share);
void track_end(const struct track *track, uint32_t gap, struct trace_phase_device *share);

/* --- phases.c: the phases of a recording --- */

struct phases {
	struct arena *arena;      /* memory of the figures */
	struct trace_phase *list; /* all phases by start; their names are filled at the end */
	size_t count, size;
	/* [0]: all devices together, the others: one device each */
	struct track *tracks;
	size_t tracks_n, tracks_size;
	uint16_t track_of[DECODE_DEVICES]; /* by device: position in tracks, 0 for none */
	struct blocks open;                /* open ranges */
	struct blocks blocks; /* blocks allocated while a phase was open; their seq is the gap */
	uint64_t next_seq;
	uint32_t chunk; /* number of the chunk whose sums have been taken */
	size_t cut_at;  /* phases before this position were begun when events were missing */
};

/* Fills the trace's phases, by start: 0 or -ENOMEM. */
int phases_find(struct spool_model *recording);

/* Takes one event, for callers that stream events. `phases` is all 0 at first except for the arena.
 * False without memory. */
bool phases_event(struct phases *phases, const struct event *event);
void phases_clear(struct phases *phases);

/* The members of a range or mark, besides name and category, as text; "" for none. */
struct detail_text {
	char color[8], payload[40];
};
void detail_tell(const struct event_detail *detail, struct detail_text *text);
