/*
 * The ledger: the memory that each call stack holds, now and at every peak. The recorder adds
 * events to it; a reader adds those that wait in its copy of a spool (pending.h). Live allocations,
 * sums, the stacks' shares of sums (cells) and the journal of events change together, in one
 * transaction for one event or several that waited, so they agree even if the process is killed.
 *
 * The caller serialises all calls. If the spool cannot grow, the ledger stops: `error` is set (an
 * error of spool_need()) and later calls do nothing.
 */
#pragma once

#include "ledger/granules.h"
#include "ledger/live.h"
#include "ledger/timeline.h"
#include "ledger/totals.h"
#include "spool/event_journal.h"

enum { LEDGER_SCOPES = 64, LEDGER_UNDRAWN = 4, LEDGER_PENS = 16 };

/* The scopes (totals.h) whose sums an event changes; `row` is NULL where there is no scope. */
struct touched {
	struct totals_scope device, pool, owner, space;
};

/* State of the blocks that wait to be added to the sums (pending.h). */
struct ledger_backlog {
	unsigned waiting, room; /* number of blocks not yet added to the sums; its maximum */
	bool taking;            /* true if the open transaction records a waiting block */
	uint64_t generation;    /* the txn_generation() for which the members below are valid */
	uint64_t until;         /* time in ns before which the curves need no new point */
	/* These three count the waiting blocks, too. */
	int64_t headroom;             /* bytes that can be added without a new peak */
	uint64_t allocated, reserved; /* the pool's sums */
	struct backlog_sum { /* the sums that waiting blocks change: the pool's, the device's */
		struct totals_scope scope;
		struct spool_point *point;
	} sums[2];
};

struct ledger {
	struct spool *spool;
	int error;
	bool quiet;  /* true if only sums change and no events are written (memtrace_stop) */
	bool behind; /* true if the last event changed sums but was not written */
	struct ledger_backlog backlog;
	struct journal journal;
	struct granules granules;
	/* The scopes that the last event changed. Their curves get a point when the next event
	 * comes, because until then ledger_retag() may rewrite the last event. */
	struct spool_scope *undrawn[LEDGER_UNDRAWN];
	uint32_t undrawn_n;
	struct timeline_pen pens[LEDGER_PENS];
	uint32_t newest; /* node that the last transaction added; 0 for none, or for a NODE_BLOCK */
	uint64_t newest_generation;
	struct event newest_event;
	bool newest_quiet;              /* true if newest_event was not written */
	uint32_t scopes[LEDGER_SCOPES]; /* cache of totals_scope_known(): 1 + index, 0 if free */
	struct ledger_touched { /* cache: the last event's scopes, often the next event's too */
		uint64_t where;
		uint32_t owner;
		struct touched touched;
	} last_touched;
};

/* Returns 0 or -errno. The spool must be new; `max_events` is passed to journal_init(). */
int ledger_init(struct ledger *ledger, struct spool *spool, uint64_t max_events);
void ledger_clear(struct ledger *ledger);

/* To be called after txn_cancel() has undone an unfinished transaction: makes the ledger's memory
 * outside of the spool agree with the spool. */
void ledger_mend(struct ledger *ledger);

/*
 * Records an allocation: writes its event and changes its sums. The caller fills op (EVENT_ALLOC,
 * or EVENT_RESERVE for a pool's segment), space, device, pool, ptr, size, stack, thread, stream,
 * flags, api, t, untold and sampled; `owner` and `link` are stored in the allocation's node. If an
 * older allocation is live at the same address, its free was not seen: the older one is freed first
 * or, if it is a handle with mappings, kept until its mappings end (vmm_hold()).
 */
void ledger_enter(struct ledger *ledger, struct event *event, enum node_kind kind, uint32_t owner,
		  uint64_t link);

/* Records the free of the allocation at event->ptr. Fills the event from the allocation's node,
 * which is copied to *was if `was` is not NULL. False, with nothing done, if the address is unknown
 * or the ledger has stopped. */
bool ledger_leave(struct ledger *ledger, struct event *event, enum node_kind kind,
		  struct spool_node *was);

/* Records the free of the allocation whose node has the number `id`. */
void ledger_leave_node(struct ledger *ledger, struct event *event, uint32_t id);

/* Records an allocation again after ledger_leave(), because the call to free it has failed. */
void ledger_undo(struct ledger *ledger, struct event *event, const struct spool_node *was);

/* Records an event that changes no sum: a mark, or the beginning (push) or end (pop) of a phase. */
void ledger_note(struct ledger *ledger, struct event *event);

/*
 * Records an allocation that failed for lack of memory, if no framework caught the error: writes an
 * EVENT_OOM and a row of the table OOM, with the sums at that time. The caller fills `refused`,
 * `left`, `total`, `pool_allocated` and `pool_reserved` of the row, and sets `reserved` to the
 * value of used_reserved() at the time when the driver reported `left`.
 */
void ledger_oom(struct ledger *ledger, struct event *event, struct spool_oom *known);

/* Counts an allocation that failed for lack of memory, if a framework caught the error. */
void ledger_retry(struct ledger *ledger, int device);

/*
 * Records bytes that the pool's own counters include but no call explains (less than 0: bytes that
 * the counters no longer include). The event has no address. The sum of such bytes never falls
 * below 0. `stack` must be used for nothing else: all its bytes in one pool count as one block.
 */
void ledger_adjust(struct ledger *ledger, const struct event *like, enum metric metric,
		   int64_t bytes, uint32_t stack);

/* Calls ledger_adjust() with the difference between `now` and the pool's sum. */
void ledger_adjust_to(struct ledger *ledger, const struct event *like, enum metric metric,
		      uint64_t now, uint32_t stack);

/*
 * To be called when a plain driver allocation (node `id`) turns out to be a segment of `pool`, or a
 * segment to be plain (`pool` 0). If the last event recorded the allocation, it is rewritten if
 * possible. Otherwise two more events (its free and a new allocation) correct it, and peaks stay.
 */
void ledger_retag(struct ledger *ledger, uint32_t id, uint32_t pool, const struct event *like);

/* Returns the number of the NODE_ADDRESS that contains the address, or of the handle that is mapped
 * there; 0 for none. Slow: searches all nodes. */
uint32_t ledger_around(const struct ledger *ledger, uint64_t address);

/* True if the event's pool has no sums, or if they are `allocated` and `reserved` bytes. */
bool ledger_pool_agrees(struct ledger *ledger, const struct event *event, uint64_t allocated,
			uint64_t reserved);

uint64_t ledger_pool_sum(struct ledger *ledger, int device, uint32_t pool, enum metric metric);

/* Sets `device` to the device of a pool; false if the pool never had memory of a device. */
bool ledger_pool_device(const struct ledger *ledger, uint32_t pool, int *device);

/* To be called when a stream-ordered pool was destroyed: its live blocks then refer to no pool. */
void ledger_orphan_pool(struct ledger *ledger, uint64_t pool);

/* Number of the next node after `id` that is freed if `context` is destroyed, or 0. Slow. */
uint32_t ledger_next_of_context(const struct ledger *ledger, uint32_t id, uint64_t context);

/* After a pause in which frees were not seen: records all of a pool's live blocks as freed. */
void ledger_empty_pool(struct ledger *ledger, uint32_t pool, const struct event *like);
