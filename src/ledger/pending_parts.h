/* What the files of the backlog share. */
#pragma once

#include "ledger/ledger_parts.h"
#include "ledger/pending.h"

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

/* As it was given to pending_put(). */
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

static inline struct spool_backlog *pending_shared(const struct ledger *ledger)
{
	return &ledger->spool->header->backlog;
}

static inline const struct spool_waiting *pending_at(const struct ledger *ledger, unsigned n)
{
	return waiting_at(pending_shared(ledger), n);
}

/* What may come without a new peak, as the sums are by now. */
int64_t pending_headroom(const struct ledger *ledger);

/* What events like this one move, into ledger->backlog; false (and not found) if they cannot be
 * booked together: a curve needs a new point first. */
bool pending_find(struct ledger *ledger, const struct event *event);

/* Books the oldest that waits, as if it had come alone; or first the end, unseen, of another block
 * at its address: one event at most. */
void pending_book_one(struct ledger *ledger);
