/*
 * What the driver says is occupied, and what explains it:
 *
 *	used = reserved + rounding + named + residual
 *
 * `named` are the steps that were measured around calls which take memory without handing any out
 * (contexts, modules, heaps); the residual is what no call explains. Whoever samples decides what
 * is named; the ledger keeps the sums, the steps in their order, and who held what at the peak.
 */
#ifndef LEDGER_USED_H
#define LEDGER_USED_H

#include "ledger/ledger.h"

enum { USED_ROWS_MOST = 16384 }; /* samples that are kept one by one */

struct used_sample {
	uint64_t t, used;
	int64_t named;   /* bytes, of all names together, the step of this sample included */
	uint32_t source; /* text: who was asked */
	int16_t device;
};

/* A sample that explains itself: something came to be occupied during a call. */
struct used_step {
	int64_t bytes; /* less than 0 when it was given back; 0: none, only the residual moved */
	uint32_t name, kind; /* texts: "modules of libtorch_cuda.so", "modules" */
	uint32_t api, stack, thread;
};

/* What is reserved on the device now, 0 when nothing ever was. */
uint64_t used_reserved(const struct ledger *ledger, int device);

/* used - reserved - rounding of what was sampled, as the ledger has them now. */
int64_t used_unexplained(const struct ledger *ledger, int device, uint64_t used);

/* Enters the sample: peak, residual. The step (NULL for none) becomes a row of the table USED. */
void used_enter(struct ledger *ledger, const struct used_sample *sample,
		const struct used_step *step);

#endif
