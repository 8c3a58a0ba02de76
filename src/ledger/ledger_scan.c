/* What is looked for among all that lives: rare, for it takes as long as there are nodes. */
#include "ledger/ledger_parts.h"
#include "spool/txn.h"

uint32_t ledger_around(const struct ledger *ledger, uint64_t address)
{
	const struct spool *spool = ledger->spool;
	uint64_t nodes = spool_count(spool, SPOOL_NODE);

	for (uint32_t id = 1; id <= nodes; id++) {
		const struct spool_node *node = live_node(spool, id);
		uint32_t home = id;

		if (node->kind == NODE_MAPPING && address - node->address < node->size)
			home = (uint32_t)node->link;
		else if (node->kind != NODE_ADDRESS || address - node->address >= node->size)
			continue;
		return home;
	}
	return 0;
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

uint32_t ledger_next_of_context(const struct ledger *ledger, uint32_t id, uint64_t context)
{
	uint64_t nodes = ledger->error ? 0 : spool_count(ledger->spool, SPOOL_NODE);

	while (++id <= nodes) {
		const struct spool_node *node = live_node(ledger->spool, id);
		bool held = node->kind == NODE_ADDRESS || node->kind == NODE_ARRAY ||
			    node->kind == NODE_EXTERNAL;

		if (held && node->link == context && !live_is_ordered(node))
			return id;
	}
	return 0;
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
