/* The rows of a run by their names: while they are made. */
#ifndef ANALYSE_RUN_ROWS_H
#define ANALYSE_RUN_ROWS_H

#include "analyse/run.h"

/* The row, made if it is new; NULL without memory, said in err_text(). Good until the next one. */
struct run_row *run_row(struct run *run, enum dimension dimension, const char *group,
			const char *name);

#endif
