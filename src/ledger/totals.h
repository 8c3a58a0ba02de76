/*
 * Sums and their peaks, with the exact composition of each peak by stack.
 *
 * Sums are kept for scopes: devices, pools, owners (libraries) and spaces (kinds of memory). A cell
 * is the part of one stack in one sum. A new peak is cheap: it only increases the sum's epoch, and
 * a cell with an older epoch saves its bytes at the peak before they change.
 *
 * Functions that change sums run inside a transaction, after totals_room().
 */
#pragma once

#include "spool/spool.h"

enum { TOTALS_CELLS = 8 }; /* maximum number of cells that one event adds */

/* Makes room for the cells of `events` events. Returns 0, or an error of spool_need(). */
static inline int totals_room(struct spool *spool, unsigned events)
{
	return spool_need(spool, SPOOL_CELL,
			  spool_count(spool, SPOOL_CELL) + (uint64_t)events * TOTALS_CELLS);
}

static inline struct spool_scope *totals_scope(const struct spool *spool, uint32_t scope)
{
	return spool_at(spool, SPOOL_SCOPE, scope);
}

static inline bool totals_scope_is(const struct spool_scope *scope, enum scope_kind kind,
				   int device, uint32_t name)
{
	return scope->kind == kind && scope->device == device && scope->name == name;
}

/* Returns the index of the scope, -1 if there is none. */
int64_t totals_scope_known(const struct spool *spool, enum scope_kind kind, int device,
			   uint32_t name);

/* Makes a new scope, outside of transactions. Returns its index, or an error of spool_need();
 * -E2BIG if there are too many pools, owners or names (bounds.def). */
int64_t totals_scope_make(struct spool *spool, enum scope_kind kind, int device, uint32_t name);

/* Returns the number of a scope's sum, which cells store in `sum`. */
static inline uint32_t totals_sum(int64_t scope, enum metric metric)
{
	return (uint32_t)scope * METRICS + (uint32_t)metric;
}

/* Bytes and blocks that an event at time t adds to its stack (less than 0: removes). */
struct totals_change {
	struct spool_stack *row;
	int64_t bytes;
	int64_t count;
	int64_t stands; /* bytes that a sampled block represents, 0 if not sampled */
	uint64_t t;
};

/* A scope's row, whose address never changes, and the number of its first sum. */
struct totals_scope {
	struct spool_scope *row;
	uint32_t first; /* totals_sum() of its first metric */
};

/* Returns the stack's cell for (its part of) the sum, NULL if it has none. */
static inline struct spool_cell *totals_cell(const struct spool *spool,
					     const struct spool_stack *row, uint32_t sum)
{
	struct spool_cell *cell;

	for (uint32_t id = row->cell; id; id = cell->next) {
		cell = spool_at(spool, SPOOL_CELL, id - 1);
		if (cell->sum == sum)
			return cell;
	}
	return NULL;
}

/* Changes a scope's sum, and the stack's cell in that sum. */
void totals_add(struct spool *spool, const struct totals_scope *scope, enum metric metric,
		const struct totals_change *change);

/* Changes only the stack's cell. The caller changes the sum itself afterwards. */
void totals_add_cell(struct spool *spool, const struct totals_scope *scope, enum metric metric,
		     const struct totals_change *change);

/* Returns the bytes that a cell's sampled blocks represented at the sum's peak. */
static inline uint64_t totals_estimated_at_peak(const struct spool_sum *sum,
						const struct spool_cell *cell)
{
	return cell->epoch == sum->epoch ? cell->estimated_at_peak : cell->estimated;
}

/* Returns the bytes of a cell at its sum's peak, and sets *count to the number of blocks. */
static inline uint64_t totals_at_peak(const struct spool_sum *sum, const struct spool_cell *cell,
				      uint64_t *count)
{
	*count = cell->epoch == sum->epoch ? cell->at_peak_count : cell->live_count;
	return cell->epoch == sum->epoch ? cell->at_peak : cell->live;
}
