/* The formats that a trace can be exported to: the rows of formats.def as functions and as a table.
 */
#pragma once

#include <stdbool.h>

#include "analyse/trace/trace.h"
#include "render/selection/options.h"

struct out;

/* What a format takes of the options below; BINARY: it is nothing for a terminal;
 * GZIPPED: it is that by itself. */
enum format_takes {
	FORMAT_AT = 1,
	FORMAT_METRIC = 2,
	FORMAT_SELECT = 4, /* device and pool */
	FORMAT_BINARY = 8,
	FORMAT_GZIPPED = 16,
	FORMAT_BY = 32,
};

/* Of the options `at` is NULL for the peak where stacks are weighed, else for the end. */

/* Writes the trace, opened and not yet read from: 0 or -errno with a sentence in err_text(). */
typedef int format_fn(struct trace *trace, struct out *out,
		      const struct selection_options *options);

#define FORMAT(id, name, extension, takes, help) format_fn format_##id;
#include "render/export/formats.def"
#undef FORMAT

struct format {
	const char *name, *help, *extension;
	unsigned takes; /* of enum format_takes */
	format_fn *write;
};

/* The rows, ended by one without a name. */
extern const struct format formats[];
