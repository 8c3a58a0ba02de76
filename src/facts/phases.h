/*
 * Phases: pushes and pops of a journal paired, and what memory did between them, by time and over
 * all threads: on all devices together, and on each where there are several.
 *
 * Memory: some 200 bytes a phase (and 112 more for each device where there are several), 24 for
 * each block born while one is open, given back by phases_clear().
 */
#ifndef FACTS_PHASES_H
#define FACTS_PHASES_H

#include "facts/live_blocks.h"
#include "facts/phase_stats.h"
#include "facts/ranges.h"
#include "spool/journal.h"

struct phase {
	uint32_t name, domain; /* texts */
	uint32_t thread;
	bool open; /* no end was seen */
	bool cut;  /* events inside are missing: births and deaths are not known */
	struct event_detail detail;
	uint64_t start, end;     /* ns */
	struct track_part all;   /* of all devices together */
	uint32_t parts, devices; /* of each: phases_part(); 0 devices where there is but one */
};

struct phases {
	struct phase *list; /* by start */
	size_t count, size;
	struct track_part *parts;
	size_t parts_n, parts_size;
	/* The first is of all devices; those of each follow once there is a second. */
	struct track *tracks;
	size_t tracks_n, tracks_size;
	uint16_t track_of[DECODE_DEVICES]; /* 1 + position in tracks */
	struct ranges open;
	struct blocks blocks; /* born while a phase was open; seq is the gap (track.h) */
	uint64_t next_seq;
	int16_t first;   /* device */
	uint32_t chunk;  /* whose sums have been taken */
	size_t cut_at;   /* phases before this one were there when events were missing */
	uint64_t broken; /* chunks of events that made no sense from some point on */
};

/* All phases of the spool, by start: 0 or -ENOMEM. To be given back by phases_clear() either way.
 */
int phases_find(struct phases *phases, const struct spool *spool);
void phases_clear(struct phases *phases);

/*
 * The same step by step, for those who stream events: false without memory. phases_end() ends what
 * is open.
 */
void phases_start(struct phases *phases);
bool phases_event(struct phases *phases, const struct event *event);
bool phases_end(struct phases *phases);

/* What the phase saw of its i-th device, whose number goes to *device. */
const struct track_part *phases_part(const struct phases *phases, const struct phase *phase,
				     uint32_t i, int *device);

#endif
