/*
 * Short-lived blocks, thousands per second: written to the spool at once, added to the sums later.
 *
 * If a block raises no peak, and its pool reports the sums that the ledger has, no reader needs its
 * change of the sums in the same microsecond. The block waits in the spool, where it stays if the
 * process is killed; the reader then adds it to the sums. Up to SPOOL_WAITING blocks are added in
 * one transaction. A block that is allocated and freed while it waits changes no sum; the rows that
 * the others change are in the processor's caches.
 *
 * Code that reads the ledger, or records anything else in it, calls pending_settle() first.
 */
#pragma once

#include "ledger/ledger.h"

/* The number of blocks that wait; more than SPOOL_WAITING if the header is damaged. */
static inline uint64_t waiting_count(const struct spool_backlog *backlog)
{
	return backlog->put - backlog->booked;
}

static inline struct spool_waiting *waiting_at(struct spool_backlog *backlog, unsigned n)
{
	return &backlog->waiting[(backlog->booked + n) % SPOOL_WAITING];
}

/* The pool's own sums after the event, as the pool reports them. */
struct pending_told {
	uint64_t allocated, reserved;
};

/*
 * Stores the event, to be recorded later: EVENT_ALLOC or EVENT_FREE of a pool's block in a card's
 * memory, filled as for ledger_enter(), a free with device and size as well. False if it must be
 * recorded now; then no block waits any more.
 */
bool pending_put(struct ledger *ledger, const struct event *event, const struct pending_told *told);

void pending_settle_now(struct ledger *ledger);

/* Adds all waiting blocks to the sums. */
static inline void pending_settle(struct ledger *ledger)
{
	if (__builtin_expect(ledger->backlog.waiting, 0))
		pending_settle_now(ledger);
}

/* Sets the stack of bytes older than the recording: frees of unknown blocks reduce these bytes. */
void pending_before(struct ledger *ledger, uint32_t stack);

/*
 * Adds the waiting blocks to the sums of a spool whose recording has ended: a copy, or the
 * process's own at its end. The file may be damaged. Readers of events (event_journal.h) get these
 * blocks last. Afterwards the live table finds only the nodes that these blocks needed.
 */
void pending_settle_left(struct spool *spool);

/* Called by ledger_mend(), after a transaction was undone: counts the waiting blocks again. */
void pending_mend(struct ledger *ledger);

/* --- shared by the files pending*.c --- */

static inline struct spool_backlog *pending_shared(const struct ledger *ledger)
{
	return &ledger->spool->header->backlog;
}

static inline const struct spool_waiting *pending_at(const struct ledger *ledger, unsigned n)
{
	return waiting_at(pending_shared(ledger), n);
}

/* The n-th event that waits, as it was passed to pending_put(). */
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

/* Waiting blocks by address: a hash table with open addressing; each entry is 1 + the number of a
 * block, 0 for none. At most a quarter of the table is in use. Must be zeroed at first. */
struct waiting_slots {
	uint8_t at[256];
};

/* The entry of the block at the address, or the empty entry for such a block. */
static inline uint8_t *waiting_slot(struct waiting_slots *slots, struct spool_backlog *backlog,
				    uint64_t ptr)
{
	unsigned slot = (unsigned)(ptr * 0x9e3779b97f4a7c15u >> 56);

	while (slots->at[slot] && waiting_at(backlog, slots->at[slot] - 1u)->ptr != ptr)
		slot = (slot + 1) % sizeof(slots->at);
	return &slots->at[slot];
}

_Static_assert(sizeof(((struct waiting_slots *)0)->at) >= 4 * SPOOL_WAITING, "a quarter full");

/* Records the oldest waiting block alone. If another block is live at its address, because the free
 * was not seen, the other block is freed instead: each call makes at most one event. */
void pending_book_one(struct ledger *ledger);
