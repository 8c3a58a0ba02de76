/*
 * The bytes that the driver reports as used, and what explains them:
 *
 *	used = reserved + rounding + named + residual
 *
 * `named` are the steps that were measured around calls which take memory without handing any out
 * (contexts, modules, heaps); no call explains the residual. The caller takes the samples and
 * decides the names. The ledger keeps the sums, the steps in their order, and the composition of
 * the peak.
 */
#pragma once

#include "ledger/ledger.h"

enum { USED_ROWS_MOST = 16384 }; /* samples that are kept one by one */

/* The bytes that are reserved on the device now; 0 if nothing ever was. */
uint64_t used_reserved(const struct ledger *ledger, int device);

/* The sampled `used` less reserved bytes and rounding, as the ledger has them now. */
int64_t used_unexplained(const struct ledger *ledger, int device, uint64_t used);

/*
 * Enters a sample. The caller fills all but reserved, rounding and residual; `named` are the bytes
 * of all names together, `source` the text of the source of the figure. With a step it is explained
 * and becomes a row of the table USED: its bytes were occupied during a call, or given back (less
 * than 0), under a name ("modules of libtorch_cuda.so") of a kind ("modules"). With 0 bytes only
 * the residual moved.
 */
void used_enter(struct ledger *ledger, const struct spool_used *sample, uint32_t source, bool step);
