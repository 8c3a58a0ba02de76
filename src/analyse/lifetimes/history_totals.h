/* The sums of devices and pools while one goes through the events of a history. */
#ifndef ANALYSE_LIFETIMES_HISTORY_TOTALS_H
#define ANALYSE_LIFETIMES_HISTORY_TOTALS_H

#include <stddef.h>
#include <stdint.h>

struct history;
struct history_event;
struct history_sum;

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

#endif
