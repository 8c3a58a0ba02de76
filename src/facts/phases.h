/*
 * Phases: pushes and pops of a journal paired, and what memory did between them, by time and over
 * all threads: on all devices together, and on each where there are several.
 *
 * Memory: some 350 bytes a phase (and 112 more for each device where there are several), 64 for
 * each block born while one is open.
 */
#ifndef FACTS_PHASES_H
#define FACTS_PHASES_H

#include "facts/live_blocks.h"
#include "facts/phase_stats.h"
#include "facts/spool_model.h"
#include "spool/journal.h"

struct phases {
	struct arena *arena;      /* of the devices' shares */
	struct trace_phase *list; /* by start, without names */
	size_t count, size;
	/* The first is of all devices; those of each follow. */
	struct track *tracks;
	size_t tracks_n, tracks_size;
	uint16_t track_of[DECODE_DEVICES]; /* position in tracks, 0 for none */
	struct blocks open;                /* ranges */
	struct blocks blocks; /* born while a phase was open; seq is the gap (phase_stats.h) */
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

#endif
