/*
 * Which events of a long history stay, and where it must be said what the others hold.
 *
 * Only blocks of a device may go, those with an end of their own or none. Of these stay the ones
 * that take most of the picture (bytes times events lived), and in each slice of the history those
 * that make a device's or a pool's sum its highest or its lowest.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct history;
struct history_event;
struct history_sum;

struct history_keep {
	uint8_t *stays;  /* by event; a block's birth and death stay or go together */
	uint8_t *edges;  /* by event: a slice begins with it, or a sum peaks */
	uint32_t *birth; /* by event: of the block that it ends, where that may go; HISTORY_NONE */
	size_t slices;
};

/* About `most` events stay or stand for those that go; there must be one at least. 0 or -ENOMEM. */
int history_keep(struct history_keep *keep, const struct history *history, size_t most);

void history_keep_clear(struct history_keep *keep);

/* The sums of devices and pools while one goes through the events of a history. */
struct history_running {
	const struct history *history;
	uint32_t *device_of, *pool_of; /* by place: positions in now[] */
	struct history_sum *now;
	size_t now_n;
};

/* All sums are 0, and no event has been added. The history must stay. 0 or -ENOMEM. */
int history_running_start(struct history_running *running, const struct history *history);

/* What the event moves, which must be one of the history's. */
void history_running_add(struct history_running *running, const struct history_event *event);

void history_running_clear(struct history_running *running);
