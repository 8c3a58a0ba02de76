/*
 * What the writer of a spool and the readers of its copy know of the blocks that wait in it: the
 * n-th of them, as an event, and by its address.
 */
#ifndef SPOOL_PENDING_BLOCKS_H
#define SPOOL_PENDING_BLOCKS_H

#include "codec/event.h"
#include "spool/layout.h"

/* How many wait: more than SPOOL_WAITING in a header that makes no sense. */
static inline uint64_t waiting_count(const struct spool_backlog *backlog)
{
	return backlog->put - backlog->booked;
}

/* The n-th that waits. */
static inline struct spool_waiting *waiting_at(struct spool_backlog *backlog, unsigned n)
{
	return &backlog->waiting[(backlog->booked + n) % SPOOL_WAITING];
}

/* What tells one from another, into an event that has the rest. */
static inline void waiting_tell(const struct spool_waiting *waiting, struct event *event)
{
	bool born = waiting->size > 0;

	event->t = waiting->t;
	event->ptr = waiting->ptr;
	event->size = born ? (uint64_t)waiting->size : 0 - (uint64_t)waiting->size;
	event->stack = waiting->stack;
	event->thread = waiting->thread;
	event->op = born ? EVENT_ALLOC : EVENT_FREE;
}

/* As it was given to backlog_put(). */
static inline struct event waiting_event(const struct spool_backlog *backlog,
					 const struct spool_waiting *waiting)
{
	struct event event = {
		.pool = backlog->pool,
		.api = backlog->api,
		.device = backlog->device,
		.space = SPACE_DEVICE,
	};

	waiting_tell(waiting, &event);
	return event;
}

/* Numbers by address, each 1 + one that waits there: a quarter full at most. Zeroed before the
 * first. */
struct waiting_slots {
	uint8_t at[256];
};

/* Where the address's number is or belongs. */
static inline uint8_t *waiting_slot(struct waiting_slots *slots, struct spool_backlog *backlog,
				    uint64_t ptr)
{
	unsigned slot = (unsigned)(ptr * 0x9e3779b97f4a7c15u >> 56);

	while (slots->at[slot] && waiting_at(backlog, slots->at[slot] - 1u)->ptr != ptr)
		slot = (slot + 1) % sizeof(slots->at);
	return &slots->at[slot];
}

_Static_assert(sizeof(((struct waiting_slots *)0)->at) >= 4 * SPOOL_WAITING, "a quarter full");

#endif
