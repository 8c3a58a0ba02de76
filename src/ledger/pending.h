/*
 * Writes short-lived blocks (thousands per second) to the spool, and adds them to the sums later.
 *
 * A block that raises no peak, and after which its pool reports the same sums as the ledger, may
 * wait in the spool. If the process is killed, a reader of the spool adds it to the sums. Up to
 * SPOOL_WAITING blocks are added in one transaction, which is faster: a block that was allocated
 * and freed while it waited changes no sum, and rows that several blocks change are in the cache.
 *
 * Code that reads the ledger, or records anything else in it, must call pending_settle() first.
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

/* The pool's sums in bytes after an event, as the pool itself reports them. */
struct pending_told {
	uint64_t allocated, reserved;
};

/*
 * Stores an event whose change of the sums can wait: EVENT_ALLOC or EVENT_FREE of a pool's block in
 * GPU memory, filled as for ledger_enter(), a free with device and size as well. Returns false if
 * the caller must record the event now; then no block waits any more.
 */
bool pending_put(struct ledger *ledger, const struct event *event, const struct pending_told *told);

void pending_settle_now(struct ledger *ledger);

/* Adds all waiting blocks to the sums. */
static inline void pending_settle(struct ledger *ledger)
{
	if (__builtin_expect(ledger->backlog.waiting, 0))
		pending_settle_now(ledger);
}

/* Sets the stack of bytes from before the recording, which frees of unknown blocks reduce. */
void pending_before(struct ledger *ledger, uint32_t stack);

/*
 * Adds the waiting blocks to the sums of a spool whose recording has ended: a reader's copy, which
 * may be damaged, or the process's own at its end. Readers of events (event_journal.h) get these
 * blocks' events last. Afterwards live_find() finds only nodes at the addresses of these blocks.
 */
void pending_settle_left(struct spool *spool);

/* Called by ledger_mend() after a transaction was undone: counts the waiting blocks again. */
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

/* Returns the n-th event that waits (from 0), as it was passed to pending_put(). */
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
 * block, or 0. At most a quarter of the entries are in use. All must be 0 at first. */
struct waiting_slots {
	uint8_t at[256];
};

/* Returns the entry of the block at the address, or the free entry to use for such a block. */
static inline uint8_t *waiting_slot(struct waiting_slots *slots, struct spool_backlog *backlog,
				    uint64_t ptr)
{
	unsigned slot = (unsigned)(ptr * 0x9e3779b97f4a7c15u >> 56);

	while (slots->at[slot] && waiting_at(backlog, slots->at[slot] - 1u)->ptr != ptr)
		slot = (slot + 1) % sizeof(slots->at);
	return &slots->at[slot];
}

_Static_assert(sizeof(((struct waiting_slots *)0)->at) >= 4 * SPOOL_WAITING, "a quarter in use");

/* Records the oldest waiting event. If it is an allocation at the address of a live block, whose
 * free was not seen, frees that block and lets the event wait: each call writes at most one
 * event. */
void pending_book_one(struct ledger *ledger);
