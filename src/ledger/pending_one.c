/*
 * Adds waiting blocks to the sums one by one: blocks that cannot be added together with others, and
 * all that still wait in a spool whose recording has ended.
 *
 * Such a spool may be a copy of a damaged file, or of one that was being written, so nothing in it
 * is trusted: the rows that the ledger reads are checked first, and the live table is rebuilt from
 * the nodes.
 */
#include "ledger/pending.h"

#include "spool/txn.h"

/* Records a free of an unknown address, which reduces the bytes from before the recording. */
static void book_unmatched(struct ledger *ledger, struct event *event)
{
	struct spool *spool = ledger->spool;
	struct spool_backlog *backlog = pending_shared(ledger);

	ledger->newest = 0;
	txn_begin(spool);
	txn_add64(spool, &spool->header->unmatched, 1);
	txn_add64(spool, &backlog->booked, 1);
	txn_commit(spool);
	ledger->backlog.waiting--;
	if (backlog->before)
		ledger_adjust(ledger, event, METRIC_ALLOCATED, -(int64_t)event->size,
			      backlog->before - 1);
}

void pending_book_one(struct ledger *ledger)
{
	struct event event = pending_event(ledger, 0);
	uint32_t id = live_find(ledger->spool, NODE_BLOCK, event.pool, event.ptr);

	if (event.op == EVENT_FREE && !id) {
		book_unmatched(ledger, &event);
		return;
	}
	/* An allocation at a live block's address keeps waiting: that block is freed first. */
	ledger->backlog.taking = event.op == EVENT_FREE || !id;
	if (id)
		ledger_leave_node(ledger, &event, id);
	else
		ledger_enter(ledger, &event, NODE_BLOCK, 0, 0);
	ledger->backlog.taking = false;
}

/* --- a spool whose recording has ended --- */

/* Removes the stack's chain of cells if it leaves the table of cells or forms a cycle. */
static void check_cells(const struct spool *spool, struct spool_stack *stack)
{
	uint64_t cells = spool_count(spool, SPOOL_CELL);
	uint64_t most = cells;
	uint32_t id = stack->cell;

	while (id && id <= cells && most--)
		id = ((const struct spool_cell *)spool_at(spool, SPOOL_CELL, id - 1))->next;
	if (id)
		stack->cell = 0;
}

/* Returns the stack's number, or 0 if there is no such stack, after checking its cells. */
static uint32_t checked_stack(const struct spool *spool, uint32_t stack)
{
	if (stack >= spool_count(spool, SPOOL_STACK))
		stack = 0;
	check_cells(spool, spool_at(spool, SPOOL_STACK, stack));
	return stack;
}

static void check_waiting(struct spool *spool, struct waiting_slots *slots)
{
	struct spool_backlog *backlog = &spool->header->backlog;
	unsigned count = (unsigned)waiting_count(backlog);

	for (unsigned i = 0; i < count; i++) {
		struct spool_waiting *waiting = waiting_at(backlog, i);

		waiting->stack = checked_stack(spool, waiting->stack);
		*waiting_slot(slots, backlog, waiting->ptr) = (uint8_t)(i + 1);
	}
	if (backlog->before)
		backlog->before = 1 + checked_stack(spool, backlog->before - 1);
}

/* Fills the table of live nodes with those at the addresses of waiting blocks, and no others. */
static void find_nodes(struct spool *spool, struct waiting_slots *slots)
{
	struct spool_backlog *backlog = &spool->header->backlog;

	txn_begin(spool);
	live_start_anew(spool);
	for (uint32_t id = 1; id <= spool_count(spool, SPOOL_NODE); id++) {
		struct spool_node *node = live_node(spool, id);

		if (node->kind != NODE_BLOCK || node->pool != backlog->pool ||
		    node->size > INT64_MAX || !*waiting_slot(slots, backlog, node->address) ||
		    live_find(spool, NODE_BLOCK, node->pool, node->address))
			continue;
		node->stack = checked_stack(spool, node->stack);
		live_link(spool, id);
	}
	txn_commit(spool);
}

/* Records all waiting events, and stores the device's sums in those that go to spool->caught. */
static void book_all(struct ledger *ledger)
{
	struct spool *spool = ledger->spool;

	while (ledger->backlog.waiting && !ledger->error) {
		uint32_t caught = spool->caught_n;

		pending_book_one(ledger);
		ledger->undrawn_n = 0;
		if (spool->caught_n == caught || !ledger->last_touched.touched.device.row)
			continue;
		spool->caught[caught].allocated =
			ledger->last_touched.touched.device.row->sums[METRIC_ALLOCATED].now;
		spool->caught[caught].reserved =
			ledger->last_touched.touched.device.row->sums[METRIC_RESERVED].now;
	}
}

void pending_settle_left(struct spool *spool)
{
	static struct ledger ledger; /* static: it is 14 KiB, too much for small stacks */
	struct spool_header *header = spool->header;
	uint64_t count = waiting_count(&header->backlog);
	uint32_t stop = atomic_load(&header->stop);
	struct waiting_slots slots = { { 0 } };
	bool sealed = spool->sealed;

	spool->caught_n = 0;
	if (!count || count > SPOOL_WAITING || !spool_count(spool, SPOOL_STACK) ||
	    !spool->used[SPOOL_BUCKET])
		return;
	ledger = (struct ledger){ .spool = spool };
	ledger.journal.spool = spool;
	ledger.journal.beside = true;
	ledger.backlog.waiting = (unsigned)count;
	spool->sealed = true;
	check_waiting(spool, &slots);
	find_nodes(spool, &slots);
	book_all(&ledger);
	spool->sealed = sealed;
	atomic_store(&header->stop, stop);
}
