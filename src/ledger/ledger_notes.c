/* Events that move no sum: marks, and allocations that failed. */
#include "ledger/ledger_parts.h"
#include "spool/txn.h"

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

/* --- an allocation that failed and nobody caught: a row of what was known then --- */

/* The row that the next one is written to: once all are in use, the oldest behind the first few. */
static uint64_t next_note(const struct spool_header *header)
{
	uint64_t latest = SPOOL_OOMS - SPOOL_OOMS_FIRST;

	if (header->ooms < SPOOL_OOMS)
		return header->ooms;
	return SPOOL_OOMS_FIRST + (header->ooms - SPOOL_OOMS_FIRST) % latest;
}

/* What the event and the sums tell. */
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
	/* An expandable segment that could not grow gives its first pieces back. */
	if (row->total && row->reserved > device->sums[METRIC_RESERVED].now)
		row->left += row->reserved - device->sums[METRIC_RESERVED].now;
	row->allocated = device->sums[METRIC_ALLOCATED].now;
	row->reserved = device->sums[METRIC_RESERVED].now;
	/* What the last sample had beside what was reserved then, and what is reserved now. */
	if (device->sums[METRIC_USED].now)
		row->used = row->reserved +
			    (uint64_t)(device->rounding + device->named + device->residual);
	row->allocations = device->allocations;
}

/* Inside the transaction of its event. */
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
	known->seq = spool->header->seq; /* the event's own, also if events are off */
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
