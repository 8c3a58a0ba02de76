/* What the files of the backlog share. */
#ifndef LEDGER_PENDING_PARTS_H
#define LEDGER_PENDING_PARTS_H

#include "ledger/ledger_parts.h"
#include "spool/pending_blocks.h"

static inline struct spool_backlog *backlog_shared(const struct ledger *ledger)
{
	return &ledger->spool->header->backlog;
}

/* The n-th that waits. */
static inline const struct spool_waiting *backlog_at(const struct ledger *ledger, unsigned n)
{
	return waiting_at(backlog_shared(ledger), n);
}

/* What may come without a new peak, as the sums are by now. */
int64_t backlog_headroom(const struct ledger *ledger);

/* What events like this one move, into ledger->backlog; false (and not found) if they cannot be
 * booked together: a curve needs a new point first. */
bool backlog_find(struct ledger *ledger, const struct event *event);

/* Books the oldest that waits, as if it had come alone; or first the end, unseen, of another block
 * at its address: one event at most. */
void backlog_book_one(struct ledger *ledger);

#endif
