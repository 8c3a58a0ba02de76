/*
 * Decides which blocks may wait (pending.h) and for how long, and adds them to the sums. Blocks
 * that plan_next() accepts are added together in one transaction, the others one by one.
 *
 * No waiting block raises a peak, so the order of blocks changes no result: each sum changes once.
 */
#include "ledger/pending.h"

#include <stddef.h>
#include <sys/param.h>

#include "base/guest/hot.h"
#include "ledger/ledger_parts.h"
#include "spool/txn.h"

/* Fills *sum for a scope that waiting blocks change. False if its curve has no point for time t. */
static bool find_sum(struct ledger *ledger, struct backlog_sum *sum,
		     const struct totals_scope *scope, uint64_t t)
{
	struct ledger_backlog *backlog = &ledger->backlog;
	const struct timeline_pen *pen = ledger_pen(ledger, scope->row);
	const struct spool_sum *now = &scope->row->sums[METRIC_ALLOCATED];

	*sum = (struct backlog_sum){ .scope = *scope };
	backlog->headroom = MIN(backlog->headroom, (int64_t)(now->peak - now->now));
	if (!scope->row->curve)
		return true;
	sum->point = pen->point;
	backlog->until = MIN(backlog->until, pen->until);
	return pen->scope == scope->row && pen->state == scope->row->curve_state && t < pen->until;
}

/* Finds the sums that events like this one change. False if such events cannot wait: a curve needs
 * a new point first, or the pool has no sums, since there are too many pools. */
static HOT_CODE bool find_sums(struct ledger *ledger, const struct event *event)
{
	struct ledger_backlog *backlog = &ledger->backlog;
	uint64_t t = ledger->spool->header->t;
	const struct touched *touched = ledger_touch(ledger, event, 0);

	if (!touched || !touched->pool.row || !touched->device.row)
		return false;
	backlog->allocated = touched->pool.row->sums[METRIC_ALLOCATED].now;
	backlog->reserved = touched->pool.row->sums[METRIC_RESERVED].now;
	backlog->headroom = INT64_MAX;
	backlog->until = UINT64_MAX;
	return find_sum(ledger, &backlog->sums[0], &touched->pool, t) &&
	       find_sum(ledger, &backlog->sums[1], &touched->device, t);
}

/* --- which blocks may wait --- */

/* Reserves space for rows that waiting blocks may need: after a kill, a reader of the spool adds
 * these blocks to the sums, and it cannot enlarge the spool. Returns false on failure. */
static bool make_run_room(struct ledger *ledger)
{
	struct spool *spool = ledger->spool;
	uint64_t nodes = spool_count(spool, SPOOL_NODE) + SPOOL_WAITING;
	int error = totals_room(spool, SPOOL_WAITING) ?: spool_need(spool, SPOOL_NODE, nodes);

	if (ledger_fails(ledger, error))
		return false;
	ledger->backlog.room = (unsigned)MIN(journal_left(&ledger->journal), SPOOL_WAITING);
	return true;
}

/* Prepares for blocks of the event's pool, call and device to wait. False if they may not wait. */
static bool open_for(struct ledger *ledger, const struct event *event)
{
	struct spool_backlog *backlog = pending_shared(ledger);

	ledger->backlog.room = 0;
	if (ledger->behind || !ledger_room(ledger, 1) || !find_sums(ledger, event) ||
	    !make_run_room(ledger))
		return false;
	backlog->pool = event->pool;
	backlog->api = event->api;
	backlog->device = event->device;
	ledger->backlog.generation = txn_generation(ledger->spool);
	return true;
}

static inline int64_t signed_size(const struct event *event)
{
	return event->op == EVENT_ALLOC ? (int64_t)event->size : -(int64_t)event->size;
}

/* True if the change raises no peak, and the pool then has the sums that it itself reports. */
static inline bool is_quiet(const struct ledger_backlog *backlog, int64_t change,
			    const struct pending_told *told)
{
	return change <= backlog->headroom && -change <= (int64_t)backlog->allocated &&
	       backlog->allocated + (uint64_t)change == told->allocated &&
	       backlog->reserved == told->reserved;
}

static inline bool may_wait(const struct ledger *ledger, const struct event *event,
			    const struct pending_told *told)
{
	const struct ledger_backlog *backlog = &ledger->backlog;
	const struct spool_backlog *shared = pending_shared(ledger);

	return backlog->waiting < backlog->room &&
	       backlog->generation == txn_generation(ledger->spool) && event->t < backlog->until &&
	       shared->pool == event->pool && shared->api == event->api &&
	       shared->device == event->device && is_quiet(backlog, signed_size(event), told);
}

static inline bool is_plain(const struct ledger *ledger, const struct event *event)
{
	return !(ledger->quiet | event->untold | event->sampled) && !event->flags &&
	       !event->stream && event->space == SPACE_DEVICE && event->device >= 0 &&
	       event->pool && (int64_t)event->size > 0 && !ledger->error;
}

HOT_CODE bool pending_put(struct ledger *ledger, const struct event *event,
			  const struct pending_told *told)
{
	struct spool_backlog *backlog = pending_shared(ledger);
	int64_t change = signed_size(event);
	bool plain = is_plain(ledger, event);

	if (__builtin_expect(!plain || !may_wait(ledger, event, told), 0)) {
		pending_settle(ledger);
		if (!plain || !open_for(ledger, event) || !may_wait(ledger, event, told))
			return false;
	}
	backlog->waiting[backlog->put % SPOOL_WAITING] = (struct spool_waiting){
		.t = event->t,
		.ptr = event->ptr,
		.size = change,
		.stack = event->stack,
		.thread = event->thread,
	};
	__atomic_store_n(&backlog->put, backlog->put + 1, __ATOMIC_RELEASE);
	atomic_signal_fence(memory_order_seq_cst);
	ledger->backlog.waiting++;
	ledger->backlog.headroom -= change;
	ledger->backlog.allocated += (uint64_t)change;
	return true;
}

void pending_before(struct ledger *ledger, uint32_t stack)
{
	pending_shared(ledger)->before = stack + 1;
}

/* --- blocks that are added together --- */

enum {
	/* Maximum number of 64-bit words that a transaction saves to be undone: per run of blocks,
	 * and in it per allocation, free, or pair of both. */
	WORDS_RUN = 64,
	WORDS_BIRTH = 72, /* an allocation that splits a hash bucket of usual length */
	WORDS_DEATH = 32,
	WORDS_PAIR = 16, /* an allocation and its free, if the stack has cells; else WORDS_BIRTH */
};

/* An event of a run, which is a sequence of waiting events that are added to the sums together. */
struct run_part {
	uint32_t node; /* for a free: number of the block's node, 0 if allocated in this run */
	uint8_t other; /* 1 + position in the run of the block's free or allocation; 0 for none */
};

struct pending_run {
	unsigned count;
	unsigned words;
	int64_t bytes;
	struct run_part parts[SPOOL_WAITING];
	struct waiting_slots slots; /* by address: the last event of the run with this address */
};

static unsigned pair_words(const struct ledger *ledger, uint32_t stack)
{
	const struct spool_stack *row = spool_at(ledger->spool, SPOOL_STACK, stack);

	return row->cell ? WORDS_PAIR : WORDS_BIRTH;
}

/* Adds the next event to the run. False if it must be added alone: an allocation at a live block's
 * address, or one that would raise a peak; a free of an unknown block, or with another size. */
static HOT_CODE bool plan_next(const struct ledger *ledger, struct pending_run *run)
{
	struct spool_backlog *backlog = pending_shared(ledger);
	const struct spool_waiting *waiting = waiting_at(backlog, run->count);
	uint8_t *slot = waiting_slot(&run->slots, backlog, waiting->ptr);
	uint8_t before = *slot;
	int64_t lives = before ? waiting_at(backlog, before - 1u)->size : 0;
	struct run_part *part = &run->parts[run->count];

	*part = (struct run_part){ 0, 0 };
	if (!before) {
		part->node = live_find(ledger->spool, NODE_BLOCK, backlog->pool, waiting->ptr);
		lives = part->node ? (int64_t)live_node(ledger->spool, part->node)->size : 0;
	}
	if (waiting->size > 0) {
		if (part->node || lives > 0 ||
		    run->bytes + waiting->size > ledger->backlog.headroom)
			return false;
		run->words += WORDS_BIRTH;
	} else if (lives != -waiting->size) {
		return false;
	} else if (before) {
		run->words +=
			pair_words(ledger, waiting_at(backlog, before - 1u)->stack) - WORDS_BIRTH;
		run->parts[before - 1].other = (uint8_t)(run->count + 1);
		part->other = before;
	} else {
		run->words += WORDS_DEATH;
	}
	run->bytes += waiting->size;
	*slot = (uint8_t)++run->count;
	return true;
}

static void plan_run(struct ledger *ledger, struct pending_run *run)
{
	struct event event = pending_event(ledger, 0);
	uint64_t most = ledger->backlog.waiting;

	*run = (struct pending_run){ .words = WORDS_RUN };
	if (!ledger_room(ledger, (unsigned)most) || !find_sums(ledger, &event))
		return;
	most = MIN(most, journal_left(&ledger->journal));
	while (run->count < most && run->words <= SPOOL_UNDO - WORDS_BIRTH &&
	       plan_next(ledger, run))
		;
}

/* --- changes of the ledger --- */

static void move_cells(struct ledger *ledger, uint32_t stack, int64_t bytes, int64_t count)
{
	const struct totals_change change = {
		.row = spool_at(ledger->spool, SPOOL_STACK, stack),
		.bytes = bytes,
		.count = count,
	};

	for (unsigned i = 0; i < 2; i++)
		totals_add_cell(ledger->spool, &ledger->backlog.sums[i].scope, METRIC_ALLOCATED,
				&change);
}

static void book_birth(struct ledger *ledger, const struct event *event)
{
	const struct spool_node node = {
		.address = event->ptr,
		.size = event->size,
		.t = event->t,
		.stack = event->stack,
		.pool = event->pool,
		.device = event->device,
		.kind = NODE_BLOCK,
		.space = event->space,
	};

	live_insert(ledger->spool, &node);
	move_cells(ledger, event->stack, (int64_t)event->size, 1);
}

static void book_death(struct ledger *ledger, const struct event *event,
		       const struct run_part *part, const uint64_t *born)
{
	struct spool_node node = { .size = event->size };

	if (part->node) {
		node = *live_node(ledger->spool, part->node);
	} else {
		node.stack = pending_at(ledger, part->other - 1u)->stack;
		node.t = born[part->other - 1];
	}
	ledger_count_death(ledger, event, &node);
	if (!part->node)
		return;
	live_remove(ledger->spool, part->node);
	move_cells(ledger, node.stack, -(int64_t)node.size, -1);
}

/* The highest value of a sum in a run, as bytes added since the run's start, and its time. */
struct high {
	uint64_t now, t;
};

_Static_assert(offsetof(struct spool_scope, frees) ==
			       offsetof(struct spool_scope, allocations) + 8 &&
		       offsetof(struct spool_point, top) == 8,
	       "the words that book_sum() saves together must be contiguous");

/* Changes a sum and the point of its curve, first to the run's highest value, then to its last. */
static void book_sum(struct spool *spool, const struct backlog_sum *sum, int64_t bytes,
		     const struct high *high, unsigned births, unsigned deaths)
{
	struct spool_scope *row = sum->scope.row;
	uint64_t *now = &row->sums[METRIC_ALLOCATED].now;
	uint64_t before = *now;

	txn_keep_run(spool, now, 1);
	txn_keep_run(spool, &row->allocations, 2);
	row->allocations += births;
	row->frees += deaths;
	*now = before + high->now;
	if (sum->point) {
		txn_keep_run(spool, &sum->point->top, sizeof(*sum->point) / 8 - 1);
		timeline_update(sum->point, row, high->t);
	}
	*now = before + (uint64_t)bytes;
	if (sum->point)
		timeline_update(sum->point, row, spool->header->t);
}

/* Applies event n of the run to nodes, cells and counts, and stores the event's time in born[n]. */
static inline void book(struct ledger *ledger, const struct pending_run *run, unsigned n,
			const struct event *event, uint64_t *born)
{
	const struct run_part *part = &run->parts[n];
	const struct spool_stack *row;

	born[n] = event->t;
	if (event->op == EVENT_FREE) {
		book_death(ledger, event, part, born);
		return;
	}
	ledger_count_birth(ledger, event, event->stack);
	row = spool_at(ledger->spool, SPOOL_STACK, event->stack);
	if (!part->other)
		book_birth(ledger, event);
	else if (!row->cell) /* All blocks of the stack were freed while they waited: cells of 0
				bytes show the stack's device and pool. */
		move_cells(ledger, event->stack, 0, 0);
}

static void book_run(struct ledger *ledger, const struct pending_run *run)
{
	struct spool *spool = ledger->spool;
	struct spool_backlog *backlog = pending_shared(ledger);
	uint64_t born[SPOOL_WAITING];
	struct high high = { 0, 0 };
	unsigned births = 0;
	int64_t bytes = 0;

	ledger->newest = 0;
	txn_begin(spool);
	for (unsigned i = 0; i < run->count; i++) {
		struct event event = pending_event(ledger, i);

		journal_put(&ledger->journal, &event);
		book(ledger, run, i, &event, born);
		births += event.op == EVENT_ALLOC;
		bytes += pending_at(ledger, i)->size;
		if (bytes > (int64_t)high.now || !i)
			high = (struct high){ (uint64_t)bytes, event.t };
	}
	for (unsigned i = 0; i < 2; i++)
		book_sum(spool, &ledger->backlog.sums[i], bytes, &high, births,
			 run->count - births);
	txn_set64(spool, &backlog->booked, backlog->booked + run->count);
	txn_commit(spool);
	ledger->backlog.waiting -= run->count;
}

HOT_CODE void pending_settle_now(struct ledger *ledger)
{
	struct pending_run run;

	while (ledger->backlog.waiting && !ledger->error) {
		plan_run(ledger, &run);
		if (run.count)
			book_run(ledger, &run);
		else
			pending_book_one(ledger);
	}
	ledger->backlog.room = 0;
}

void pending_mend(struct ledger *ledger)
{
	ledger->backlog.room = 0;
	ledger->backlog.taking = false;
	ledger->backlog.waiting = (unsigned)waiting_count(pending_shared(ledger));
}
