/* The formats that a trace can be exported to: the rows of formats.def as functions and as a table.
 */
#ifndef RENDER_FORMATS_H
#define RENDER_FORMATS_H

#include <stdbool.h>

#include "analyse/trace.h"

struct out;

/* What stacks are weighted by, for the formats that weigh them. */
struct format_options {
	const char *at; /* NULL: at the peak; else "exit" or a time, see `export --help` */
	enum trace_metric metric; /* of which quantity */
};

/* Writes the trace, opened and not yet read from: 0 or -errno with a sentence in err_text(). */
typedef int format_fn(struct trace *trace, struct out *out, const struct format_options *options);

#define FORMAT(name, extension, help) format_fn format_##name;
#include "render/formats.def"
#undef FORMAT

struct format {
	const char *name, *extension, *help;
	format_fn *write;
};

/* The rows, ended by one without a name. */
extern const struct format formats[];

#endif
