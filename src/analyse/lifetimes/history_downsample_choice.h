/*
 * Chooses the events of a long history that are kept one by one, and the positions of the folds
 * (events with sums) that replace the other events.
 *
 * Only blocks in GPU memory that lived until a free event or the trace's end can be removed. Of
 * these, the ones with the largest areas (bytes times events lived) are kept, and the ones at whose
 * events the sum of a device or pool is highest or lowest in a slice (a fixed number of events).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct history;
struct history_event;
struct history_sum;

struct history_keep {
	uint8_t *stays;  /* by event: 1 if kept; of a block's two events, both or none are kept */
	uint8_t *edges;  /* by event: 1 if folds come before it (new slice, or peak of a sum) */
	uint32_t *birth; /* by event: the removable allocation that it frees, or HISTORY_NONE */
	size_t slices;
};

/* Chooses about `most` events, folds included; more if too few events can be removed. */
void history_keep(struct history_keep *keep, const struct history *history, size_t most);

void history_keep_clear(struct history_keep *keep);

/* The sums of devices and pools, while the events of a history are added one after another. */
struct history_running {
	const struct history *history;
	uint32_t *device_of, *pool_of; /* by position in history->places[]: position in now[] */
	struct history_sum *now;
	size_t now_n;
};

/* Starts with all sums 0. `history` must outlive `running`. */
void history_running_start(struct history_running *running, const struct history *history);

/* Adds the event's effect to the sums; the event must be one of running->history. */
void history_running_add(struct history_running *running, const struct history_event *event);

void history_running_clear(struct history_running *running);
