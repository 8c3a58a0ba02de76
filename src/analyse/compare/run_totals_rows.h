/* The rows of a run by their names: while they are made. */
#ifndef ANALYSE_COMPARE_RUN_TOTALS_ROWS_H
#define ANALYSE_COMPARE_RUN_TOTALS_ROWS_H

#include "analyse/compare/run_totals.h"

/* The row, made if it is new; NULL without memory, said in err_text(). Good until the next one. */
struct run_row *run_row(struct run *run, enum dimension dimension, const char *group,
			const char *name);

/*
 * Traces may say what they like: here numbers end at 8 PiB, so that a difference of two is one,
 * too, and so is the sum of hundreds of those.
 */
#define RUN_MOST ((int64_t)1 << 53)

/* A number of the trace: 0 where it tells none. */
static inline int64_t run_known(uint64_t value)
{
	if (value == TRACE_NONE)
		return 0;
	return value > RUN_MOST ? RUN_MOST : (int64_t)value;
}

/* Adds, up to RUN_MOST or down to its negative. */
void run_count(int64_t *sum, int64_t more);

#endif
