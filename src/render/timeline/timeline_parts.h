/* Shared by the files of the timeline: the time shown, and lines made of cells. */
#pragma once

#include <stdint.h>

#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/timeline/timeline.h"

struct trace_curve;

enum timeline_glyph {
	GLYPH_BLANK,
	GLYPH_EIGHTH, /* a bar of 1/8 of the height; bars of 2/8 to 7/8 follow */
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
	GLYPH_SHORT, /* a phase that takes one column */
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
	uint64_t from, to;     /* the time shown in ns, both ends included */
	unsigned columns;      /* columns of the plot, without the axis */
	struct emit_rows ooms; /* failed allocations: struct timeline_oom */
};

enum { TIMELINE_LEFT = 12 }; /* columns left of the plot, for sizes and the axis */

/* A column of a line: a glyph, or the beginning of a text. */
struct timeline_cell {
	enum timeline_glyph glyph;
	const char *name; /* text that begins here in place of glyphs, or NULL */
	unsigned room;    /* maximum number of columns of the text */
};

/* Returns a line of blank cells in memory of the trace's arena. */
struct timeline_cell *timeline_cells(const struct timeline *timeline);

/* Writes a line: label and axis (blank if `label` is NULL), then the cells up to the last used. */
void timeline_line(const struct timeline *timeline, const char *label, enum timeline_glyph axis,
		   const struct timeline_cell *cells);

/* Returns the column for a time, which must be between timeline->from and timeline->to. */
unsigned timeline_column(const struct timeline *timeline, uint64_t t);

/* Writes "2.3121 s" to `to` (SHOW_NUMBER bytes), with enough decimals to distinguish columns. */
const char *timeline_time(const struct timeline *timeline, char *to, uint64_t t);

/* If options->ascii is set, replaces each character that is not ASCII by '?', in place. */
void timeline_ascii(const struct timeline *timeline, char *text);

/* Draw a curve with heading and axes, a curve for timeline_sketch(), and all phases. */
void timeline_chart(const struct timeline *timeline, const struct trace_curve *curve);
void timeline_bare_chart(const struct timeline *timeline, const struct trace_curve *curve,
			 const char *name, uint64_t top);
void timeline_phases(const struct timeline *timeline);
