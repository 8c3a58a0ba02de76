/*
 * The pieces of a transaction, for the files that change sums and nodes together.
 *
 * In this order: ledger_touch() for each event, ledger_room() for all of them, txn_begin(),
 * ledger_book() and changes of nodes, ledger_commit(). Whatever the transaction holds, a process
 * killed inside it leaves none of it.
 */
#pragma once

#include "ledger/ledger.h"

static inline uint64_t ledger_generation(const struct ledger *ledger)
{
	return atomic_load_explicit(&ledger->spool->header->generation, memory_order_relaxed);
}

/* Scopes lie side by side. */
static inline struct timeline_pen *ledger_pen(struct ledger *ledger,
					      const struct spool_scope *scope)
{
	return &ledger->pens[(unsigned)((uintptr_t)scope / sizeof(*scope)) % LEDGER_PENS];
}

/* Stops the ledger if this is an error of spool_need(): true then. */
bool ledger_fails(struct ledger *ledger, int64_t error);

/* The scope's index, made if it is new; -1 after an error, or where there are too many. */
int64_t ledger_scope(struct ledger *ledger, enum scope_kind kind, int device, uint32_t name);

/*
 * Finds the scopes that the event touches, before its transaction for they may be new. There until
 * the next event; NULL after an error.
 */
const struct touched *ledger_touch(struct ledger *ledger, const struct event *event,
				   uint32_t owner);

/* The same where it is not like the event before; `where` tells it from others. */
bool ledger_touch_anew(struct ledger *ledger, const struct event *event, uint64_t where,
		       uint32_t owner);

/* Room for so many events and one new node; what the event before moved is drawn. False after an
 * error. */
bool ledger_room(struct ledger *ledger, unsigned events);

/* Does the event begin something, rather than end it? */
static inline bool ledger_comes(const struct event *event)
{
	return event->op == EVENT_ALLOC || event->op == EVENT_RESERVE;
}

/* Writes the event. */
void ledger_put(struct ledger *ledger, struct event *event);

/* Writes the event and moves its sums; `stack` is the one its bytes are booked under. */
void ledger_book(struct ledger *ledger, struct event *event, uint32_t stack,
		 const struct touched *touched);

/*
 * All of these for one event, up to its sums: its stack has `blocks` more then. The caller commits
 * what was touched last. False, with no transaction open, after an error.
 */
bool ledger_begin(struct ledger *ledger, struct event *event, uint32_t stack, uint32_t owner,
		  int64_t blocks);

/* The stacks' own counts of what an event began (op alloc) or ended (op free); others count
 * nothing.
 */
void ledger_count_birth(struct ledger *ledger, const struct event *event, uint32_t stack);
void ledger_count_death(struct ledger *ledger, const struct event *event,
			const struct spool_node *node);

/* Bytes that stack `born` had handed out and stack `died` gives back. */
void ledger_count_free(struct spool *spool, uint32_t born, uint32_t died, uint64_t size);

/* Takes the node away and counts its death. */
void ledger_bury(struct ledger *ledger, const struct event *event, uint32_t id);

/* What the end of a node says: all but time, stack, thread, stream and api. */
void ledger_tell_end(struct event *event, const struct spool_node *node);

/* Ends the transaction: what was touched is drawn when the next event comes. */
void ledger_commit(struct ledger *ledger, const struct touched *touched);

/* One scope more to be drawn then. */
void ledger_redraw(struct ledger *ledger, const struct totals_scope *scope);
