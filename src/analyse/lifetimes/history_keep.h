/*
 * The events of a long history that stay, and the points where folds must stand for the others.
 *
 * Only blocks of a device may go, those with a free of their own or none. Of these stay the blocks
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
	uint32_t *birth; /* by event: the birth of what it ends, if that may go; HISTORY_NONE */
	size_t slices;
};

/* Chooses about `most` events, folds included; `most` must be at least 1. */
void history_keep(struct history_keep *keep, const struct history *history, size_t most);

void history_keep_clear(struct history_keep *keep);

/* The sums of devices and pools while one goes through the events of a history. */
struct history_running {
	const struct history *history;
	uint32_t *device_of, *pool_of; /* by place: positions in now[] */
	struct history_sum *now;
	size_t now_n;
};

/* Starts with all sums 0. The history must stay. */
void history_running_start(struct history_running *running, const struct history *history);

/* Adds the event's effect to the sums; it must be one of the history's. */
void history_running_add(struct history_running *running, const struct history_event *event);

void history_running_clear(struct history_running *running);
