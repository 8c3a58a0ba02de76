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

/* The scopes that an event touches, `row` NULL for none. */
struct touched {
	struct totals_scope device, pool, owner, space;
};

/* Blocks that wait to be booked (pending.h). */
struct ledger_backlog {
	unsigned waiting, room; /* how many do, and may */
	bool taking;            /* the transaction under way books the oldest */
	uint64_t generation;    /* of the spool since none but them came */
	uint64_t until;         /* ns: the curves need no new point before */
	/* With all that wait: what may come without a new peak, and the pool's sums. */
	int64_t headroom;
	uint64_t allocated, reserved;
	struct backlog_sum { /* that they move: the pool's and the device's */
		struct totals_scope scope;
		struct spool_point *point;
	} sums[2];
};

struct ledger {
	struct spool *spool;
	int error;
	bool quiet;  /* sums only: events are not written (memtrace_stop) */
	bool behind; /* an event was left out since the last one that was written */
	struct ledger_backlog backlog;
	struct journal journal;
	struct granules granules;
	/*
	 * What the last event moved, drawn into the curves when the next one comes: until then it
	 * can be taken back.
	 */
	struct spool_scope *undrawn[LEDGER_UNDRAWN];
	uint32_t undrawn_n;
	struct timeline_pen pens[LEDGER_PENS];
	uint32_t newest; /* the node that the last transaction made, if that is all it did */
	uint64_t newest_generation;
	struct event newest_event;
	bool newest_quiet;              /* it was not written */
	uint32_t scopes[LEDGER_SCOPES]; /* a cache before totals_scope_known(): 1 + index, 0: empty
					 */
	struct ledger_touched { /* and one before that: an event is much like the one before */
		uint64_t where;
		uint32_t owner;
		struct touched touched;
	} last_touched;
};

/* 0 or -errno. The spool must be fresh. */
int ledger_init(struct ledger *ledger, struct spool *spool, uint64_t max_events);
void ledger_clear(struct ledger *ledger);

/*
 * After a call that was left in the middle, whose transaction was taken back (txn_cancel): what is
 * known beside the spool is made to agree with it.
 */
void ledger_mend(struct ledger *ledger);

/*
 * An allocation: op (EVENT_ALLOC, or EVENT_RESERVE for a pool's segment), space, device, pool, ptr,
 * size, stack, thread, stream, api, t, untold and sampled are filled by the caller. An older entry
 * at the same address, whose end was never seen, is ended first.
 */
void ledger_enter(struct ledger *ledger, struct event *event, enum node_kind kind, uint32_t owner,
		  uint64_t link);

/*
 * The end of what lives at event->ptr: the rest of the event comes from the entry, whose copy goes
 * to *was (may be NULL). False, and nothing happens, if nothing is known there.
 */
bool ledger_leave(struct ledger *ledger, struct event *event, enum node_kind kind,
		  struct spool_node *was);

/* The same by node, which live_find() gave. */
void ledger_leave_node(struct ledger *ledger, struct event *event, uint32_t id);

/* The free failed after all: what ledger_leave() ended lives again. */
void ledger_undo(struct ledger *ledger, struct event *event, const struct spool_node *was);

/* An event that moves no sum: mark, push, pop. */
void ledger_note(struct ledger *ledger, struct event *event);

/*
 * An allocation failed for want of memory and nobody catches that: op EVENT_OOM, and a row of what
 * is known. The caller fills refused, left, total, pool_allocated and pool_reserved of it, and
 * `reserved` as it was (used_reserved) when the driver said what it had left.
 */
void ledger_oom(struct ledger *ledger, struct event *event, struct spool_oom *known);

/* An allocation that failed and was caught by the framework that asked. */
void ledger_retry(struct ledger *ledger, int device);

/*
 * Bytes of a pool that its own totals have and no call brought or took (less than 0): an event
 * without an address, booked under the pool's name. A sum is never taken below what was booked so.
 * `stack` stands for such bytes and has no block: what it holds of a pool counts as one.
 */
void ledger_adjust(struct ledger *ledger, const struct event *like, enum metric metric,
		   int64_t bytes, uint32_t stack);

/* The same, for the pool's sum to be `now`. */
void ledger_adjust_to(struct ledger *ledger, const struct event *like, enum metric metric,
		      uint64_t now, uint32_t stack);

/*
 * A plain driver allocation turns out to be a pool's segment, or the reverse (pool 0). If it was
 * the last event of all, that event is written anew; else two more events correct it (a free and a
 * reserve, say), and peaks in between stay as they were.
 */
void ledger_retag(struct ledger *ledger, uint32_t id, uint32_t pool, const struct event *like);

/* 1 + the node of the plain or pooled driver allocation that holds the address; a scan. */
uint32_t ledger_around(const struct ledger *ledger, uint64_t address);

/* Are these the sums that the ledger has of the event's pool? True also after an error: there is
 * nothing to correct then. */
bool ledger_pool_agrees(struct ledger *ledger, const struct event *event, uint64_t allocated,
			uint64_t reserved);

/* A pool's sum as the ledger has it. */
uint64_t ledger_pool_sum(struct ledger *ledger, int device, uint32_t pool, enum metric metric);

/* The device of a pool that something was booked for; false if there is none. */
bool ledger_pool_device(const struct ledger *ledger, uint32_t pool, int *device);

/* The stream-ordered pool is no more: what still lives of it has no pool to be asked (link 0). */
void ledger_orphan_pool(struct ledger *ledger, uint64_t pool);

/* 1 + the next node after `id` that ends with the context, 0 when there are no more; a scan. */
uint32_t ledger_next_of_context(const struct ledger *ledger, uint32_t id, uint64_t context);

/* Takes the events out of a pool's blocks: all that live are freed (its own totals start anew). */
void ledger_empty_pool(struct ledger *ledger, uint32_t pool, const struct event *like);
