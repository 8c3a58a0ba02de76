/*
 * Phases: the named ranges of a recording (NVTX, memtrace_push()), each with the memory that all
 * threads allocated and freed during it: on all devices together and, if several, on each device.
 *
 * This code uses about 220 bytes for a phase (and 104 more for each of several devices), and about
 * 60 bytes for each block that is allocated while a phase is open.
 */
#pragma once

#include "facts/lives.h"
#include "facts/spool_model.h"
#include "spool/event_journal.h"

/* --- phase_stats.c: the sums of one device over time --- */

/*
 * The bytes allocated and reserved on one device or on all, while phases begin and end. Computing a
 * phase takes time that grows with the logarithm of the number of phases, nested or overlapping.
 *
 * Time is counted in pushes, at which phases begin: gap n is the time between pushes n and n + 1.
 * In `peaks`, gaps rise and bytes fall, so the first entry with a gap of at least n has the highest
 * value since push n. A freed block is inside a phase if it was allocated after the phase's push,
 * so a Fenwick tree (Fenwick 1994) sums freed blocks by the gap in which they were allocated.
 */
struct track_peak {
	uint64_t bytes;
	uint64_t gap;
};

struct track_curve {
	uint64_t now;
	struct track_peak *peaks;
	size_t count, size;
};

struct track {
	int device; /* the device's number, NO_DEVICE for all devices together */
	struct track_curve allocated, reserved;
	struct trace_phase_count allocations, freed; /* totals since recording began */
	struct trace_phase_count inside;             /* the part of `freed` whose gap is known */
	struct trace_phase_count *tree; /* Fenwick tree by gap (see above); [0] is not used */
	size_t tree_n, tree_size;
};

void track_clear(struct track *track);

/* Sets the allocated and reserved bytes after `gap` pushes. False if memory is short. */
bool track_move(struct track *track, uint64_t allocated, uint64_t reserved, uint32_t gap);

/* track_born() counts an allocated block. track_freed() counts a freed block that was allocated in
 * gap `gap` (see above; 0 if unknown); it returns false if memory is short. */
void track_born(struct track *track, uint64_t bytes);
bool track_freed(struct track *track, uint64_t bytes, uint32_t gap);

/* Drops the peaks so far. To be called while no phase is open, as only open phases need them. */
void track_forget(struct track *track);

/*
 * track_begin() stores the track's sums and counts in the share when a phase begins. track_end()
 * turns them into the phase's own when the phase ends; `gap` is the number of the phase's push,
 * counted from 1. It sets `kept` to the phase's allocations that were not freed before its end.
 */
void track_begin(const struct track *track, struct trace_phase_device *share);
void track_end(const struct track *track, uint32_t gap, struct trace_phase_device *share);

/* --- phases.c: the phases of a recording --- */

struct phases {
	struct arena *arena;      /* the phases' sums per device are allocated here */
	struct trace_phase *list; /* sorted by start; only phases_find() sets their names */
	size_t count, size;
	/* tracks[0]: all devices together; tracks[1] and on: one device each */
	struct track *tracks;
	size_t tracks_n, tracks_size;
	uint16_t track_of[DECODE_DEVICES]; /* by device: position in tracks, 0 for none */
	struct blocks open;                /* the ranges that are open */
	struct blocks blocks; /* allocated in an open phase; `seq`: the gap of the allocation */
	uint64_t next_seq;
	uint32_t chunk; /* number of the last chunk of events whose sums were stored in tracks */
	size_t cut_at;  /* open phases before this position in list[] lack events */
};

/* Fills the trace's phases, sorted by start. 0 or -ENOMEM. */
int phases_find(struct spool_model *recording);

/* Processes the next event, for callers that read the events themselves. Before the first event,
 * all members except the arena must be 0. False if memory is short. */
bool phases_event(struct phases *phases, const struct event *event);
void phases_clear(struct phases *phases);

/* The colour and the payload of an NVTX range or mark as texts, "" if it has none. */
struct detail_text {
	char color[8], payload[40];
};
void detail_tell(const struct event_detail *detail, struct detail_text *text);
