/* The formats that a trace can be exported to: the rows of formats.def. */
#pragma once

#include <stdbool.h>

#include "analyse/trace/trace.h"
#include "render/selection/options.h"

struct out;

/* Options that a format takes, and what its output is. BINARY: it must not go to a terminal;
 * GZIPPED: the format itself is compressed by gzip. */
enum format_takes {
	FORMAT_AT = 1,
	FORMAT_METRIC = 2,
	FORMAT_SELECT = 4, /* --device and --pool */
	FORMAT_BINARY = 8,
	FORMAT_GZIPPED = 16,
	FORMAT_BY = 32,
};

/* `at` NULL: the peak for formats that weigh stacks, the end for the others. */

/* Writes the open trace, of which no event was read. 0 or -errno with err_text(). */
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

/* The rows, followed by one without a name. */
extern const struct format formats[];
