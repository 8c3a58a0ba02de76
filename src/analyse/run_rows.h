/* The rows of a run by their names: while they are made. */
#ifndef ANALYSE_RUN_ROWS_H
#define ANALYSE_RUN_ROWS_H

#include "analyse/run.h"

/* The row, made if it is new; NULL without memory, said in err_text(). Good until the next one. */
struct run_row *run_row(struct run *run, enum dimension dimension, const char *group,
			const char *name);

/* A number of the trace: 0 where it tells none. */
static inline int64_t run_known(uint64_t value)
{
	if (value == TRACE_NONE)
		return 0;
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* Traces may say what they like: a sum ends where numbers do, INT64_MAX or its negative. */
void run_count(int64_t *sum, int64_t more);

#endif
