/*
 * The ledger: memory that is held, by stack, now and at every peak. The recorder feeds it with
 * events, and so do tools that rebuild it. Allocations, sums and shares change together with the
 * journal, in one transaction for each event, so they agree even if the process is killed at any
 * instruction.
 *
 * The caller serialises all calls. A call that finds no room stops the ledger: `error` is set (an
 * error of spool_need()) and later calls do nothing.
 */
#pragma once

#include "ledger/granules.h"
#include "ledger/live.h"
#include "ledger/timeline.h"
#include "ledger/totals.h"
#include "spool/journal.h"

enum { LEDGER_SCOPES = 64, LEDGER_UNDRAWN = 4, LEDGER_PENS = 16 };

/* The scopes whose sums an event changes; `row` is NULL for none. */
struct touched {
	struct totals_scope device, pool, owner, space;
};

/* Blocks that wait to be added to the sums (pending.h). */
struct ledger_backlog {
	unsigned waiting, room; /* number of blocks that wait, and of those that may wait */
	bool taking;            /* the open transaction handles the oldest of them */
	uint64_t generation;    /* the spool's; if it differs, sums have changed since */
	uint64_t until;         /* ns: the curves need no new point before that time */
	/* Bytes that may come without a new peak, and the pool's sums, after all that wait. */
	int64_t headroom;
	uint64_t allocated, reserved;
	struct backlog_sum { /* the sums that they change: their pool's and their device's */
		struct totals_scope scope;
		struct spool_point *point;
	} sums[2];
};

struct ledger {
	struct spool *spool;
	int error;
	bool quiet;  /* only sums change, events are not written (memtrace_stop) */
	bool behind; /* an event was not written after the last written one */
	struct ledger_backlog backlog;
	struct journal journal;
	struct granules granules;
	/* The scopes that the last event changed. Their curves are drawn when the next event comes,
	 * because until then ledger_retag() may rewrite the last one. */
	struct spool_scope *undrawn[LEDGER_UNDRAWN];
	uint32_t undrawn_n;
	struct timeline_pen pens[LEDGER_PENS];
	uint32_t newest; /* the node that the last transaction made, 0 if it did anything else */
	uint64_t newest_generation;
	struct event newest_event;
	bool newest_quiet;              /* its event was not written */
	uint32_t scopes[LEDGER_SCOPES]; /* cache of totals_scope_known(): 1 + a scope's index, 0:
					   empty */
	struct ledger_touched { /* the last event's scopes: the next event is often like it */
		uint64_t where;
		uint32_t owner;
		struct touched touched;
	} last_touched;
};

/* 0 or -errno. The spool must be fresh. */
int ledger_init(struct ledger *ledger, struct spool *spool, uint64_t max_events);
void ledger_clear(struct ledger *ledger);

/* To be called after a transaction was left in the middle and undone (txn_cancel): makes the state
 * outside the spool agree with the spool. */
void ledger_mend(struct ledger *ledger);

/*
 * Books an allocation: writes its event and changes its sums. The caller fills op (EVENT_ALLOC, or
 * EVENT_RESERVE for a pool's segment), space, device, pool, ptr, size, stack, thread, stream, api,
 * t, untold and sampled. An older allocation at the same address, whose free was never seen, is
 * freed first.
 */
void ledger_enter(struct ledger *ledger, struct event *event, enum node_kind kind, uint32_t owner,
		  uint64_t link);

/*
 * Books the free of the allocation at event->ptr. The ledger fills the event from its node, and
 * copies the node to *was unless that is NULL. False, with nothing done, if the address is unknown.
 */
bool ledger_leave(struct ledger *ledger, struct event *event, enum node_kind kind,
		  struct spool_node *was);

/* Books the free of the node with this number, which live_find() gave. */
void ledger_leave_node(struct ledger *ledger, struct event *event, uint32_t id);

/* Books the allocation again that ledger_leave() freed, because the free failed after all. */
void ledger_undo(struct ledger *ledger, struct event *event, const struct spool_node *was);

/* Books an event that changes no sum: mark, push, pop. */
void ledger_note(struct ledger *ledger, struct event *event);

/*
 * Books an allocation that failed for lack of memory and whose error the caller did not catch: an
 * EVENT_OOM and a row with the figures at that moment. The caller fills refused, left, total,
 * pool_allocated and pool_reserved of the row, and `reserved` as used_reserved() gave it when the
 * driver reported `left`.
 */
void ledger_oom(struct ledger *ledger, struct event *event, struct spool_oom *known);

/* Counts an allocation that failed and that the calling framework caught. */
void ledger_retry(struct ledger *ledger, int device);

/*
 * Books bytes of a pool that are in its own counters but in no call; less than 0: the pool has
 * fewer. The event has no address and its stack is named after the pool; the sum of such bytes
 * never falls below 0. `stack` has no other block: all that it holds of a pool counts as one block.
 */
void ledger_adjust(struct ledger *ledger, const struct event *like, enum metric metric,
		   int64_t bytes, uint32_t stack);

/* Books such bytes so that the pool's sum becomes `now`. */
void ledger_adjust_to(struct ledger *ledger, const struct event *like, enum metric metric,
		      uint64_t now, uint32_t stack);

/*
 * To be called when a plain driver allocation turns out to be a pool's segment, or the reverse
 * (pool 0). If its event was the last one, that event is rewritten. Otherwise two more events
 * correct it (such as a free and a reserve), and peaks in between stay as they were.
 */
void ledger_retag(struct ledger *ledger, uint32_t id, uint32_t pool, const struct event *like);

/* 1 + the node of the driver allocation that the address lies in, or 0. Searches all nodes. */
uint32_t ledger_around(const struct ledger *ledger, uint64_t address);

/* True if the pool's sums in the ledger are these, or the ledger has stopped. */
bool ledger_pool_agrees(struct ledger *ledger, const struct event *event, uint64_t allocated,
			uint64_t reserved);

/* A pool's sum in the ledger, in bytes. */
uint64_t ledger_pool_sum(struct ledger *ledger, int device, uint32_t pool, enum metric metric);

/* Finds the device of a pool that has had allocations; false if there is none. */
bool ledger_pool_device(const struct ledger *ledger, uint32_t pool, int *device);

/* To be called when a stream-ordered pool was destroyed: its live blocks no longer refer to it. */
void ledger_orphan_pool(struct ledger *ledger, uint64_t pool);

/* 1 + the next node after `id` that is freed with the context, or 0. Searches all nodes. */
uint32_t ledger_next_of_context(const struct ledger *ledger, uint32_t id, uint64_t context);

/* Books all live blocks of a pool as freed, because the pool's own counters start again. */
void ledger_empty_pool(struct ledger *ledger, uint32_t pool, const struct event *like);
