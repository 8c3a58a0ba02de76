/*
 * A run, reduced to what another run is compared with: rows of numbers under names that both have.
 *
 * Read from the facts of a trace alone, so it costs the same however many events there are. Numbers
 * are signed: a difference of two columns is one too.
 */
#ifndef ANALYSE_RUN_H
#define ANALYSE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/sites.h"
#include "analyse/trace.h"
#include "base/arena.h"

enum column {
#define COLUMN(id, key, what, brief, bytes) COLUMN_##id,
#include "analyse/columns.def"
#undef COLUMN
	COLUMNS
};

enum dimension {
#define DIMENSION(id, key, heading, columns) DIMENSION_##id,
#include "analyse/dimensions.def"
#undef DIMENSION
	DIMENSIONS
};

struct column_row {
	const char *key, *what, *brief;
	bool bytes;
};

struct dimension_row {
	const char *key, *heading;
	unsigned columns; /* bit COLUMN_x: it has that column */
};

extern const struct column_row run_columns[COLUMNS];
extern const struct dimension_row run_dimensions[DIMENSIONS];

struct run_row {
	uint8_t dimension; /* enum dimension */
	const char *name;
	/*
	 * Sites: the memory it is in: "device" for what enters the sums of devices. Pools and
	 * owners: their device, as "0". Else "".
	 */
	const char *group;
	int64_t values[COLUMNS];
	uint64_t lifetime; /* sites: the longest, ns; TRACE_NONE when nothing was freed */
	const char *file;  /* sites: the line of the program's own source that holds most; NULL */
	uint32_t line;
	uint64_t line_bytes; /* what that line's stack weighs */
};

struct run {
	struct trace trace;
	struct arena arena;
	struct site_frame *seen; /* by frame of the trace */
	struct run_row *rows;
	size_t rows_n, rows_size;
	uint32_t *slots; /* hash of (dimension, group, name) -> 1 + row */
	size_t slots_n;
};

/*
 * Opens the trace (or spool, or baseline) at the path, which must outlive the run. `device` narrows
 * the peaks of sites to one device, NO_DEVICE for all. 0, or -errno with err_text().
 */
int run_open(struct run *run, const char *path, int device);
void run_close(struct run *run);

const struct run_row *run_find(const struct run *run, enum dimension dimension, const char *group,
			       const char *name);

/* The name of the site that a stack of the trace belongs to, to SITE_LONGEST bytes. */
void run_site_name(const struct run *run, uint32_t stack, char *to);

/* "step 3" and "step 4" are one phase, "step": the name without a number at its end. */
size_t run_phase_length(const char *name);

#endif
