/* The ranges that are open in a process that is being looked at, and those that ended last. */
#ifndef ANALYSE_LIVE_LIVE_VIEW_RANGES_H
#define ANALYSE_LIVE_LIVE_VIEW_RANGES_H

#include "analyse/live/follow.h"

enum {
	LOOK_RANGES_OPEN = 1024, /* at most: of more the oldest are forgotten */
	LOOK_RANGES_ENDED = 4,
};

struct look_range {
	uint64_t number;     /* 0: pushed */
	uint64_t start, end; /* ns since process start; end 0 while it is open */
	uint32_t thread;
	uint32_t name, domain; /* texts */
};

struct look_ranges {
	struct look_range open[LOOK_RANGES_OPEN]; /* oldest first */
	uint32_t open_n;
	struct look_range ended[LOOK_RANGES_ENDED]; /* newest first */
	uint32_t ended_n;
	uint64_t next; /* event to be read */
	bool late; /* there were events before those that could be read: ranges may be missing */
};

/*
 * Reads on from where it read last; of what was before the first look, some hundred thousand
 * events.
 */
void look_ranges_read(struct look_ranges *ranges, struct follow *follow);

#endif
