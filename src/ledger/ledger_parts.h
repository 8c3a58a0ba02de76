/*
 * The steps of a transaction, for files that change sums and nodes (live allocations) together.
 *
 * The order: ledger_touch() for each event, ledger_room() for all of them, txn_begin(),
 * ledger_book() and changes of nodes, ledger_commit(). If the process is killed inside the
 * transaction, a reader of the spool undoes all of it.
 */
#pragma once

#include "ledger/ledger.h"

/* Returns the scope's entry in pens[], a cache; neighbouring scopes have different entries. */
static inline struct timeline_pen *ledger_pen(struct ledger *ledger,
					      const struct spool_scope *scope)
{
	return &ledger->pens[(unsigned)((uintptr_t)scope / sizeof(*scope)) % LEDGER_PENS];
}

/* If `error` (of spool_need()) is not 0, stops the ledger because of it and returns true. */
bool ledger_fails(struct ledger *ledger, int64_t error);

/* Returns the index of the scope, added if it is new; -1 for an error, or too many scopes. */
int64_t ledger_scope(struct ledger *ledger, enum scope_kind kind, int device, uint32_t name);

/*
 * Finds the scopes that the event changes. To be called before the transaction, because new scopes
 * are made outside of transactions. The result is valid until the next event; NULL after an error.
 */
const struct touched *ledger_touch(struct ledger *ledger, const struct event *event,
				   uint32_t owner);

/* ledger_touch() for scopes that are not cached; `where` is their key. False: an error. */
bool ledger_touch_anew(struct ledger *ledger, const struct event *event, uint64_t where,
		       uint32_t owner);

/* Makes room for `events` events and a node, and adds the sums that the last event changed to their
 * curves. False after an error. */
bool ledger_room(struct ledger *ledger, unsigned events);

/* True if the event begins an allocation, false if it frees one. */
static inline bool ledger_comes(const struct event *event)
{
	return event->op == EVENT_ALLOC || event->op == EVENT_RESERVE;
}

void ledger_put(struct ledger *ledger, struct event *event);

/* Writes the event and changes the sums of the scopes; `stack` is the stack that allocated. */
void ledger_book(struct ledger *ledger, struct event *event, uint32_t stack,
		 const struct touched *touched);

/* All steps from ledger_touch() to ledger_book() for one event; `stack` gets `blocks` more blocks.
 * Pass ledger->last_touched to ledger_commit(). False: an error, and no transaction is open. */
bool ledger_begin(struct ledger *ledger, struct event *event, uint32_t stack, uint32_t owner,
		  int64_t blocks);

/* Counts an allocation (EVENT_ALLOC), or a free (EVENT_FREE), in the rows of its stacks. */
void ledger_count_birth(struct ledger *ledger, const struct event *event, uint32_t stack);
void ledger_count_death(struct ledger *ledger, const struct event *event,
			const struct spool_node *node);

/* Counts a free: stack `born` allocated the bytes, stack `died` frees them. */
void ledger_count_free(struct spool *spool, uint32_t born, uint32_t died, uint64_t size);

/* Removes the node and counts its free. */
void ledger_bury(struct ledger *ledger, const struct event *event, uint32_t id);

/* Fills the members of a free or release event that are known from the freed node. */
void ledger_tell_end(struct event *event, const struct spool_node *node);

/* Ends the transaction. The scopes' curves get a point when the next event comes. */
void ledger_commit(struct ledger *ledger, const struct touched *touched);

/* Adds a scope to those whose curves get a point when the next event comes. */
void ledger_redraw(struct ledger *ledger, const struct totals_scope *scope);
