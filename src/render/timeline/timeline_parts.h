/* Shared by the parts of the timeline: the stretch of time, and lines of cells. */
#pragma once

#include <stdint.h>

#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/timeline/timeline.h"

struct trace_curve;

/* The picture in a cell, drawn in UTF-8 or in ASCII. The eighths follow each other. */
enum timeline_glyph {
	GLYPH_BLANK,
	GLYPH_EIGHTH, /* the first of seven */
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
	GLYPH_MANY,  /* several phases in one column */
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
	uint64_t from, to;     /* ns; both bounds belong to it */
	unsigned columns;      /* of the plot */
	struct emit_rows ooms; /* struct timeline_oom */
};

enum { TIMELINE_LEFT = 12 }; /* columns before the plot: a size and the axis */

/* One column of a line. */
struct timeline_cell {
	enum timeline_glyph glyph;
	const char *name; /* a text that begins here instead of glyphs, NULL for none */
	unsigned room;    /* columns that the text may take */
};

/* Blank cells for the whole width, in the trace's arena. NULL without memory. */
struct timeline_cell *timeline_cells(const struct timeline *timeline);

/* Writes a line: label and axis (unless NULL), then the cells up to the last used. */
void timeline_line(const struct timeline *timeline, const char *label, enum timeline_glyph axis,
		   const struct timeline_cell *cells);

/* The column of a time inside the stretch. */
unsigned timeline_column(const struct timeline *timeline, uint64_t t);

/* Writes "2.3121 s", precise enough to tell columns apart, to SHOW_NUMBER bytes. */
const char *timeline_time(const struct timeline *timeline, char *to, uint64_t t);

/* Replaces each character that is not ASCII by '?', in place, if the options ask for ASCII. */
void timeline_ascii(const struct timeline *timeline, char *text);

/* Write a curve, and the phases. 0 or -errno with err_text(). */
int timeline_chart(const struct timeline *timeline, const struct trace_curve *curve);
int timeline_phases(const struct timeline *timeline);
