/*
 * The phases below the curves: bars over the same columns.
 *
 * A bar takes the first line that is free when it begins: a phase inside another lies below it, and
 * phases that only overlap lie on separate lines.
 */
#include <stdlib.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "render/selection/phase_groups.h"
#include "render/timeline/timeline_parts.h"

enum {
	LINES = 8,
	FIGURES = 6, /* names whose figures are written */
	NAME = 20,   /* columns of a name there */
	NARROW = 66, /* columns of a plot below which figures have no room */
};

struct phase_line {
	uint64_t end; /* of the last bar on it */
	struct timeline_cell *cells;
};

static uint64_t end_of(const struct trace_phase *phase)
{
	return phase->end == TRACE_NONE ? UINT64_MAX : phase->end;
}

static int by_start(const void *a, const void *b)
{
	const struct trace_phase *x = a;
	const struct trace_phase *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return end_of(x) > end_of(y) ? -1 : end_of(x) < end_of(y);
}

static void draw_phase(const struct timeline *timeline, struct phase_line *line,
		       const struct trace_phase *phase)
{
	uint64_t from = phase->start > timeline->from ? phase->start : timeline->from;
	uint64_t to = end_of(phase) < timeline->to ? phase->end : timeline->to;
	unsigned first = timeline_column(timeline, from);
	unsigned last = timeline_column(timeline, to);

	line->end = end_of(phase);
	if (line->cells[first].glyph != GLYPH_BLANK) {
		line->cells[first++].glyph = GLYPH_MANY;
		if (first > last)
			return;
	}
	if (first == last) {
		line->cells[first].glyph = GLYPH_SHORT;
		return;
	}
	line->cells[first].glyph = GLYPH_BEGIN;
	for (unsigned i = first + 1; i < last; i++)
		line->cells[i].glyph = GLYPH_LINE;
	line->cells[last].glyph = GLYPH_END;
	line->cells[first + 1].name = phase->name && phase->name[0] ? phase->name : "?";
	line->cells[first + 1].room = last - first - 1;
}

/* Draws bars on the lines. Returns the number of phases for which no line was free. */
static size_t draw_all(const struct timeline *timeline, struct phase_line *lines,
		       const struct trace_phase *sorted, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned line = 0;

		while (line < LINES && lines[line].end > sorted[i].start)
			line++;
		if (line < LINES)
			draw_phase(timeline, &lines[line], &sorted[i]);
		else
			left++;
	}
	return left;
}

static size_t take_phases(const struct timeline *timeline, struct trace_phase *sorted)
{
	const struct trace *trace = timeline->trace;
	size_t count = 0;

	for (size_t i = 0; i < trace->phases_n; i++) {
		if (trace->phases[i].start <= timeline->to &&
		    end_of(&trace->phases[i]) >= timeline->from)
			sorted[count++] = trace->phases[i];
	}
	qsort(sorted, count, sizeof(*sorted), by_start);
	return count;
}

static int put_lines(const struct timeline *timeline, const struct trace_phase *sorted,
		     size_t count)
{
	struct phase_line lines[LINES] = { { 0 } };
	size_t left;

	for (unsigned i = 0; i < LINES; i++) {
		lines[i].cells = timeline_cells(timeline);
		if (!lines[i].cells)
			return err_no_memory(timeline->trace->path);
	}
	left = draw_all(timeline, lines, sorted, count);
	show_heading(&timeline->show, "Phases");
	for (unsigned i = 0; i < LINES && lines[i].end; i++)
		timeline_line(timeline, NULL, GLYPH_BLANK, lines[i].cells);
	if (left)
		out_format(timeline->show.out, "%*s... and %s more inside these\n", TIMELINE_LEFT,
			   "", SAY_COUNT(left));
	return 0;
}

static void put_figure(const struct timeline *timeline, const struct phase_group *group)
{
	char text[NAME * 4 + 4];
	char name[PHASE_GROUPS_NAME];
	unsigned width;

	show_safe(text, sizeof(text), phase_group_title(group, name, sizeof(name)), NAME);
	timeline_ascii(timeline, text);
	width = show_columns(text);
	out_format(timeline->show.out, "%*s%s%*s %6s x  peak %10s  growth %11s\n", TIMELINE_LEFT,
		   "", text, (int)(width < NAME ? NAME - width : 0), "", SAY_COUNT(group->count),
		   SAY_BYTES(group->peak_bytes), SAY_SIGNED(group->growth, true));
}

/* Figures of the phases shown, by name, for the names with the highest peaks. */
static int put_figures(const struct timeline *timeline, const struct trace_phase *sorted,
		       size_t count)
{
	struct emit_rows groups;
	int error = phase_groups_find(&groups, timeline->trace, sorted, count);

	if (error)
		return error;
	show_heading(&timeline->show, "By name, the highest first");
	for (size_t i = 0; i < groups.count && i < FIGURES; i++)
		put_figure(timeline, (const struct phase_group *)groups.rows + i);
	if (groups.count > FIGURES)
		out_format(timeline->show.out,
			   "%*s... and %s more (memtrace report --show phases)\n", TIMELINE_LEFT,
			   "", SAY_COUNT(groups.count - FIGURES));
	return 0;
}

int timeline_phases(const struct timeline *timeline)
{
	struct trace *trace = timeline->trace;
	struct trace_phase *sorted =
		arena_alloc(&trace->arena, (trace->phases_n + 1) * sizeof(*sorted));
	size_t count;
	int error;

	if (!sorted)
		return err_no_memory(trace->path);
	count = take_phases(timeline, sorted);
	error = count ? put_lines(timeline, sorted, count) : 0;
	if (!error && count && timeline->columns >= NARROW)
		error = put_figures(timeline, sorted, count);
	return error;
}
