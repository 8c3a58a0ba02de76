/*
 * Objects of memtrace/1 as JSON, by the rows of facts/trace.def.
 *
 * Also used at the end of the traced program: no allocation.
 */
#ifndef RENDER_DOCUMENT_WRITE_ROWS_H
#define RENDER_DOCUMENT_WRITE_ROWS_H

#include <stdbool.h>

#include "base/text/out.h"
#include "facts/trace_rows.h"

struct trace;

struct row_writer {
	struct out *out;
	bool lean; /* a baseline: rows that are FULL are left out where they say nothing */
};

/* A whole object, which is an item of the list `of` (NULL: of none). */
void write_object(const struct row_writer *writer, const struct row *of, const void *object);

/* The value of a row of the object, without its key. */
void write_value(const struct row_writer *writer, const struct row *row, const void *object);

/* What stands before the item number `i` of a list. */
void write_separator(const struct row_writer *writer, const struct row *list, bool first);

/* All members of a document up to its events, with a comma after each. */
void write_trace(const struct row_writer *writer, const struct trace *trace);

#endif
