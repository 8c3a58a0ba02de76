/* Sums and their peaks, with composition by epochs. */
#include "ledger/totals.h"

#include "ledger/curve.h"
#include "spool/txn.h"

int totals_room(struct spool *spool, unsigned events)
{
	return spool_need(spool, SPOOL_CELL,
			  spool_count(spool, SPOOL_CELL) + (uint64_t)events * TOTALS_CELLS);
}

static int64_t make_scope(struct spool *spool, enum scope_kind kind, int device, uint32_t name)
{
	uint64_t index = spool_count(spool, SPOOL_SCOPE);
	struct spool_scope *scope;
	int error = spool_need(spool, SPOOL_SCOPE, index);

	if (error)
		return error;
	scope = totals_scope(spool, (uint32_t)index);
	*scope = (struct spool_scope){ .kind = kind, .device = device, .name = name };
	if (kind != SCOPE_OWNER && kind != SCOPE_NAMED)
		error = curve_open(spool, scope);
	if (error)
		return error;
	__atomic_store_n(&spool->header->count[SPOOL_SCOPE], index + 1, __ATOMIC_RELEASE);
	return (int64_t)index;
}

int64_t totals_scope_find(struct spool *spool, enum scope_kind kind, int device, uint32_t name)
{
	uint64_t count = spool_count(spool, SPOOL_SCOPE);

	for (uint64_t i = 0; i < count; i++) {
		const struct spool_scope *scope = totals_scope(spool, (uint32_t)i);

		if (scope->kind == kind && scope->device == device && scope->name == name)
			return (int64_t)i;
	}
	return make_scope(spool, kind, device, name);
}

static struct spool_cell *find_cell(struct spool *spool, uint32_t stack, uint32_t sum)
{
	struct spool_stack *row = spool_at(spool, SPOOL_STACK, stack);
	struct spool_cell *cell;
	uint64_t fresh;

	for (uint32_t id = row->cell; id; id = cell->next) {
		cell = spool_at(spool, SPOOL_CELL, id - 1);
		if (cell->sum == sum)
			return cell;
	}
	fresh = spool_count(spool, SPOOL_CELL);
	cell = spool_at(spool, SPOOL_CELL, fresh);
	/* It may be one that an event taken back had made (txn_begin_over). */
	txn_keep_bytes(spool, cell, cell + 1);
	*cell = (struct spool_cell){ .sum = sum, .next = row->cell };
	txn_set64(spool, &spool->header->count[SPOOL_CELL], fresh + 1);
	txn_set32(spool, &row->cell, (uint32_t)fresh + 1);
	return cell;
}

void totals_add(struct spool *spool, uint32_t id, uint32_t stack, int64_t bytes, int count,
		uint64_t t)
{
	struct spool_sum *sum = &totals_scope(spool, id / METRICS)->sums[id % METRICS];
	struct spool_cell *cell = find_cell(spool, stack, id);
	uint64_t now = sum->now + (uint64_t)bytes;

	if (cell->epoch != sum->epoch) {
		txn_set64(spool, &cell->at_peak, cell->live);
		txn_set64(spool, &cell->at_peak_count, cell->live_count);
		txn_set64(spool, &cell->epoch, sum->epoch);
	}
	txn_set64(spool, &cell->live, cell->live + (uint64_t)bytes);
	txn_set64(spool, &cell->live_count, cell->live_count + (uint64_t)(int64_t)count);
	txn_set64(spool, &sum->now, now);
	if (now > sum->peak) {
		txn_set64(spool, &sum->peak, now);
		txn_set64(spool, &sum->peak_t, t);
		txn_set64(spool, &sum->epoch, sum->epoch + 1);
	}
}
