/*
 * The rest of the ledger: its start and end, errors, scopes, searches of all live nodes, marks, and
 * allocations that failed.
 */
#include <errno.h>
#include <string.h>

#include "ledger/ledger_parts.h"
#include "ledger/pending.h"
#include "spool/txn.h"

int ledger_init(struct ledger *ledger, struct spool *spool, uint64_t max_events)
{
	memset(ledger, 0, sizeof(*ledger));
	ledger->spool = spool;
	return journal_init(&ledger->journal, spool, max_events);
}

void ledger_clear(struct ledger *ledger)
{
	journal_clear(&ledger->journal);
	granules_clear(&ledger->granules);
	memset(ledger, 0, sizeof(*ledger));
}

void ledger_mend(struct ledger *ledger)
{
	struct spool *spool = ledger->spool;

	if (!spool || ledger->error)
		return;
	ledger->newest = 0;
	ledger->behind = true; /* the undone event may be missing in the journal */
	memset(ledger->scopes, 0, sizeof(ledger->scopes));
	memset(ledger->pens, 0, sizeof(ledger->pens));
	ledger->last_touched.where = 0;
	/* Which curves need a point is not known, so all get one. A needless point does no harm. */
	ledger->undrawn_n = 0;
	for (uint32_t i = 0; i < spool_count(spool, SPOOL_SCOPE); i++) {
		struct spool_scope *scope = totals_scope(spool, i);

		timeline_draw_anew(spool, scope, ledger_pen(ledger, scope), spool->header->t);
	}
	journal_mend(&ledger->journal);
	pending_mend(ledger);
}

bool ledger_fails(struct ledger *ledger, int64_t error)
{
	if (error && !ledger->error) {
		ledger->error = (int)error;
		atomic_store(&ledger->spool->header->stop, spool_stop_reason((int)error));
	}
	return error != 0;
}

int64_t ledger_scope(struct ledger *ledger, enum scope_kind kind, int device, uint32_t name)
{
	unsigned slot = (name * 31 + kind * 7 + (unsigned)device) % LEDGER_SCOPES;
	uint32_t cached = ledger->scopes[slot];
	int64_t scope;

	if (cached && totals_scope_is(totals_scope(ledger->spool, cached - 1), kind, device, name))
		return cached - 1;
	scope = totals_scope_known(ledger->spool, kind, device, name);
	if (scope < 0)
		scope = totals_scope_make(ledger->spool, kind, device, name);
	if (scope == -E2BIG || ledger_fails(ledger, scope < 0 ? scope : 0))
		return -1;
	ledger->scopes[slot] = (uint32_t)scope + 1;
	return scope;
}

static struct totals_scope scope_at(struct ledger *ledger, enum scope_kind kind, int device,
				    uint32_t name)
{
	int64_t index = ledger_scope(ledger, kind, device, name);

	if (index < 0)
		return (struct totals_scope){ NULL, 0 };
	return (struct totals_scope){ totals_scope(ledger->spool, (uint32_t)index),
				      totals_sum(index, METRIC_ALLOCATED) };
}

bool ledger_touch_anew(struct ledger *ledger, const struct event *event, uint64_t where,
		       uint32_t owner)
{
	struct ledger_touched *last = &ledger->last_touched;
	struct touched *touched = &last->touched;

	*last = (struct ledger_touched){ .where = 0 };
	if (event->device >= 0)
		touched->device = scope_at(ledger, SCOPE_DEVICE, event->device, 0);
	if (event->pool)
		touched->pool = scope_at(ledger, SCOPE_POOL, event->device, event->pool);
	if (owner)
		touched->owner = scope_at(ledger, SCOPE_OWNER, event->device, owner);
	if (event->space != SPACE_DEVICE)
		touched->space = scope_at(ledger, SCOPE_SPACE, NO_DEVICE, event->space);
	if (ledger->error)
		return false;
	last->where = where;
	last->owner = owner;
	return true;
}

/* --- searches of all nodes: rare, because they take long --- */

uint32_t ledger_around(const struct ledger *ledger, uint64_t address)
{
	const struct spool *spool = ledger->spool;
	uint64_t nodes = spool_count(spool, SPOOL_NODE);

	for (uint32_t id = 1; id <= nodes; id++) {
		const struct spool_node *node = live_node(spool, id);
		bool around = address - node->address < node->size;

		if (around && node->kind == NODE_MAPPING)
			return (uint32_t)node->link;
		if (around && node->kind == NODE_ADDRESS)
			return id;
	}
	return 0;
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

/* --- events that change no sum --- */

void ledger_note(struct ledger *ledger, struct event *event)
{
	if (!ledger_room(ledger, 1))
		return;
	txn_begin(ledger->spool);
	ledger_put(ledger, event);
	txn_commit(ledger->spool);
}

void ledger_retry(struct ledger *ledger, int device)
{
	int64_t scope = ledger->error ? -1 : ledger_scope(ledger, SCOPE_DEVICE, device, 0);

	if (scope < 0)
		return;
	totals_scope(ledger->spool, (uint32_t)scope)->retries++;
}

/* --- the table of failed allocations whose error no framework caught --- */

/* Index of the row to write next; in a full table, the oldest after the first SPOOL_OOMS_FIRST. */
static uint64_t next_note(const struct spool_header *header)
{
	uint64_t latest = SPOOL_OOMS - SPOOL_OOMS_FIRST;

	if (header->ooms < SPOOL_OOMS)
		return header->ooms;
	return SPOOL_OOMS_FIRST + (header->ooms - SPOOL_OOMS_FIRST) % latest;
}

static void complete(struct spool_oom *row, const struct event *event,
		     const struct spool_scope *device)
{
	row->t = event->t;
	row->size = event->size;
	row->stack = event->stack;
	row->thread = event->thread;
	row->pool = event->pool;
	row->api = event->api;
	row->device = event->device;
	row->space = event->space;
	if (!device)
		return;
	/* If an expandable segment failed to grow, adds what it freed after `left` was read. */
	if (row->total && row->reserved > device->sums[METRIC_RESERVED].now)
		row->left += row->reserved - device->sums[METRIC_RESERVED].now;
	row->allocated = device->sums[METRIC_ALLOCATED].now;
	row->reserved = device->sums[METRIC_RESERVED].now;
	row->used = device->sums[METRIC_USED].now;
	row->allocations = device->allocations;
}

static void put_note(struct spool *spool, const struct spool_oom *row)
{
	struct spool_header *header = spool->header;
	uint64_t place = next_note(header);
	struct spool_oom *to = spool_at(spool, SPOOL_OOM, place);

	if (place < header->count[SPOOL_OOM])
		txn_keep_run(spool, to, sizeof(*to) / 8);
	*to = *row;
	if (place == header->count[SPOOL_OOM])
		txn_add64(spool, &header->count[SPOOL_OOM], 1);
	txn_add64(spool, &header->ooms, 1);
}

void ledger_oom(struct ledger *ledger, struct event *event, struct spool_oom *known)
{
	struct spool *spool = ledger->spool;
	const struct touched *touched = ledger_touch(ledger, event, 0);

	if (!touched || !ledger_room(ledger, 1) ||
	    ledger_fails(ledger, spool_need(spool, SPOOL_OOM, next_note(spool->header))))
		return;
	known->seq =
		spool->header->seq; /* number of this event, or of the next if none is written */
	txn_begin(spool);
	ledger_put(ledger, event);
	if (touched->device.row)
		txn_add64(spool, &touched->device.row->ooms, 1);
	if (touched->pool.row)
		txn_add64(spool, &touched->pool.row->ooms, 1);
	complete(known, event, touched->device.row);
	put_note(spool, known);
	txn_commit(spool);
}
