/*
 * Short-lived blocks, thousands in a second: written to the spool at once, booked together later.
 *
 * A block that raises no peak, and whose pool reports the sums that the ledger has, changes no
 * figure that a reader needs in the same microsecond. It waits in the spool, where it stays if the
 * process is killed; the reader then books it. Up to SPOOL_WAITING blocks are booked in one
 * transaction. Those that were allocated and freed among them change no sum, and all others find
 * their rows in the caches.
 *
 * Code that reads the ledger or books anything else calls pending_settle() first.
 */
#pragma once

#include "ledger/ledger.h"

/* The number of blocks that wait; more than SPOOL_WAITING if the header is damaged. */
static inline uint64_t waiting_count(const struct spool_backlog *backlog)
{
	return backlog->put - backlog->booked;
}

/* The n-th block that waits. */
static inline struct spool_waiting *waiting_at(struct spool_backlog *backlog, unsigned n)
{
	return &backlog->waiting[(backlog->booked + n) % SPOOL_WAITING];
}

/* The pool's own sums after the event, as the pool reports them. */
struct pending_told {
	uint64_t allocated, reserved;
};

/*
 * Stores the event to be booked later: EVENT_ALLOC or EVENT_FREE of a pool's block in a card's
 * memory, filled as for ledger_enter(), a free with device and size as well. False if it must be
 * booked now; then no other waits any more.
 */
bool pending_put(struct ledger *ledger, const struct event *event, const struct pending_told *told);

void pending_settle_now(struct ledger *ledger);

/* Books all blocks that wait. */
static inline void pending_settle(struct ledger *ledger)
{
	if (__builtin_expect(ledger->backlog.waiting, 0))
		pending_settle_now(ledger);
}

/* Sets the stack of bytes older than the recording: frees of unknown blocks reduce them. */
void pending_before(struct ledger *ledger, uint32_t stack);

/*
 * Books the waiting blocks of a spool whose recording has ended: a copy, or the process's own at
 * its end. The file may be damaged. Readers of events (journal.h) get these blocks last. Afterwards
 * the live table finds only the nodes that these blocks needed.
 */
void pending_settle_left(struct spool *spool);

/* To be called after a transaction was undone (ledger_mend). */
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

/* The n-th event that waits, as pending_put() was given it. */
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
 * block, 0 for none. At most a quarter of it is in use. Zeroed at first. */
struct waiting_slots {
	uint8_t at[256];
};

/* The entry that has the address, or the one that it would get. */
static inline uint8_t *waiting_slot(struct waiting_slots *slots, struct spool_backlog *backlog,
				    uint64_t ptr)
{
	unsigned slot = (unsigned)(ptr * 0x9e3779b97f4a7c15u >> 56);

	while (slots->at[slot] && waiting_at(backlog, slots->at[slot] - 1u)->ptr != ptr)
		slot = (slot + 1) % sizeof(slots->at);
	return &slots->at[slot];
}

_Static_assert(sizeof(((struct waiting_slots *)0)->at) >= 4 * SPOOL_WAITING, "a quarter full");

/* Books the oldest waiting block alone. If another block is live at its address, because its free
 * was not seen, that one is freed instead: each call makes one event. */
void pending_book_one(struct ledger *ledger);
