/*
 * Blocks that come and go thousands of times a second: written down at once, booked together.
 *
 * A block that raises no peak and that its pool's totals agree with changes nothing that anybody
 * must know in the same microsecond. It waits in the spool (a killed process leaves it there, and
 * its reader books it), and up to SPOOL_WAITING of them are booked in one transaction: what was
 * born and died among them moves no sum, and the rest finds code and rows warm.
 *
 * Who looks at the ledger or feeds it otherwise calls pending_settle() first.
 */
#pragma once

#include "ledger/ledger.h"

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

/* What the pool itself says of its sums after the event. */
struct pending_told {
	uint64_t allocated, reserved;
};

/*
 * The event waits: EVENT_ALLOC or EVENT_FREE of a pool's block in a card's memory, filled as for
 * ledger_enter() and, also of a free, with device and size. False, and nothing waits any more, if
 * it must be booked now.
 */
bool pending_put(struct ledger *ledger, const struct event *event, const struct pending_told *told);

void pending_settle_now(struct ledger *ledger);

/* Books all that wait. */
static inline void pending_settle(struct ledger *ledger)
{
	if (__builtin_expect(ledger->backlog.waiting, 0))
		pending_settle_now(ledger);
}

/* The stack of bytes from before the recording: what dies unknown is taken from them. */
void pending_before(struct ledger *ledger, uint32_t stack);

/*
 * Books what waits in a spool that nobody feeds any more: a copy, or the process's own as it ends.
 * The file may be damaged. Readers of its events (journal.h) find them after the others; then the
 * chains of the live table hold what was looked for, and nothing else.
 */
void pending_settle_left(struct spool *spool);

/* After a transaction was taken back (ledger_mend). */
void pending_mend(struct ledger *ledger);
