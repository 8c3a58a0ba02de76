/* What backlog.c and backlog_run.c share. */
#ifndef LEDGER_BACKLOG_PARTS_H
#define LEDGER_BACKLOG_PARTS_H

#include "ledger/ledger_parts.h"

/* The n-th that waits. */
static inline const struct spool_waiting *backlog_at(const struct ledger *ledger, unsigned n)
{
	const struct spool_backlog *backlog = &ledger->spool->header->backlog;

	return &backlog->waiting[(backlog->booked + n) % SPOOL_WAITING];
}

/* What tells one from another, into an event that has the rest. */
static inline void backlog_tell(struct event *event, const struct spool_waiting *waiting)
{
	bool born = waiting->size > 0;

	event->t = waiting->t;
	event->ptr = waiting->ptr;
	event->size = (uint64_t)(born ? waiting->size : -waiting->size);
	event->stack = waiting->stack;
	event->thread = waiting->thread;
	event->op = born ? EVENT_ALLOC : EVENT_FREE;
}

/* As it was given to backlog_put(). */
static inline struct event backlog_event(const struct ledger *ledger,
					 const struct spool_waiting *waiting)
{
	const struct spool_backlog *backlog = &ledger->spool->header->backlog;
	struct event event = {
		.pool = backlog->pool,
		.api = backlog->api,
		.device = backlog->device,
		.space = backlog->space,
	};

	backlog_tell(&event, waiting);
	return event;
}

/* What events like this one move, into ledger->backlog; false (and not found) if they cannot be
 * booked together: a curve needs a new point first. */
bool backlog_find(struct ledger *ledger, const struct event *event);

#endif
