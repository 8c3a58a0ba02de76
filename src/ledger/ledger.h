/*
 * The ledger: what is held, by whom, now and at every peak; fed with events, by the recorder live
 * and by tools afterwards. It keeps allocations, sums and composition in step with the journal: one
 * transaction an event, so a process killed at any instruction leaves them equal.
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

/* The scopes that an event touches; `row` is NULL for none. */
struct touched {
	struct totals_scope device, pool, owner, space;
};

/* Blocks that wait to be booked (pending.h). */
struct ledger_backlog {
	unsigned waiting, room; /* the number of blocks that wait, and that may wait */
	bool taking;            /* the transaction under way books the oldest of them */
	uint64_t generation;    /* of the spool; another one: something else was booked since */
	uint64_t until;         /* ns: before that time the curves need no new point */
	/* With all that wait: the bytes that may come without a new peak, and the pool's sums. */
	int64_t headroom;
	uint64_t allocated, reserved;
	struct backlog_sum { /* the sums that they move: the pool's and the device's */
		struct totals_scope scope;
		struct spool_point *point;
	} sums[2];
};

struct ledger {
	struct spool *spool;
	int error;
	bool quiet;  /* sums only: events are not written (memtrace_stop) */
	bool behind; /* an event was left out after the last one that was written */
	struct ledger_backlog backlog;
	struct journal journal;
	struct granules granules;
	/* The scopes that the last event moved. They are drawn into the curves when the next event
	 * comes: until then the last one can be taken back. */
	struct spool_scope *undrawn[LEDGER_UNDRAWN];
	uint32_t undrawn_n;
	struct timeline_pen pens[LEDGER_PENS];
	uint32_t newest; /* the node of the last transaction, if that made a node and did nothing
			    else */
	uint64_t newest_generation;
	struct event newest_event;
	bool newest_quiet;              /* its event was not written */
	uint32_t scopes[LEDGER_SCOPES]; /* a cache before totals_scope_known(): 1 + index, 0: empty
					 */
	struct ledger_touched { /* a cache before that one: an event is often like the one before */
		uint64_t where;
		uint32_t owner;
		struct touched touched;
	} last_touched;
};

/* 0 or -errno. The spool must be fresh. */
int ledger_init(struct ledger *ledger, struct spool *spool, uint64_t max_events);
void ledger_clear(struct ledger *ledger);

/* To be called after a transaction that was left in the middle and taken back (txn_cancel): makes
 * the state that is kept outside the spool agree with the spool. */
void ledger_mend(struct ledger *ledger);

/*
 * Books an allocation. The caller fills op (EVENT_ALLOC, or EVENT_RESERVE for a pool's segment),
 * space, device, pool, ptr, size, stack, thread, stream, api, t, untold and sampled. An older entry
 * at the same address, whose end was never seen, is ended first.
 */
void ledger_enter(struct ledger *ledger, struct event *event, enum node_kind kind, uint32_t owner,
		  uint64_t link);

/*
 * Books the end of the allocation at event->ptr. The ledger fills the event from the entry, and
 * copies the entry to *was unless that is NULL. False, with nothing booked, if the address is
 * unknown.
 */
bool ledger_leave(struct ledger *ledger, struct event *event, enum node_kind kind,
		  struct spool_node *was);

/* The same by the node's number, as live_find() gives it. */
void ledger_leave_node(struct ledger *ledger, struct event *event, uint32_t id);

/* The free failed after all: books the allocation that ledger_leave() ended anew. */
void ledger_undo(struct ledger *ledger, struct event *event, const struct spool_node *was);

/* Books an event that moves no sum: mark, push, pop. */
void ledger_note(struct ledger *ledger, struct event *event);

/*
 * Books an allocation that failed because memory ran out, and that nobody caught: an EVENT_OOM and
 * a row of what was known then. The caller fills refused, left, total, pool_allocated and
 * pool_reserved of the row, and `reserved` as used_reserved() gave it when the driver reported
 * `left`.
 */
void ledger_oom(struct ledger *ledger, struct event *event, struct spool_oom *known);

/* Counts an allocation that failed and that the calling framework caught. */
void ledger_retry(struct ledger *ledger, int device);

/*
 * Books bytes of a pool that appear in its own totals but in no call; less than 0: bytes that left
 * it. The event has no address and is booked under the pool's name. The sum of such bytes never
 * falls below 0. `stack` stands for them and has no other block: all that it holds of a pool counts
 * as one block.
 */
void ledger_adjust(struct ledger *ledger, const struct event *like, enum metric metric,
		   int64_t bytes, uint32_t stack);

/* The same, so that the pool's sum becomes `now`. */
void ledger_adjust_to(struct ledger *ledger, const struct event *like, enum metric metric,
		      uint64_t now, uint32_t stack);

/*
 * A plain driver allocation turns out to be a pool's segment, or the reverse (pool 0). If its event
 * was the last one, that event is rewritten. Otherwise two more events correct it (a free and a
 * reserve, for example), and peaks in between stay as they were.
 */
void ledger_retag(struct ledger *ledger, uint32_t id, uint32_t pool, const struct event *like);

/* 1 + the node of the driver allocation that holds the address, or 0. Looks at all. */
uint32_t ledger_around(const struct ledger *ledger, uint64_t address);

/* True if the ledger has these sums of the event's pool, and after an error. */
bool ledger_pool_agrees(struct ledger *ledger, const struct event *event, uint64_t allocated,
			uint64_t reserved);

/* A pool's sum in the ledger, in bytes. */
uint64_t ledger_pool_sum(struct ledger *ledger, int device, uint32_t pool, enum metric metric);

/* Finds the device of a pool that something was booked for; false if there is none. */
bool ledger_pool_device(const struct ledger *ledger, uint32_t pool, int *device);

/* The stream-ordered pool was destroyed: clears the link of its blocks that still live. */
void ledger_orphan_pool(struct ledger *ledger, uint64_t pool);

/* 1 + the next node after `id` that ends with the context, or 0. Looks at all nodes. */
uint32_t ledger_next_of_context(const struct ledger *ledger, uint32_t id, uint64_t context);

/* Books all live blocks of a pool as freed, because the pool's own totals start anew. */
void ledger_empty_pool(struct ledger *ledger, uint32_t pool, const struct event *like);
