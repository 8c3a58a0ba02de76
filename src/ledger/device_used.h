/*
 * The bytes of GPU memory that the driver reports as used on a device, and their parts:
 *
 * used = reserved + rounding + named + residual
 *
 * `rounding` is what the driver adds to allocations (granules.h). `named` is the growth of `used`
 * in calls that return no address (creating contexts, loading modules); `residual` is the rest.
 */
#pragma once

#include "ledger/ledger.h"

enum { USED_ROWS_MOST = 16384 }; /* maximum number of rows in the table USED */

/* Returns the bytes reserved on the device now; 0 if the device was never used. */
uint64_t used_reserved(const struct ledger *ledger, int device);

/* Returns how many bytes of `used`, a sample, are neither reserved now nor rounding. */
int64_t used_unexplained(const struct ledger *ledger, int device, uint64_t used);

/*
 * used_move() is called, inside a transaction, when a device's reserved bytes change by `bytes` at
 * time t. When changes since the last update of `used` reach a granule, used_follow() estimates
 * `used` from the reserved bytes, until the next sample; without any sample, `used` is unknown.
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

/* To be called at the end of a recording: updates `used` for the changes since the last update. */
void used_settle(struct ledger *ledger);

/*
 * Records a sample of `used`. The caller fills all members but reserved, rounding and residual;
 * `source` is the text id of where `used` comes from. If `step` is true, the sample was made after
 * a call that took sample->bytes (if negative, returned), and becomes a row of the table USED with
 * a name ("modules of libtorch_cuda.so") of a kind ("modules"). If sample->bytes is 0, only the
 * residual has changed. sample->named is the sum of the bytes of all such calls so far.
 */
void used_enter(struct ledger *ledger, const struct spool_used *sample, uint32_t source, bool step);
