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

/* --- between the files of the backlog --- */

static inline struct spool_backlog *pending_shared(const struct ledger *ledger)
{
	return &ledger->spool->header->backlog;
}

static inline const struct spool_waiting *pending_at(const struct ledger *ledger, unsigned n)
{
	return waiting_at(pending_shared(ledger), n);
}

/* The n-th that waits, as it was given to pending_put(). */
static inline struct event pending_event(const struct ledger *ledger, unsigned n)
{
	const struct spool_backlog *backlog = pending_shared(ledger);
	const struct spool_waiting *waiting = pending_at(ledger, n);
	bool born = waiting->size > 0;

	return (struct event){
		.t = waiting->t,
		.ptr = waiting->ptr,
		.size = born ? (uint64_t)waiting->size : 0 - (uint64_t)waiting->size,
		.stack = waiting->stack,
		.thread = waiting->thread,
		.pool = backlog->pool,
		.api = backlog->api,
		.device = backlog->device,
		.op = born ? EVENT_ALLOC : EVENT_FREE,
		.space = SPACE_DEVICE,
	};
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

/* Books the oldest that waits, as if it had come alone; or first the end, unseen, of another block
 * at its address: one event at most. */
void pending_book_one(struct ledger *ledger);
