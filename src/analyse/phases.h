/*
 * Phases: pushes and pops of a journal paired, with the sums of all devices at start, end and peak.
 *
 * Push and pop nest by thread; a start/end range (its number in event->stream) is paired by number
 * and may end on another thread.
 */
#ifndef ANALYSE_PHASES_H
#define ANALYSE_PHASES_H

#include "base/arena.h"
#include "spool/journal.h"

struct phase_sums {
	uint64_t start, end, peak; /* bytes */
};

struct phase {
	uint32_t name, domain; /* texts */
	uint32_t thread;
	bool open; /* no end was seen */
	uint64_t range;
	uint64_t start, end; /* ns */
	struct phase_sums allocated, reserved;
	int32_t earlier, later; /* neighbours among the open ones, -1 for none */
};

struct phases {
	struct phase *list; /* by start */
	size_t count, size;
	int32_t newest;               /* of the open ones */
	uint64_t broken;              /* chunks of events that made no sense from some point on */
	uint64_t allocated, reserved; /* of all devices now */
	struct decode_sums devices[DECODE_DEVICES];
};

/* All phases of the spool, by start: 0 or -ENOMEM. Free with munmap through phases_clear(). */
int phases_find(struct phases *phases, const struct spool *spool);
void phases_clear(struct phases *phases);

/* The same step by step, for those who stream events: false without memory. */
void phases_start(struct phases *phases);
bool phases_event(struct phases *phases, const struct event *event);

/* The phase that a pop would end, NULL if none is open. */
const struct phase *phases_ended_by(const struct phases *phases, const struct event *pop);

#endif
