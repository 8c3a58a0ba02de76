/* Draws one curve of the timeline, a chart of allocated and reserved bytes. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "base/text/utf8.h"
#include "render/emit/term.h"
#include "render/timeline/timeline_parts.h"

enum { EIGHTHS = 8 };

struct chart_column {
	uint64_t allocated, reserved; /* the highest values in the column's time */
	bool oom;
};

struct height {
	uint64_t bytes, t;
};

struct chart {
	const struct timeline *timeline;
	const struct trace_curve *curve;
	struct chart_column *columns;
	struct height allocated, reserved; /* the highest values in the time shown */
	uint64_t top;                      /* bytes at the top of the chart */
	unsigned rows;
};

static void raise_height(struct height *height, uint64_t bytes, uint64_t t)
{
	if (bytes == TRACE_NONE || (bytes <= height->bytes && height->bytes))
		return;
	*height = (struct height){ bytes, t };
}

static void fill_column(struct chart *chart, unsigned column, uint64_t allocated, uint64_t reserved)
{
	struct chart_column *to = &chart->columns[column];

	if (allocated != TRACE_NONE && allocated > to->allocated)
		to->allocated = allocated;
	if (reserved != TRACE_NONE && reserved > to->reserved)
		to->reserved = reserved;
}

/* Fills the columns. A point's values hold until the next point. */
static void fill_columns(struct chart *chart)
{
	const struct timeline *timeline = chart->timeline;
	const struct trace_curve *curve = chart->curve;

	for (size_t i = 0; i < curve->t_n; i++) {
		uint64_t from = curve->t[i] > timeline->from ? curve->t[i] : timeline->from;
		uint64_t to = i + 1 < curve->t_n ? curve->t[i + 1] : timeline->to;

		if (curve->t[i] > timeline->to || to < timeline->from ||
		    (to == timeline->from && i + 1 < curve->t_n && curve->t[i] < to))
			continue;
		to = to < timeline->to ? to : timeline->to;
		to = to > from ? to : from;
		raise_height(&chart->allocated, curve->allocated[i], from);
		raise_height(&chart->reserved, curve->reserved[i], from);
		/* Includes the next point's column, at whose beginning these values still hold. */
		for (unsigned c = timeline_column(timeline, from);
		     c <= timeline_column(timeline, to); c++)
			fill_column(chart, c, curve->allocated[i], curve->reserved[i]);
	}
	chart->top = chart->reserved.bytes > chart->allocated.bytes ? chart->reserved.bytes
								    : chart->allocated.bytes;
	foreach (oom, ROWS_IN(const struct timeline_oom, timeline->ooms)) {
		if (oom->device == curve->device && oom->t >= timeline->from &&
		    oom->t <= timeline->to)
			chart->columns[timeline_column(timeline, oom->t)].oom = true;
	}
}

static void put_title(const struct chart *chart)
{
	const struct timeline *timeline = chart->timeline;
	const struct trace_curve *curve = chart->curve;
	const struct trace_device *device = trace_device(timeline->trace, curve->device);
	bool named = device && device->name;
	char at[SHOW_NUMBER];
	char text[600];
	char reserved[100];

	if (curve->pool)
		snprintf(text, sizeof(text), "Pool %.200s on device %d", curve->pool,
			 curve->device);
	else
		snprintf(text, sizeof(text), "Device %d%s%.200s", curve->device, named ? ": " : "",
			 named ? device->name : "");
	utf8_clean(text);
	timeline_ascii(timeline, text);
	show_heading(&timeline->show, text);
	snprintf(text, sizeof(text), "peak: %s allocated, at %s", SAY_BYTES(chart->allocated.bytes),
		 timeline_time(timeline, at, chart->allocated.t));
	snprintf(reserved, sizeof(reserved), "%s reserved, at %s", SAY_BYTES(chart->reserved.bytes),
		 timeline_time(timeline, at, chart->reserved.t));
	out_format(timeline->show.out, "%s%s%s\n", text,
		   strlen(text) + strlen(reserved) < timeline->options->width ? "; " : "\n",
		   reserved);
}

static void put_marks(const struct chart *chart, struct timeline_cell *cells)
{
	const struct timeline *timeline = chart->timeline;

	if (chart->allocated.bytes)
		cells[timeline_column(timeline, chart->allocated.t)].glyph = GLYPH_PEAK;
	for (unsigned i = 0; i < timeline->columns; i++) {
		if (chart->columns[i].oom)
			cells[i].glyph = GLYPH_OOM;
	}
	timeline_line(timeline, NULL, GLYPH_BLANK, cells);
}

/* Returns the height of a value in eighths of a row, at least 1 if the value is not 0. */
static unsigned eighths(const struct chart *chart, uint64_t value)
{
	unsigned whole = chart->rows * EIGHTHS;
	unsigned part = chart->top ? (unsigned)((unsigned __int128)value * whole / chart->top) : 0;

	return value && !part ? 1 : part;
}

static void fill_row(const struct chart *chart, unsigned row, struct timeline_cell *cells)
{
	unsigned below = (chart->rows - 1 - row) * EIGHTHS;

	for (unsigned i = 0; i < chart->timeline->columns; i++) {
		unsigned allocated = eighths(chart, chart->columns[i].allocated);
		unsigned reserved = eighths(chart, chart->columns[i].reserved);

		if (allocated >= below + EIGHTHS)
			cells[i].glyph = GLYPH_FULL;
		else if (allocated > below)
			cells[i].glyph = GLYPH_EIGHTH + (allocated - below) - 1;
		else if (reserved >= below + EIGHTHS / 2)
			cells[i].glyph = GLYPH_CACHED;
		else
			cells[i].glyph = GLYPH_BLANK;
	}
}

static void put_rows(const struct chart *chart, struct timeline_cell *cells)
{
	for (unsigned row = 0; row < chart->rows; row++) {
		bool half = chart->rows % 2 == 0 && chart->rows >= 6 && row == chart->rows / 2;

		fill_row(chart, row, cells);
		timeline_line(chart->timeline,
			      !row   ? SAY_BYTES(chart->top)
			      : half ? SAY_BYTES(chart->top / 2)
				     : "",
			      !row || half ? GLYPH_TICK : GLYPH_AXIS, cells);
	}
}

static void put_axis(const struct chart *chart, struct timeline_cell *cells)
{
	const struct timeline *timeline = chart->timeline;
	char from[SHOW_NUMBER];
	char to[SHOW_NUMBER];

	foreach (cell, cells, timeline->columns)
		cell->glyph = GLYPH_LINE;
	timeline_line(timeline, "0 B", GLYPH_CORNER, cells);
	timeline_time(timeline, from, timeline->from);
	out_format(timeline->show.out, "%*s%s%*s\n", TIMELINE_LEFT, "", from,
		   (int)(timeline->columns - strlen(from)),
		   timeline_time(timeline, to, timeline->to));
}

static void begin_chart(struct chart *chart)
{
	const struct timeline *timeline = chart->timeline;

	chart->columns = need(&timeline->trace->arena, timeline->columns * sizeof(*chart->columns));
	fill_columns(chart);
}

void timeline_chart(const struct timeline *timeline, const struct trace_curve *curve)
{
	struct timeline_cell *cells = timeline_cells(timeline);
	struct chart chart = {
		.timeline = timeline,
		.curve = curve,
		.rows = curve->pool && !timeline->options->pool
				? (timeline->options->height + 1) / 2
				: timeline->options->height,
	};

	begin_chart(&chart);
	put_title(&chart);
	put_marks(&chart, cells);
	put_rows(&chart, cells);
	put_axis(&chart, cells);
}

void timeline_bare_chart(const struct timeline *timeline, const struct trace_curve *curve,
			 const char *name, uint64_t top)
{
	struct timeline_cell *cells = timeline_cells(timeline);
	struct chart chart = { .timeline = timeline,
			       .curve = curve,
			       .rows = timeline->options->height };

	begin_chart(&chart);
	chart.top = top;
	for (unsigned row = 0; row < chart.rows; row++) {
		fill_row(&chart, row, cells);
		timeline_line(timeline,
			      row == 0   ? name
			      : row == 1 ? SAY_BYTES(chart.allocated.bytes)
					 : "",
			      GLYPH_AXIS, cells);
	}
}
