/*
 * A run, reduced to the rows by which it is compared with another: numbers under names that both
 * have.
 *
 * Read from the facts of a trace alone, so it costs the same however many events there are (but for
 * categories, which have a function of their own). Numbers are signed, so that a difference of two
 * columns can be stored in one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/categories/categories.h"
#include "analyse/input/texts.h"
#include "analyse/trace/trace.h"
#include "base/mem/arena.h"
#include "facts/sites.h"

enum column {
#define COLUMN(id, key, what, brief, bytes) COLUMN_##id,
#include "analyse/compare/columns.def"
#undef COLUMN
	COLUMNS
};

enum dimension {
#define DIMENSION(id, key, heading, columns) DIMENSION_##id,
#include "analyse/compare/group_by.def"
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
	uint32_t dimension; /* enum dimension; by it and the next two a row is found */
	uint32_t group_text, name_text;
	const char *name;
	/* Sites and categories: the kind of memory, "device" for all that is in the sums of
	 * devices. Pools and owners: their device, as "0". Else "". */
	const char *group;
	int64_t values[COLUMNS];
	uint64_t lifetime; /* sites: the longest, ns; TRACE_NONE when nothing was freed */
	const char *file;  /* sites: the line of the program's own source that holds most; NULL */
	uint32_t line;
	uint64_t line_bytes; /* bytes of that line's stack */
};

/* How the categories were found, see analyse/categories/categories.h. */
enum run_from { RUN_UNTOLD, RUN_BLOCKS, RUN_STACKS };

struct run {
	struct trace trace;
	struct arena arena;
	struct site_frame *seen; /* by frame of the trace */
	struct run_row *rows;
	size_t rows_n, rows_size;
	uint8_t categories_from; /* enum run_from */
	struct texts texts;      /* groups and names of rows */
	struct map row_of;       /* 1 + row, by dimension, group and name */
};

/* Opens the trace (or spool, or baseline) at the path, which must outlive the run. `device` narrows
 * the peaks of sites to one device, NO_DEVICE for all. 0, or -errno with err_text(). */
int run_open(struct run *run, const char *path, int device);
void run_close(struct run *run);

/* Finds the categories by reading the events: when they are few, or `always`. A trace without
 * categories (many events, none, a baseline without them) is no error. To be called once. */
int run_find_categories(struct run *run, const struct rules *rules, bool always);

/* A device or space of the run's trace, and its list of categories. */
struct run_place {
	int device;        /* NO_DEVICE: a space */
	const char *space; /* "device" for a device */
	struct trace_category **list;
	size_t *count;
};

/* The devices, then the spaces; false after the last one. */
bool run_place(const struct run *run, size_t i, struct run_place *place);

/* Makes rows of them, of one device or all, for run_find() and gates. Two runs can only be compared
 * by categories if both have the same `categories_from`. */
void run_add_categories(struct run *run, int device);

const struct run_row *run_find(const struct run *run, enum dimension dimension, const char *group,
			       const char *name);

/* The name of the site that a stack of the trace belongs to, to SITE_LONGEST bytes. */
void run_site_name(const struct run *run, uint32_t stack, char *to);

/* The name of the stack's site, into SITE_LONGEST bytes. */
void site_name(char *to, const struct site_frame *all, const uint32_t *frames, size_t count);

/* The line of the program's own source to show for the stack: its innermost Python frame that is
 * not installed; UINT32_MAX for none. */
uint32_t site_line(const struct site_frame *all, const uint32_t *frames, size_t count);

/* --- while rows are made --- */

/* The row, made if it is new; good until the next one. */
struct run_row *run_row(struct run *run, enum dimension dimension, const char *group,
			const char *name);

/* The largest number of a row, 8 PiB: traces may contain any number, and neither a difference of
 * two nor the sum of hundreds may overflow. */
#define RUN_MOST ((int64_t)1 << 53)

/* A number of the trace: 0 where it has none. */
static inline int64_t run_known(uint64_t value)
{
	if (value == TRACE_NONE)
		return 0;
	return value > RUN_MOST ? RUN_MOST : (int64_t)value;
}

/* Adds a number of the trace to the column. */
void run_add(struct run_row *row, enum column column, uint64_t value);

/* Adds, up to RUN_MOST or down to its negative. */
void run_count(int64_t *sum, int64_t more);
