/*
 * Objects of memtrace/1 as JSON, by the rows of facts/trace.def.
 *
 * Also used at the end of the traced program: no allocation.
 */
#ifndef RENDER_DOCUMENT_WRITE_ROWS_H
#define RENDER_DOCUMENT_WRITE_ROWS_H

#include <stdbool.h>

#include "base/text/out.h"
#include "facts/trace_model.h"

struct row_writer {
	struct out *out;
	bool lean; /* a baseline: rows that are FULL are left out where they say nothing */
};

/* All members of a document up to its events, with a comma after each. */
void write_trace(const struct row_writer *writer, const struct trace *trace);

/* One of them, which there is: "key":value. */
void write_member(const struct row_writer *writer, const struct trace *trace, const char *key);

#endif
