/* What the parts of the timeline share: the stretch of time, and lines of cells. */
#ifndef RENDER_TIMELINE_TIMELINE_PARTS_H
#define RENDER_TIMELINE_TIMELINE_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/timeline/timeline.h"

struct trace_curve;

/* What a cell shows: in UTF-8 and in ASCII. The eighths come in their order. */
enum timeline_glyph {
	GLYPH_BLANK,
	GLYPH_EIGHTH, /* and six more behind it */
	GLYPH_FULL = GLYPH_EIGHTH + 7,
	GLYPH_CACHED,
	GLYPH_PEAK,
	GLYPH_OOM,
	GLYPH_AXIS,
	GLYPH_TICK,
	GLYPH_CORNER,
	GLYPH_LINE,
	GLYPH_BEGIN,
	GLYPH_END,
	GLYPH_SHORT, /* a phase of one column */
	GLYPH_MANY,  /* several in one */
	GLYPHS
};

struct timeline_oom {
	uint64_t t;
	int device;
};

struct timeline {
	struct trace *trace;
	struct show show;
	const struct timeline_options *options;
	uint64_t from, to;     /* ns; both ends belong to it */
	unsigned columns;      /* of the plot */
	struct emit_rows ooms; /* struct timeline_oom */
};

enum { TIMELINE_LEFT = 12 }; /* columns in front of the plot: a size and the axis */

/* A column of a line. */
struct timeline_cell {
	enum timeline_glyph glyph;
	const char *name; /* that begins here in the place of glyphs, NULL for none */
	unsigned room;    /* how much of it fits */
};

/* Cells of the whole width, blank; until the trace is closed. NULL without memory. */
struct timeline_cell *timeline_cells(const struct timeline *timeline);

/* A line: its label and the axis, or no label; cells up to the last that is not blank. */
void timeline_line(const struct timeline *timeline, const char *label, enum timeline_glyph axis,
		   const struct timeline_cell *cells);

/* The column of a time inside the stretch. */
unsigned timeline_column(const struct timeline *timeline, uint64_t t);

/* "2.3121 s": so exact that two columns are told apart. To a buffer of SHOW_NUMBER bytes. */
const char *timeline_time(const struct timeline *timeline, char *to, uint64_t t);

/* Where nothing but ASCII is wanted, each other character becomes a '?', in place. */
void timeline_ascii(const struct timeline *timeline, char *text);

/* timeline_chart.c, timeline_phases.c: 0 or -errno with err_text(). */
int timeline_chart(const struct timeline *timeline, const struct trace_curve *curve);
int timeline_phases(const struct timeline *timeline);

#endif
