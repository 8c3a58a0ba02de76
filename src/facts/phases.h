/*
 * Phases: pushes and pops of a journal paired, and the memory that was allocated and freed between
 * them, on all threads: on all devices together, and on each where there are several.
 *
 * Memory: some 350 bytes a phase (and 112 more for each device where there are several), 64 for
 * each block allocated while a phase is open.
 */
#pragma once

#include "facts/lives.h"
#include "facts/spool_model.h"
#include "spool/journal.h"

/* --- phase_stats.c --- */

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
	struct track_peak *peaks; /* gaps rise, bytes fall */
	size_t count, size;
};

struct track {
	int device; /* NO_DEVICE: all of them */
	struct track_curve allocated, reserved;
	struct trace_phase_count allocations, freed; /* since the beginning */
	struct trace_phase_count inside;             /* of freed, those in the tree */
	struct trace_phase_count *tree;              /* by gap, from 1 */
	size_t tree_n, tree_size;
};

void track_clear(struct track *track);

/* Sets the sums; `gap` pushes came before. False without memory. */
bool track_move(struct track *track, uint64_t allocated, uint64_t reserved, uint32_t gap);

/* A block is allocated, or freed; `gap` is that of its allocation, 0 if not known. */
void track_born(struct track *track, uint64_t bytes);
bool track_freed(struct track *track, uint64_t bytes, uint32_t gap);

/* No phase is open: earlier peaks belong to none. */
void track_forget(struct track *track);

/*
 * A phase begins, or the phase of push number `gap`, counted from 1, ends. In between, its share
 * has in `allocations` and `freed` the track's counts at its start. At the end `kept` is the part
 * of the allocations inside it that is still there.
 */
void track_begin(const struct track *track, struct trace_phase_device *share);
void track_end(const struct track *track, uint32_t gap, struct trace_phase_device *share);

/* --- phases.c --- */

struct phases {
	struct arena *arena;      /* of the devices' shares */
	struct trace_phase *list; /* by start, without names */
	size_t count, size;
	/* The first one is of all devices, the others of one device each. */
	struct track *tracks;
	size_t tracks_n, tracks_size;
	uint16_t track_of[DECODE_DEVICES]; /* position in tracks, 0 for none */
	struct blocks open;                /* ranges */
	struct blocks blocks;              /* allocated while a phase was open; seq is the gap */
	uint64_t next_seq;
	uint32_t chunk; /* the chunk whose sums have been taken */
	size_t cut_at;  /* phases before this position were open or over when events were missing */
};

/* Fills the trace's phases, by start: 0 or -ENOMEM. */
int phases_find(struct spool_model *recording);

/* The same event by event, for callers that stream events. `phases` is all 0 at first except for
 * the arena. False without memory. */
bool phases_event(struct phases *phases, const struct event *event);
void phases_clear(struct phases *phases);

/* The members of a range or mark besides its name and category; "" for none. */
struct detail_text {
	char color[8], payload[40];
};
void detail_tell(const struct event_detail *detail, struct detail_text *text);
