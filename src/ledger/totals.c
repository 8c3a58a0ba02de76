#include "ledger/totals.h"

#include <errno.h>
#include <stddef.h>

#include "base/guest/hot.h"
#include "ledger/intern.h"
#include "ledger/timeline.h"
#include "spool/txn.h"

int64_t totals_scope_make(struct spool *spool, enum scope_kind kind, int device, uint32_t name)
{
	uint64_t index = spool_count(spool, SPOOL_SCOPE);
	struct spool_scope *scope;
	int error;

	/* Pools, owners and names have a bound; devices and memory kinds are few. */
	if ((kind == SCOPE_POOL || kind == SCOPE_OWNER || kind == SCOPE_NAMED) &&
	    intern_full(spool, SPOOL_SCOPE, 1))
		return -E2BIG;
	error = spool_need(spool, SPOOL_SCOPE, index);
	if (error)
		return error;
	scope = totals_scope(spool, (uint32_t)index);
	*scope = (struct spool_scope){ .kind = kind, .device = device, .name = name };
	if (kind != SCOPE_OWNER && kind != SCOPE_NAMED)
		error = timeline_open(spool, scope);
	if (error)
		return error;
	spool_add_rows(spool, SPOOL_SCOPE, 1);
	return (int64_t)index;
}

int64_t totals_scope_known(const struct spool *spool, enum scope_kind kind, int device,
			   uint32_t name)
{
	for (uint32_t i = 0; i < spool_count(spool, SPOOL_SCOPE); i++) {
		if (totals_scope_is(totals_scope(spool, i), kind, device, name))
			return i;
	}
	return -1;
}

static __attribute__((noinline)) struct spool_cell *make_cell(struct spool *spool,
							      struct spool_stack *row, uint32_t sum)
{
	uint64_t fresh = spool_count(spool, SPOOL_CELL);
	struct spool_cell *cell = spool_at(spool, SPOOL_CELL, fresh);

	/* Saves the old bytes, for a transaction of txn_begin_over() first undoes the last one,
	 * which may have made this cell: if this one is not committed, that cell comes back. */
	txn_keep_run(spool, cell, sizeof(*cell) / 8);
	*cell = (struct spool_cell){ .sum = sum, .next = row->cell };
	txn_set64(spool, &spool->header->count[SPOOL_CELL], fresh + 1);
	txn_set32(spool, &row->cell, (uint32_t)fresh + 1);
	return cell;
}

_Static_assert(offsetof(struct spool_cell, epoch) == offsetof(struct spool_cell, live) + 32 &&
		       offsetof(struct spool_cell, estimated_at_peak) ==
			       offsetof(struct spool_cell, live) + 48 &&
		       sizeof(struct spool_sum) == 32,
	       "the words that totals_add_cell() saves together must be contiguous");

HOT_CODE void totals_add_cell(struct spool *spool, const struct totals_scope *scope,
			      enum metric metric, const struct totals_change *change)
{
	const struct spool_sum *sum = &scope->row->sums[metric];
	struct spool_cell *cell = totals_cell(spool, change->row, scope->first + metric);

	if (!cell)
		cell = make_cell(spool, change->row, scope->first + metric);
	if (cell->epoch != sum->epoch) {
		txn_keep_run(spool, &cell->live, 7);
		cell->at_peak = cell->live;
		cell->at_peak_count = cell->live_count;
		cell->epoch = sum->epoch;
		cell->estimated_at_peak = cell->estimated;
	} else {
		txn_keep_run(spool, &cell->live, 2);
		if (__builtin_expect(change->stands != 0, 0))
			txn_keep_run(spool, &cell->estimated, 1);
	}
	cell->live += (uint64_t)change->bytes;
	cell->live_count += (uint64_t)change->count;
	cell->estimated += (uint64_t)change->stands;
}

/* The rare cases of totals_add(): a new peak, the first change of a cell since a peak, a new cell,
 * a sampled block. Not inlined, so that the usual case saves fewer registers. */
static __attribute__((noinline)) void add_anew(struct spool *spool,
					       const struct totals_scope *scope, enum metric metric,
					       const struct totals_change *change)
{
	struct spool_sum *sum = &scope->row->sums[metric];
	uint64_t now = sum->now + (uint64_t)change->bytes;

	totals_add_cell(spool, scope, metric, change);
	txn_keep_run(spool, sum, 4);
	if (now > sum->peak) {
		sum->peak = now;
		sum->peak_t = change->t;
		sum->epoch++;
	}
	sum->now = now;
}

HOT_CODE void totals_add(struct spool *spool, const struct totals_scope *scope, enum metric metric,
			 const struct totals_change *change)
{
	struct spool_sum *sum = &scope->row->sums[metric];
	struct spool_cell *cell = totals_cell(spool, change->row, scope->first + metric);
	uint64_t now = sum->now + (uint64_t)change->bytes;

	if (__builtin_expect(!cell || cell->epoch != sum->epoch || now > sum->peak ||
				     change->stands != 0,
			     0)) {
		add_anew(spool, scope, metric, change);
		return;
	}
	txn_keep_runs(spool, &cell->live, 2, sum, 1);
	cell->live += (uint64_t)change->bytes;
	cell->live_count += (uint64_t)change->count;
	sum->now = now;
}
