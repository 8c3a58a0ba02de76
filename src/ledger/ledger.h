/*
 * The ledger: the memory that is held, by stack, now and at every peak. The recorder feeds it with
 * events; so does a reader, with those that wait in its copy of a spool (pending.h). Allocations,
 * sums, the stacks' cells and the journal change together, in one transaction for each event or for
 * several that waited, so they agree even if the process is killed at any instruction.
 *
 * The caller serialises all calls. A call that finds no room stops the ledger: `error` is set (an
 * error of spool_need()) and later calls do nothing.
 */
#pragma once

#include "ledger/granules.h"
#include "ledger/live.h"
#include "ledger/timeline.h"
#include "ledger/totals.h"
#include "spool/event_journal.h"

enum { LEDGER_SCOPES = 64, LEDGER_UNDRAWN = 4, LEDGER_PENS = 16 };

/* The scopes whose sums an event changes; `row` is NULL for none. */
struct touched {
	struct totals_scope device, pool, owner, space;
};

/* Blocks that wait to be added to the sums (pending.h). */
struct ledger_backlog {
	unsigned waiting, room; /* numbers of blocks: those that wait, most that may wait */
	bool taking;            /* the open transaction records the oldest waiting block */
	uint64_t generation;    /* txn_generation() when waiting began; sums change only with it */
	uint64_t until;         /* ns; before that time, the curves need no new point */
	/* Including waiting blocks: bytes that may be added without a new peak; the pool's sums. */
	int64_t headroom;
	uint64_t allocated, reserved;
	struct backlog_sum { /* the sums that waiting blocks change: of the pool, of the device */
		struct totals_scope scope;
		struct spool_point *point;
	} sums[2];
};

struct ledger {
	struct spool *spool;
	int error;
	bool quiet;  /* only sums change, events are not written (memtrace_stop) */
	bool behind; /* true if the last event changed sums but was not written */
	struct ledger_backlog backlog;
	struct journal journal;
	struct granules granules;
	/* The scopes that the last event changed. Their curves are drawn when the next event comes,
	 * because until then ledger_retag() may rewrite the last event. */
	struct spool_scope *undrawn[LEDGER_UNDRAWN];
	uint32_t undrawn_n;
	struct timeline_pen pens[LEDGER_PENS];
	uint32_t newest; /* number of the last transaction's new node; 0: none, or a NODE_BLOCK */
	uint64_t newest_generation;
	struct event newest_event;
	bool newest_quiet;              /* newest_event was not written */
	uint32_t scopes[LEDGER_SCOPES]; /* cache of totals_scope_known(): 1 + index, 0: empty */
	struct ledger_touched { /* the last event's scopes, which the next event often has, too */
		uint64_t where;
		uint32_t owner;
		struct touched touched;
	} last_touched;
};

/* 0 or -errno. The spool must be new; `max_events` is for journal_init(). */
int ledger_init(struct ledger *ledger, struct spool *spool, uint64_t max_events);
void ledger_clear(struct ledger *ledger);

/* To be called after a transaction was left in the middle and undone (txn_cancel): makes the state
 * outside the spool agree with the spool. */
void ledger_mend(struct ledger *ledger);

/*
 * Records an allocation: writes its event and changes its sums. The caller fills op (EVENT_ALLOC,
 * or EVENT_RESERVE for a pool's segment), space, device, pool, ptr, size, stack, thread, stream,
 * flags, api, t, untold and sampled; `owner` and `link` are stored in the node. An older allocation
 * at the same address, whose free was never seen, is freed first; a handle with mappings is kept
 * for these (vmm_hold()).
 */
void ledger_enter(struct ledger *ledger, struct event *event, enum node_kind kind, uint32_t owner,
		  uint64_t link);

/* Records the free of the allocation at event->ptr. Fills the event from the node, and copies the
 * node to *was if `was` is not NULL. False, with nothing done, if the address is unknown or the
 * ledger has stopped. */
bool ledger_leave(struct ledger *ledger, struct event *event, enum node_kind kind,
		  struct spool_node *was);

/* Records the free of the node with this number. */
void ledger_leave_node(struct ledger *ledger, struct event *event, uint32_t id);

/* Records the allocation again that ledger_leave() freed, as the call to free it has failed. */
void ledger_undo(struct ledger *ledger, struct event *event, const struct spool_node *was);

/* Records an event that changes no sum: mark, push, pop. */
void ledger_note(struct ledger *ledger, struct event *event);

/*
 * Records an allocation that failed for lack of memory, with an error that no framework caught: an
 * EVENT_OOM and a row of the table OOM, with the sums at that time. The caller fills refused, left,
 * total, pool_allocated and pool_reserved of the row, and `reserved` with what used_reserved()
 * returned when the driver reported `left`.
 */
void ledger_oom(struct ledger *ledger, struct event *event, struct spool_oom *known);

/* Counts an allocation whose failure the calling framework caught. */
void ledger_retry(struct ledger *ledger, int device);

/*
 * Records bytes that the pool's own counters have and no call explains; less than 0: bytes that
 * they no longer have. The event has no address. The sum of such bytes never falls below 0. `stack`
 * must have no other blocks: all bytes that it has in a pool count as one block.
 */
void ledger_adjust(struct ledger *ledger, const struct event *like, enum metric metric,
		   int64_t bytes, uint32_t stack);

/* Calls ledger_adjust() with the bytes that make the pool's sum `now`. */
void ledger_adjust_to(struct ledger *ledger, const struct event *like, enum metric metric,
		      uint64_t now, uint32_t stack);

/*
 * To be called when a plain driver allocation turns out to be a segment of `pool`, or a segment to
 * be plain (`pool` 0). If the last event recorded this allocation, that event is rewritten if it
 * can be. Else two more events correct it (a free and a reserve), and earlier peaks stay.
 */
void ledger_retag(struct ledger *ledger, uint32_t id, uint32_t pool, const struct event *like);

/* Number of the node (NODE_ADDRESS, or a mapping's handle) around the address, or 0. Searches all
 * nodes. */
uint32_t ledger_around(const struct ledger *ledger, uint64_t address);

/* True if the sums of the event's pool are `allocated` and `reserved`, or it has no sums. */
bool ledger_pool_agrees(struct ledger *ledger, const struct event *event, uint64_t allocated,
			uint64_t reserved);

uint64_t ledger_pool_sum(struct ledger *ledger, int device, uint32_t pool, enum metric metric);

/* Finds the device of a pool that has had allocations; false if there is none. */
bool ledger_pool_device(const struct ledger *ledger, uint32_t pool, int *device);

/* To be called when a stream-ordered pool was destroyed: its live blocks no longer refer to it. */
void ledger_orphan_pool(struct ledger *ledger, uint64_t pool);

/* Number of the next node after `id` that is freed with the context, or 0. Searches all nodes. */
uint32_t ledger_next_of_context(const struct ledger *ledger, uint32_t id, uint64_t context);

/* Records all live blocks of a pool as freed, because the pool's own counters start again. */
void ledger_empty_pool(struct ledger *ledger, uint32_t pool, const struct event *like);
