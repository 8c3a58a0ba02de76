/* A driver allocation turns out to be a pool's segment, or the reverse. */
#include "ledger/ledger_parts.h"
#include "spool/txn.h"

static void set_pool(struct spool_node *node, uint32_t pool)
{
	node->pool = pool;
	node->flags = (uint8_t)((node->flags & ~NODE_SEGMENT) | (pool ? NODE_SEGMENT : 0));
}

/*
 * The last event of all was the node's birth: as if it had been known then. The same number is
 * given out again, so the event that stood there, the node and the new cells must be kept whole.
 */
static bool reborn(struct ledger *ledger, uint32_t id, uint32_t pool)
{
	struct spool *spool = ledger->spool;
	struct spool_node node = *live_node(spool, id);
	struct event event = ledger->newest_event;
	struct touched touched;

	if (id != ledger->newest || ledger->quiet != ledger->newest_quiet ||
	    atomic_load_explicit(&spool->header->generation, memory_order_relaxed) !=
		    ledger->newest_generation)
		return false;
	set_pool(&node, pool);
	event.op = pool ? EVENT_RESERVE : EVENT_ALLOC;
	event.pool = pool;
	if (!ledger_touch(ledger, &event, node.owner, &touched) || totals_room(spool, 1) ||
	    !txn_begin_over(spool))
		return false;
	ledger->undrawn_n = 0; /* what it moved is taken back */
	txn_keep_bytes(spool, live_node(spool, id), live_node(spool, id) + 1);
	if (!ledger->quiet && !event.untold)
		journal_rewind(&ledger->journal);
	ledger_book(ledger, &event, node.stack, &touched);
	live_insert(spool, &node);
	ledger_count_birth(ledger, &event, node.stack);
	ledger_commit(ledger, &touched);
	ledger->newest = 0; /* to take this back would bring the first one back */
	return true;
}

void ledger_retag(struct ledger *ledger, uint32_t id, uint32_t pool, const struct event *like)
{
	struct spool *spool = ledger->spool;
	struct spool_node *node = live_node(spool, id);
	struct spool_node then = *node;
	struct event end = *like;
	struct event birth = *like;
	struct touched from, to;

	if (ledger->error || reborn(ledger, id, pool))
		return;
	set_pool(&then, pool);
	ledger_tell_end(&end, node);
	ledger_tell_end(&birth, &then);
	birth.op = pool ? EVENT_RESERVE : EVENT_ALLOC;
	end.stack = birth.stack = node->stack;
	if (!ledger_touch(ledger, &end, node->owner, &from) ||
	    !ledger_touch(ledger, &birth, node->owner, &to) || !ledger_room(ledger, 2))
		return;
	txn_begin(spool);
	ledger_book(ledger, &end, node->stack, &from);
	ledger_count_death(ledger, &end, node);
	/* The node stays where it is: mappings refer to it. */
	txn_set32(spool, &node->pool, then.pool);
	txn_set32(spool, (txn_half *)&node->flags, then.flags);
	ledger_book(ledger, &birth, node->stack, &to);
	ledger_count_birth(ledger, &birth, node->stack);
	ledger_commit(ledger, &to);
	ledger_redraw(ledger, &from.pool);
}
