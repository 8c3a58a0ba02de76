/* The formats that `memtrace export` writes, each a row of formats.def. */
#pragma once

#include "analyse/trace/trace.h"
#include "render/selection/selection_options.h"

struct out;

/* The options that a format accepts, and two properties of its output: with FORMAT_BINARY it is not
 * written to a terminal; with FORMAT_GZIPPED the caller of format_fn compresses it by gzip. */
enum format_takes {
	FORMAT_AT = 1,
	FORMAT_METRIC = 2,
	FORMAT_SELECT = 4, /* --device and --pool */
	FORMAT_BINARY = 8,
	FORMAT_GZIPPED = 16,
	FORMAT_BY = 32,
};

/* Without --at, formats that give bytes for each stack give those at the peak; other formats show
 * the whole run. */

/* Exports an open trace whose events were not read yet. Returns 0, or -errno with err_text(). */
typedef int format_fn(struct trace *trace, struct out *out,
		      const struct selection_options *options);

#define FORMAT(id, name, extension, takes, help) format_fn format_##id;
#include "render/export/formats.def"

struct format {
	const char *name, *help, *extension;
	unsigned takes; /* bits of enum format_takes */
	format_fn *write;
};

/* The formats, ended by an entry without a name. */
extern const struct format formats[];
