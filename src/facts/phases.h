/*
 * Phases: pushes and pops of a journal paired, and what memory did between them, by time and over
 * all threads: on all devices together, and on each where there are several.
 *
 * Memory: some 350 bytes a phase (and 112 more for each device where there are several), 64 for
 * each block born while one is open.
 */
#pragma once

#include "facts/lives.h"
#include "facts/spool_model.h"
#include "spool/journal.h"

/* --- phase_stats.c --- */

/*
 * What was allocated and reserved, on one device or all, while phases begin and end: made so that
 * each phase's figures cost the logarithm of how many there were, however they nest or overlap.
 *
 * Time is counted in pushes: `gap` is how many phases have begun. The highest value since a push is
 * the first of a falling row of peaks at or behind it. What was born and died since a push is a sum
 * over a Fenwick tree by the gap of birth (Fenwick 1994): a block is inside if it was born behind
 * the push, as it died before anybody asks.
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
	struct trace_phase_count inside;             /* of freed, what the tree has */
	struct trace_phase_count *tree;              /* by gap, from 1 */
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
 * share has of `allocations` and `freed` what the track had counted at its start. In the end `kept`
 * is what is left of those born inside.
 */
void track_begin(const struct track *track, struct trace_phase_device *share);
void track_end(const struct track *track, uint32_t gap, struct trace_phase_device *share);

/* --- phases.c --- */

struct phases {
	struct arena *arena;      /* of the devices' shares */
	struct trace_phase *list; /* by start, without names */
	size_t count, size;
	/* The first is of all devices; those of each follow. */
	struct track *tracks;
	size_t tracks_n, tracks_size;
	uint16_t track_of[DECODE_DEVICES]; /* position in tracks, 0 for none */
	struct blocks open;                /* ranges */
	struct blocks blocks;              /* born while a phase was open; seq is the gap */
	uint64_t next_seq;
	uint32_t chunk; /* whose sums have been taken */
	size_t cut_at;  /* phases before this one were there when events were missing */
};

/* Fills the trace's phases, by start: 0 or -ENOMEM. */
int phases_find(struct spool_model *recording);

/*
 * The same step by step, for those who stream events, into what is all 0 but for the arena: false
 * without memory.
 */
bool phases_event(struct phases *phases, const struct event *event);
void phases_clear(struct phases *phases);

/* What a range or mark says beside its name and category; "" for nothing. */
struct detail_text {
	char color[8], payload[40];
};
void detail_tell(const struct event_detail *detail, struct detail_text *text);
