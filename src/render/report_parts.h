/* What the parts of the report for people share: tables, rows of sites, limits. */
#ifndef RENDER_REPORT_PARTS_H
#define RENDER_REPORT_PARTS_H

#include "render/report.h"
#include "render/show.h"

#include <stdint.h>

struct trace_device;

struct report {
	struct trace *trace;
	struct show show;
	const struct report_options *options;
};

/* A table's columns: the first at the left, the others at the right of their width. */
struct report_column {
	const char *name;
	unsigned width;
};

bool report_wants(const struct report *report, int device);
size_t report_limit(const struct report *report, size_t count);
void report_say(const struct report *report, const char *text);

/* report_table.c: the columns end with one without a name. */
void report_header(const struct report *report, const struct report_column *columns);
void report_first_cell(const struct report *report, const struct report_column *column,
		       const char *text);
void report_cell(const struct report *report, const struct report_column *column, const char *text);
void report_more(const struct report *report, size_t rows);

/* Bytes, their share of the whole, a name; `count` may be NULL. */
void report_site_row(const struct report *report, const char *name, uint64_t bytes, uint64_t whole,
		     const char *count);
void report_rest_row(const struct report *report, size_t rows, uint64_t bytes, uint64_t whole);

/* The parts: 0 or -errno. */
int report_device(const struct report *report, const struct trace_device *device);
int report_still_live(const struct report *report);
void report_spaces(const struct report *report);
int report_phase_table(const struct report *report);

#endif
