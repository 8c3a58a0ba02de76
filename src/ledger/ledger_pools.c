/* Corrects sums to those that a pool itself reports, and moves memory into and out of pools. */
#include <sys/param.h>

#include "base/guest/hot.h"
#include "ledger/ledger_parts.h"
#include "spool/txn.h"

static uint64_t booked(struct ledger *ledger, const struct event *event, enum metric metric,
		       uint32_t stack)
{
	int64_t scope = ledger_scope(ledger, SCOPE_POOL, event->device, event->pool);
	const struct spool_stack *row = spool_at(ledger->spool, SPOOL_STACK, stack);
	const struct spool_cell *cell =
		scope < 0 ? NULL : totals_cell(ledger->spool, row, totals_sum(scope, metric));

	return cell ? cell->live : 0;
}

void ledger_adjust(struct ledger *ledger, const struct event *like, enum metric metric,
		   int64_t bytes, uint32_t stack)
{
	bool reserved = metric == METRIC_RESERVED;
	struct event event = *like;
	uint64_t before, after;

	if (ledger->error || !bytes)
		return;
	if (bytes > 0)
		event.op = reserved ? EVENT_RESERVE : EVENT_ALLOC;
	else
		event.op = reserved ? EVENT_RELEASE : EVENT_FREE;
	event.sampled = false;
	event.ptr = 0;
	event.stack = stack;
	event.stream = 0;
	before = booked(ledger, &event, metric, stack);
	after = bytes > 0 ? before + (uint64_t)bytes : before - MIN(0 - (uint64_t)bytes, before);
	event.size = bytes > 0 ? after - before : before - after;
	/* The number of blocks is not known, so all bytes of a pool without an address count as one
	 * block, however their sum grows and shrinks. */
	if (!event.size ||
	    !ledger_begin(ledger, &event, stack, 0, (int64_t)(after != 0) - (before != 0)))
		return;
	ledger_count_birth(ledger, &event, stack);
	if (event.op == EVENT_FREE) /* counts no lifetime: which block was freed is not known */
		ledger_count_free(ledger->spool, stack, stack, event.size);
	ledger_commit(ledger, &ledger->last_touched.touched);
}

void ledger_adjust_to(struct ledger *ledger, const struct event *like, enum metric metric,
		      uint64_t now, uint32_t stack)
{
	uint64_t known = ledger_pool_sum(ledger, like->device, like->pool, metric);

	ledger_adjust(ledger, like, metric, (int64_t)(now - known), stack);
}

uint64_t ledger_pool_sum(struct ledger *ledger, int device, uint32_t pool, enum metric metric)
{
	int64_t scope = ledger->error ? -1 : ledger_scope(ledger, SCOPE_POOL, device, pool);

	return scope < 0 ? 0 : totals_scope(ledger->spool, (uint32_t)scope)->sums[metric].now;
}

HOT_CODE bool ledger_pool_agrees(struct ledger *ledger, const struct event *event,
				 uint64_t allocated, uint64_t reserved)
{
	const struct touched *touched = ledger_touch(ledger, event, 0);
	const struct spool_scope *scope = touched ? touched->pool.row : NULL;

	return !scope || (scope->sums[METRIC_ALLOCATED].now == allocated &&
			  scope->sums[METRIC_RESERVED].now == reserved);
}

bool ledger_pool_device(const struct ledger *ledger, uint32_t pool, int *device)
{
	for (uint32_t i = 0; i < spool_count(ledger->spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = totals_scope(ledger->spool, i);

		if (scope->kind == SCOPE_POOL && scope->name == pool && scope->device >= 0) {
			*device = scope->device;
			return true;
		}
	}
	return false;
}

void ledger_orphan_pool(struct ledger *ledger, uint64_t pool)
{
	uint64_t nodes = spool_count(ledger->spool, SPOOL_NODE);

	for (uint32_t id = 1; id <= nodes && !ledger->error; id++) {
		struct spool_node *node = live_node(ledger->spool, id);

		if (node->link != pool || !live_is_ordered(node))
			continue;
		txn_begin(ledger->spool);
		txn_set64(ledger->spool, &node->link, 0);
		txn_commit(ledger->spool);
	}
}

void ledger_empty_pool(struct ledger *ledger, uint32_t pool, const struct event *like)
{
	uint64_t nodes = spool_count(ledger->spool, SPOOL_NODE);

	for (uint32_t id = 1; id <= nodes && !ledger->error; id++) {
		const struct spool_node *node = live_node(ledger->spool, id);

		if (node->kind == NODE_BLOCK && node->pool == pool) {
			struct event event = *like;

			ledger_leave_node(ledger, &event, id);
		}
	}
}

/* --- a driver allocation turns out to be a pool's segment, or the reverse --- */

static void set_pool(struct spool_node *node, uint32_t pool)
{
	node->pool = pool;
	node->flags = (uint8_t)((node->flags & ~NODE_SEGMENT) | (pool ? NODE_SEGMENT : 0));
}

/*
 * If the last event recorded the node, rewrites that event as if the pool had been known before,
 * and returns true. The event gets the same number again, so the transaction must save the bytes of
 * the old event, the node and the new cells.
 */
static bool reborn(struct ledger *ledger, uint32_t id, uint32_t pool)
{
	struct spool *spool = ledger->spool;
	struct spool_node node = *live_node(spool, id);
	struct event event = ledger->newest_event;
	const struct touched *touched;

	if (id != ledger->newest || ledger->quiet != ledger->newest_quiet ||
	    txn_generation(ledger->spool) != ledger->newest_generation)
		return false;
	set_pool(&node, pool);
	event.op = pool ? EVENT_RESERVE : EVENT_ALLOC;
	event.pool = pool;
	touched = ledger_touch(ledger, &event, node.owner);
	if (!touched || totals_room(spool, 1) || !txn_begin_over(spool))
		return false;
	ledger->undrawn_n = 0; /* no curve gets a point: the event's sums are undone */
	txn_keep_run(spool, live_node(spool, id), sizeof(node) / 8);
	if (!ledger->quiet && !event.untold)
		journal_rewind(&ledger->journal);
	ledger_book(ledger, &event, node.stack, touched);
	live_insert(spool, &node);
	ledger_count_birth(ledger, &event, node.stack);
	ledger_commit(ledger, touched);
	ledger->newest = 0; /* not rewritten again, because newest_event is the old event */
	return true;
}

void ledger_retag(struct ledger *ledger, uint32_t id, uint32_t pool, const struct event *like)
{
	struct spool *spool = ledger->spool;
	struct spool_node *node = live_node(spool, id);
	struct spool_node then = *node;
	struct event end = *like;
	struct event birth = *like;
	const struct touched *to;
	struct touched from;

	if (ledger->error || reborn(ledger, id, pool))
		return;
	set_pool(&then, pool);
	ledger_tell_end(&end, node);
	ledger_tell_end(&birth, &then);
	birth.op = pool ? EVENT_RESERVE : EVENT_ALLOC;
	end.stack = birth.stack = node->stack;
	to = ledger_touch(ledger, &end, node->owner);
	from = to ? *to : (struct touched){ .device = { NULL, 0 } };
	to = ledger_touch(ledger, &birth, node->owner);
	if (!to || !ledger_room(ledger, 2))
		return;
	txn_begin(spool);
	ledger_book(ledger, &end, node->stack, &from);
	ledger_count_death(ledger, &end, node);
	/* The node keeps its number, because mappings refer to it. */
	txn_keep_run(spool, node, sizeof(*node) / 8);
	set_pool(node, pool);
	ledger_book(ledger, &birth, node->stack, to);
	ledger_count_birth(ledger, &birth, node->stack);
	ledger_commit(ledger, to);
	ledger_redraw(ledger, &from.pool);
}
