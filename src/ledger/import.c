/* Memory of another process that is opened by address. */
#include "ledger/import.h"

#include "spool/txn.h"

static void recount(struct ledger *ledger, uint32_t id, int references)
{
	txn_begin(ledger->spool);
	live_recount(ledger->spool, id, references, 0);
	txn_commit(ledger->spool);
}

static uint32_t find(const struct ledger *ledger, uint64_t address)
{
	uint32_t id = ledger->error ? 0 : live_find(ledger->spool, NODE_ADDRESS, 0, address);

	return id && (live_node(ledger->spool, id)->flags & NODE_FOREIGN) ? id : 0;
}

bool import_again(struct ledger *ledger, uint64_t address)
{
	uint32_t id = find(ledger, address);

	if (id)
		recount(ledger, id, 1);
	return id != 0;
}

bool import_close(struct ledger *ledger, struct event *event, struct spool_node *was)
{
	uint32_t id = find(ledger, event->ptr);

	*was = (struct spool_node){ .kind = NODE_FREE };
	if (!id)
		return false;
	*was = *live_node(ledger->spool, id);
	if (was->references > 1) {
		recount(ledger, id, -1);
		return false;
	}
	ledger_leave_node(ledger, event, id);
	return true;
}

void import_unclose(struct ledger *ledger, struct event *event, const struct spool_node *was)
{
	if (was->kind == NODE_FREE || ledger->error)
		return;
	if (was->references > 1)
		import_again(ledger, was->address);
	else
		ledger_undo(ledger, event, was);
}
