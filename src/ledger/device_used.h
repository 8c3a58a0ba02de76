/*
 * The bytes that the driver reports as used, and their parts:
 *
 * used = reserved + rounding + named + residual
 *
 * See granules.h for `rounding`. `named` is the sum of steps of `used`, measured around calls that
 * take memory but return no address (contexts, modules, heaps); `residual` is the rest.
 */
#pragma once

#include "ledger/ledger.h"

enum { USED_ROWS_MOST = 16384 }; /* most rows of the table USED */

/* The bytes that are reserved on the device now; 0 if it was never used. */
uint64_t used_reserved(const struct ledger *ledger, int device);

/* `used` as sampled, minus the bytes reserved now and their rounding. */
int64_t used_unexplained(const struct ledger *ledger, int device, uint64_t used);

/*
 * To be called in a transaction: used_move() when a device's reserved bytes change by `bytes` at
 * time t. Between two samples, used_follow() keeps `used` at no less than the process holds, once
 * the changes add up to a granule. It does nothing before the first sample.
 */
void used_follow(struct ledger *ledger, struct spool_scope *device, uint64_t t);

static inline void used_move(struct ledger *ledger, struct spool_scope *device, int64_t bytes,
			     uint64_t t)
{
	int64_t *moved = &ledger->granules.moved[(unsigned)device->device % GRANULES_DEVICES];

	*moved += bytes;
	if ((uint64_t)(*moved + GRANULE) >= 2 * GRANULE)
		used_follow(ledger, device, t);
}

/* At the end of a recording: adds to `used` the changes that used_follow() has not seen yet. */
void used_settle(struct ledger *ledger);

/*
 * Records a sample. The caller fills all but reserved, rounding and residual; `named` is the sum of
 * all named steps, `source` is a text id: the source of `used`. With `step`, the change has a cause
 * and becomes a row of the table USED: bytes taken during a call, or returned (less than 0), under
 * a name ("modules of libtorch_cuda.so") of a kind ("modules"). With 0 bytes only the residual has
 * changed.
 */
void used_enter(struct ledger *ledger, const struct spool_used *sample, uint32_t source, bool step);
