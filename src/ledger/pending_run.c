/*
 * Blocks that waited, booked: all that are as expected in one transaction, the others one by one.
 *
 * None of them raises a peak, so between two of them nothing can be asked that depends on their
 * order: sums are moved by what is left in the end, and of a block that was born and died in the
 * run only its events remain and what its stacks count.
 */
#include <stddef.h>

#include "base/guest/hot.h"
#include "ledger/pending.h"
#include "ledger/pending_parts.h"
#include "spool/txn.h"

enum {
	/* Words that a transaction keeps, at most, in the places where it does. */
	WORDS_RUN = 64,
	WORDS_BIRTH = 64, /* with a split of the live table, and its chains as they may be */
	WORDS_DEATH = 32,
	WORDS_PAIR = 32, /* of a stack that has cells; without it makes them as a birth does */
};

/* A block of the run: the other half of those that come and go in it, the node of who only goes. */
struct run_part {
	uint32_t node; /* of a death, 0: it was born in the run */
	uint8_t other; /* 1 + the other half, 0: none */
};

struct pending_run {
	unsigned count;
	unsigned words;
	int64_t bytes, headroom; /* what the run adds, and may add without a new peak */
	struct run_part parts[SPOOL_WAITING];
	struct waiting_slots slots; /* the last of the run at an address */
};

/* A block is born: false if one lives there already, or it would make a peak after all. */
static HOT_CODE bool plan_birth(const struct ledger *ledger, struct pending_run *run, unsigned n,
				uint8_t *slot, const struct spool_waiting *waiting)
{
	const struct spool_backlog *backlog = pending_shared(ledger);
	bool dead = *slot && pending_at(ledger, *slot - 1u)->size < 0;

	if (run->bytes + waiting->size > run->headroom ||
	    (!dead && (*slot || live_find(ledger->spool, NODE_BLOCK, backlog->pool, waiting->ptr))))
		return false;
	run->words += WORDS_BIRTH;
	run->parts[n] = (struct run_part){ 0, 0 };
	*slot = (uint8_t)(n + 1);
	return true;
}

/* One dies: false if nobody knows it, or it is of another size. */
static HOT_CODE bool plan_death(const struct ledger *ledger, struct pending_run *run, unsigned n,
				uint8_t *slot, const struct spool_waiting *waiting)
{
	const struct spool_backlog *backlog = pending_shared(ledger);
	const struct spool_stack *row;
	unsigned birth = *slot;
	uint32_t id;

	if (birth) {
		if (pending_at(ledger, birth - 1)->size != -waiting->size)
			return false; /* also if it is a death */
		row = spool_at(ledger->spool, SPOOL_STACK, pending_at(ledger, birth - 1)->stack);
		if (row->cell)
			run->words -= WORDS_BIRTH - WORDS_PAIR;
		run->parts[birth - 1].other = (uint8_t)(n + 1);
		run->parts[n] = (struct run_part){ 0, (uint8_t)birth };
		*slot = (uint8_t)(n + 1);
		return true;
	}
	id = live_find(ledger->spool, NODE_BLOCK, backlog->pool, waiting->ptr);
	if (!id || live_node(ledger->spool, id)->size != 0 - (uint64_t)waiting->size)
		return false;
	run->words += WORDS_DEATH;
	run->parts[n] = (struct run_part){ id, 0 };
	*slot = (uint8_t)(n + 1);
	return true;
}

/* How many of those that wait can be booked together. */
static void plan(const struct ledger *ledger, struct pending_run *run, unsigned most)
{
	*run = (struct pending_run){ .words = WORDS_RUN, .headroom = pending_headroom(ledger) };
	for (; run->count < most && run->words <= SPOOL_UNDO - WORDS_BIRTH; run->count++) {
		const struct spool_waiting *waiting = pending_at(ledger, run->count);
		uint8_t *slot = waiting_slot(&run->slots, pending_shared(ledger), waiting->ptr);

		if (!(waiting->size > 0 ? plan_birth : plan_death)(ledger, run, run->count, slot,
								   waiting))
			return;
		run->bytes += waiting->size;
	}
}

/* --- booking --- */

static void move_cells(struct ledger *ledger, uint32_t stack, int64_t bytes, int64_t count)
{
	const struct totals_change change = {
		.row = spool_at(ledger->spool, SPOOL_STACK, stack),
		.bytes = bytes,
		.count = count,
	};

	for (unsigned i = 0; i < ledger->backlog.sums_n; i++)
		totals_add_cell(ledger->spool, &ledger->backlog.sums[i].scope, METRIC_ALLOCATED,
				&change);
}

/* A stack that only ever makes what dies at once has its cells all the same: they say where. */
static void book_passing(struct ledger *ledger, const struct event *event)
{
	const struct spool_stack *row = spool_at(ledger->spool, SPOOL_STACK, event->stack);

	if (!row->cell)
		move_cells(ledger, event->stack, 0, 0);
}

/* The node that will be taken may be one that died in this transaction: whole, it comes back. */
static void keep_free_node(struct spool *spool)
{
	uint64_t id = spool->header->live.free;
	const struct spool_node *node = id ? live_node(spool, (uint32_t)id) : NULL;

	if (node)
		txn_keep_run(spool, node, sizeof(*node) / 8);
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

	keep_free_node(ledger->spool);
	live_insert(ledger->spool, &node);
	move_cells(ledger, event->stack, (int64_t)event->size, 1);
}

static void book_death(struct ledger *ledger, const struct event *event,
		       const struct run_part *part, const uint64_t *born)
{
	struct spool_node node;

	if (part->other) {
		const struct spool_waiting *birth = pending_at(ledger, part->other - 1u);

		node = (struct spool_node){ .size = event->size, .stack = birth->stack };
		node.t = born[part->other - 1];
		ledger_count_death(ledger, event, &node);
		return;
	}
	node = *live_node(ledger->spool, part->node);
	ledger_count_death(ledger, event, &node);
	live_remove(ledger->spool, part->node);
	move_cells(ledger, node.stack, -(int64_t)node.size, -1);
}

/* The most that the sum was in the run, and when. */
struct high {
	uint64_t now, t;
};

/* The words of the sum and of the point that it is drawn at, kept once. */
static void keep_sum(struct spool *spool, const struct backlog_sum *sum)
{
	txn_keep_run(spool, &sum->scope.row->sums[METRIC_ALLOCATED].now, 1);
	txn_keep_run(spool, &sum->scope.row->allocations, 2);
	if (sum->point)
		txn_keep_run(spool, &sum->point->top, sizeof(*sum->point) / 8 - 1);
}

_Static_assert(offsetof(struct spool_scope, frees) ==
			       offsetof(struct spool_scope, allocations) + 8 &&
		       offsetof(struct spool_point, top) == 8,
	       "the words that keep_sum() keeps are neighbours");

static void raise_sum(struct spool *spool, const struct backlog_sum *sum, int64_t bytes,
		      const struct high *high)
{
	struct spool_scope *row = sum->scope.row;
	uint64_t before = row->sums[METRIC_ALLOCATED].now;

	if (sum->point) {
		row->sums[METRIC_ALLOCATED].now = before + high->now;
		timeline_update(sum->point, row, high->t);
	}
	row->sums[METRIC_ALLOCATED].now = before + (uint64_t)bytes;
	if (sum->point)
		timeline_update(sum->point, row, spool->header->t);
}

static void book_sums(struct ledger *ledger, int64_t bytes, const struct high *high,
		      unsigned births, unsigned deaths)
{
	for (unsigned i = 0; i < ledger->backlog.sums_n; i++) {
		const struct backlog_sum *sum = &ledger->backlog.sums[i];

		keep_sum(ledger->spool, sum);
		raise_sum(ledger->spool, sum, bytes, high);
		sum->scope.row->allocations += births;
		sum->scope.row->frees += deaths;
	}
}

/* Books the n-th, whose time is to be among those of `born` for who dies later. */
static inline void book(struct ledger *ledger, const struct pending_run *run, unsigned n,
			const struct event *event, uint64_t *born)
{
	const struct run_part *part = &run->parts[n];

	born[n] = event->t;
	if (event->op == EVENT_FREE) {
		book_death(ledger, event, part, born);
		return;
	}
	ledger_count_birth(ledger, event, event->stack);
	if (part->other)
		book_passing(ledger, event);
	else
		book_birth(ledger, event);
}

static void book_run(struct ledger *ledger, const struct pending_run *run)
{
	struct spool *spool = ledger->spool;
	struct spool_backlog *backlog = pending_shared(ledger);
	struct event event = waiting_event(pending_shared(ledger), pending_at(ledger, 0));
	uint64_t born[SPOOL_WAITING];
	struct high high = { 0, 0 };
	unsigned births = 0;
	int64_t bytes = 0;

	ledger->newest = 0;
	txn_begin(spool);
	journal_run_begin(&ledger->journal);
	for (unsigned i = 0; i < run->count; i++) {
		const struct spool_waiting *waiting = pending_at(ledger, i);

		waiting_tell(waiting, &event);
		journal_run_put(&ledger->journal, &event);
		book(ledger, run, i, &event, born);
		births += waiting->size > 0;
		bytes += waiting->size;
		if (bytes > (int64_t)high.now || !i)
			high = (struct high){ (uint64_t)bytes, event.t };
	}
	journal_run_end(&ledger->journal);
	book_sums(ledger, bytes, &high, births, run->count - births);
	txn_set64(spool, &backlog->booked, backlog->booked + run->count);
	txn_commit(spool);
	ledger->backlog.waiting -= run->count;
}

/* --- the others --- */

/* Nobody knows who was born there: bytes from before the recording, if there are any. */
static void book_unmatched(struct ledger *ledger, struct event *event)
{
	struct spool *spool = ledger->spool;
	struct spool_backlog *backlog = pending_shared(ledger);

	ledger->newest = 0;
	txn_begin(spool);
	txn_add64(spool, &spool->header->unmatched, 1);
	txn_set64(spool, &backlog->booked, backlog->booked + 1);
	txn_commit(spool);
	ledger->backlog.waiting--;
	if (backlog->before)
		ledger_adjust(ledger, event, EVENT_FREE, event->size, backlog->before - 1);
}

void pending_book_one(struct ledger *ledger)
{
	struct event event = waiting_event(pending_shared(ledger), pending_at(ledger, 0));
	uint32_t id = live_find(ledger->spool, NODE_BLOCK, event.pool, event.ptr);

	if (event.op == EVENT_FREE && !id) {
		book_unmatched(ledger, &event);
		return;
	}
	if (event.op == EVENT_ALLOC && id) {
		ledger_leave_node(ledger, &event, id);
		return;
	}
	ledger->backlog.taking = true;
	if (event.op == EVENT_ALLOC)
		ledger_enter(ledger, &event, NODE_BLOCK, 0, 0);
	else
		ledger_leave_node(ledger, &event, id);
	ledger->backlog.taking = false;
}

/* Room for all that wait, and what can be booked of them together. */
static void prepare_run(struct ledger *ledger, struct pending_run *run)
{
	struct event event = waiting_event(pending_shared(ledger), pending_at(ledger, 0));
	unsigned most = ledger->backlog.waiting;
	uint64_t left;

	run->count = 0;
	if (!ledger_room(ledger, most) || (!ledger->backlog.found && !pending_find(ledger, &event)))
		return;
	left = journal_left(&ledger->journal);
	plan(ledger, run, left < most ? (unsigned)left : most);
}

HOT_CODE void pending_settle_now(struct ledger *ledger)
{
	struct pending_run run;

	while (ledger->backlog.waiting && !ledger->error) {
		prepare_run(ledger, &run);
		if (run.count) {
			book_run(ledger, &run);
		} else {
			pending_book_one(ledger);
			ledger->backlog.found = false;
		}
	}
	ledger->backlog.room = 0;
}
