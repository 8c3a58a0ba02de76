/*
 * The totals of a run as named rows, by which the run is compared with other runs.
 *
 * Only a trace's sums are read, so the cost does not depend on the number of events (except in
 * run_find_categories()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/categories/categories.h"
#include "analyse/input/string_table.h"
#include "analyse/trace/trace.h"
#include "base/mem/arena.h"
#include "facts/sites.h"

enum column {
#define COLUMN(id, key, what, brief, bytes) COLUMN_##id,
#include "analyse/compare/columns.def"
	COLUMNS,
	COLUMN_NONE = COLUMNS
};

enum dimension {
#define DIMENSION(id, key, heading, columns) DIMENSION_##id,
#include "analyse/compare/group_by.def"
	DIMENSIONS
};

struct column_row {
	const char *key, *what, *brief;
	bool bytes;
};

struct dimension_row {
	const char *key, *heading;
	unsigned columns; /* bit COLUMN_x is set if the dimension has column x */
};

extern const struct column_row run_columns[COLUMNS];
extern const struct dimension_row run_dimensions[DIMENSIONS];

struct run_row {
	uint32_t dimension; /* enum dimension; with the next two members, the row's key */
	uint32_t group_text, name_text;
	const char *name;
	/* For sites and categories, the memory kind: "device" for all memory in the sums of
	 * devices. For pools and libraries, the device's number, as "0". Otherwise "". */
	const char *group;
	int64_t values[COLUMNS];
	uint64_t lifetime; /* ns: longest lifetime of a site's blocks; TRACE_NONE if unknown */
	const char *file;  /* the program's source file of a site; NULL if unknown */
	uint32_t line;
	uint64_t line_bytes; /* bytes of the stack that `line` is from, as keep_line() counts */
};

/* The source of a run's categories: none, single blocks (exact), or stacks (estimated). */
enum run_from { RUN_UNTOLD, RUN_BLOCKS, RUN_STACKS };

struct run {
	struct trace trace;
	struct arena arena;
	struct site_frame *seen; /* names of frames, by position in the trace */
	struct run_row *rows;
	size_t rows_n, rows_size;
	uint8_t categories_from; /* enum run_from */
	struct texts texts;      /* numbers for the groups and names of rows */
	struct map row_of;       /* maps dimension, group and name to 1 + a row's position */
};

/* Opens the trace, spool or baseline at the path, which must outlive the run. `device` limits
 * devices and sites' peaks to one device, or is NO_DEVICE. Returns 0 or -errno with err_text(). */
int run_open(struct run *run, const char *path, int device);

/* The two halves of run_open(): run_read() opens the trace, which the caller may reduce to a part
 * of the run, and run_add_rows() makes the rows from it. */
int run_read(struct run *run, const char *path, int device);
void run_add_rows(struct run *run, int device);

void run_close(struct run *run);

/* Takes the categories from a baseline, or finds them by reading the events if `always`, or if the
 * events are few and complete. Returns 0, even if no categories were found, or -EINVAL with
 * err_text(). To be called once. */
int run_find_categories(struct run *run, const struct rules *rules, bool always);

/* A device or memory kind of the run's trace, and the address of its list of categories. */
struct run_place {
	int device;        /* NO_DEVICE for a memory kind */
	const char *space; /* the memory kind; "device" for a device */
	struct trace_category **list;
	size_t *count;
};

/* Fills *place with place i: devices first, then memory kinds. False after the last place. */
bool run_place(const struct run *run, size_t i, struct run_place *place);

/* Adds rows for the categories on one device (NO_DEVICE: on all) and of memory kinds. Two runs can
 * be compared by categories only if they have the same `categories_from`. */
void run_add_categories(struct run *run, int device);

const struct run_row *run_find(const struct run *run, enum dimension dimension, const char *group,
			       const char *name);

/* Writes the name of the stack's call site to `to`, which has room for SITE_LONGEST bytes. */
void run_site_name(const struct run *run, uint32_t stack, char *to);

/* Writes the name of the call site of a stack of frames; `to` has room for SITE_LONGEST bytes. */
void site_name(char *to, const struct site_frame *all, const uint32_t *frames, size_t count);

/* Returns the position in `frames` of the frame whose line is shown: the innermost frame of
 * the program's own Python code; UINT32_MAX if there is none. */
uint32_t site_line(const struct site_frame *all, const uint32_t *frames, size_t count);

/* --- for the files that add rows --- */

/* Returns the row with this name, added if it is new. The pointer is valid until the next call. */
struct run_row *run_row(struct run *run, enum dimension dimension, const char *group,
			const char *name);

/* The largest number in a row, 8 PiB. A trace may contain any number, but neither the difference of
 * two numbers nor the sum of hundreds may overflow. */
#define RUN_MOST ((int64_t)1 << 53)

/* Returns a number from the trace, at most RUN_MOST; 0 if it is not known. */
static inline int64_t run_known(uint64_t value)
{
	if (value == TRACE_NONE)
		return 0;
	return value > RUN_MOST ? RUN_MOST : (int64_t)value;
}

/* Adds a number from the trace, or 0 if it is not known, to the column. */
void run_add(struct run_row *row, enum column column, uint64_t value);

/* Adds `more` to a sum, which is kept between -RUN_MOST and RUN_MOST. */
void run_count(int64_t *sum, int64_t more);
