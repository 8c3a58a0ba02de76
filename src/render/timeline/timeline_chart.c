/* One curve of the timeline, as a chart of cells. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/utf8.h"
#include "render/emit/term.h"
#include "render/timeline/timeline_parts.h"

enum { EIGHTHS = 8 };

struct chart_column {
	uint64_t allocated, reserved; /* the highest inside the column */
	bool oom;
};

struct height {
	uint64_t bytes, t;
};

struct chart {
	const struct timeline *timeline;
	const struct trace_curve *curve;
	struct chart_column *columns;
	struct height allocated, reserved; /* the highest in the stretch */
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

/* A point's values hold until the next point: in its own column and in those up to there. */
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
		/* The column of the next point begins with these values: they end inside it. */
		for (unsigned c = timeline_column(timeline, from);
		     c <= timeline_column(timeline, to); c++)
			fill_column(chart, c, curve->allocated[i], curve->reserved[i]);
	}
	for (size_t i = 0; i < timeline->ooms_n; i++) {
		const struct timeline_oom *oom = &timeline->ooms[i];

		if (oom->device == curve->device && oom->t >= timeline->from &&
		    oom->t <= timeline->to)
			chart->columns[timeline_column(timeline, oom->t)].oom = true;
	}
}

/* --- words --- */

static void put_title(const struct chart *chart)
{
	const struct timeline *timeline = chart->timeline;
	const struct trace_curve *curve = chart->curve;
	const struct trace_device *device = trace_device(timeline->trace, curve->device);
	char size[SHOW_NUMBER];
	char at[SHOW_NUMBER];
	char text[600];
	size_t used;

	if (curve->pool)
		snprintf(text, sizeof(text), "Pool %.200s on device %d", curve->pool,
			 curve->device);
	else
		snprintf(text, sizeof(text), "Device %d%s%.200s", curve->device,
			 device && device->name ? ": " : "",
			 device && device->name ? device->name : "");
	utf8_clean(text);
	timeline_ascii(timeline, text);
	show_heading(&timeline->show, text);
	used = (size_t)snprintf(text, sizeof(text), "at most %s allocated, at %s",
				show_bytes(size, chart->allocated.bytes),
				timeline_time(timeline, at, chart->allocated.t));
	out_text(timeline->show.out, text);
	used += (size_t)snprintf(text, sizeof(text), "%s reserved, at %s\n",
				 show_bytes(size, chart->reserved.bytes),
				 timeline_time(timeline, at, chart->reserved.t));
	out_text(timeline->show.out, used > timeline->options->width ? "\n" : "; ");
	out_text(timeline->show.out, text);
}

static void put_label(const struct chart *chart, const char *text, enum timeline_glyph axis)
{
	show_right(&chart->timeline->show, text, TIMELINE_LEFT - 2);
	out_char(chart->timeline->show.out, ' ');
	timeline_glyph(chart->timeline, axis);
}

/* Cells up to the last that is not blank: no line ends in blanks. */
static void put_cells(const struct timeline *timeline, const uint8_t *cells)
{
	unsigned end = timeline->columns;

	while (end && cells[end - 1] == GLYPH_BLANK)
		end--;
	for (unsigned i = 0; i < end; i++)
		timeline_glyph(timeline, (enum timeline_glyph)cells[i]);
	out_char(timeline->show.out, '\n');
}

/* --- cells --- */

static void put_marks(const struct chart *chart, uint8_t *cells)
{
	const struct timeline *timeline = chart->timeline;

	memset(cells, GLYPH_BLANK, timeline->columns);
	if (chart->allocated.bytes)
		cells[timeline_column(timeline, chart->allocated.t)] = GLYPH_PEAK;
	for (unsigned i = 0; i < timeline->columns; i++) {
		if (chart->columns[i].oom)
			cells[i] = GLYPH_OOM;
	}
	out_format(timeline->show.out, "%*s", TIMELINE_LEFT, "");
	put_cells(timeline, cells);
}

/* How many eighths of a row's height the value fills; what is there at all is seen. */
static unsigned eighths(const struct chart *chart, uint64_t value)
{
	uint64_t top = chart->reserved.bytes > chart->allocated.bytes ? chart->reserved.bytes
								      : chart->allocated.bytes;
	unsigned whole = chart->rows * EIGHTHS;
	unsigned part = top ? (unsigned)((unsigned __int128)value * whole / top) : 0;

	return value && !part ? 1 : part;
}

static void put_row(const struct chart *chart, unsigned row, uint8_t *cells)
{
	const struct timeline *timeline = chart->timeline;
	unsigned below = (chart->rows - 1 - row) * EIGHTHS;

	for (unsigned i = 0; i < timeline->columns; i++) {
		unsigned allocated = eighths(chart, chart->columns[i].allocated);
		unsigned reserved = eighths(chart, chart->columns[i].reserved);

		if (allocated >= below + EIGHTHS)
			cells[i] = GLYPH_FULL;
		else if (allocated > below)
			cells[i] = (uint8_t)(GLYPH_EIGHTH + (allocated - below) - 1);
		else if (reserved >= below + EIGHTHS / 2)
			cells[i] = GLYPH_CACHED;
		else
			cells[i] = GLYPH_BLANK;
	}
	put_cells(timeline, cells);
}

static void put_rows(const struct chart *chart, uint8_t *cells)
{
	uint64_t top = chart->reserved.bytes > chart->allocated.bytes ? chart->reserved.bytes
								      : chart->allocated.bytes;

	for (unsigned row = 0; row < chart->rows; row++) {
		bool half = chart->rows % 2 == 0 && chart->rows >= 6 && row == chart->rows / 2;

		if (row == 0)
			put_label(chart, SAY_BYTES(top), GLYPH_TICK);
		else if (half)
			put_label(chart, SAY_BYTES(top / 2), GLYPH_TICK);
		else
			put_label(chart, "", GLYPH_AXIS);
		put_row(chart, row, cells);
	}
}

static void put_axis(const struct chart *chart)
{
	const struct timeline *timeline = chart->timeline;
	char from[SHOW_NUMBER];
	char to[SHOW_NUMBER];
	unsigned used;

	put_label(chart, "0 B", GLYPH_CORNER);
	for (unsigned i = 0; i < timeline->columns; i++)
		timeline_glyph(timeline, GLYPH_LINE);
	used = (unsigned)strlen(timeline_time(timeline, from, timeline->from));
	out_format(timeline->show.out, "\n%*s%s%*s\n", TIMELINE_LEFT, "", from,
		   (int)(timeline->columns - used), timeline_time(timeline, to, timeline->to));
}

int timeline_chart(const struct timeline *timeline, const struct trace_curve *curve)
{
	struct chart chart = {
		.timeline = timeline,
		.curve = curve,
		.columns = calloc(timeline->columns, sizeof(*chart.columns)),
		.rows = curve->pool && !timeline->options->pool
				? (timeline->options->height + 1) / 2
				: timeline->options->height,
	};
	uint8_t *cells = calloc(timeline->columns, sizeof(*cells));
	int error = 0;

	if (chart.columns && cells) {
		fill_columns(&chart);
		put_title(&chart);
		put_marks(&chart, cells);
		put_rows(&chart, cells);
		put_axis(&chart);
	} else {
		error = err_no_memory(timeline->trace->path);
	}
	free(chart.columns);
	free(cells);
	return error;
}
