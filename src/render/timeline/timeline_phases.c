/*
 * The phases below the curves: bars over the same columns, inner ones below those around them.
 *
 * A bar takes the first line that is free when it begins, so one that nests comes below the one it
 * is in, and those that only overlap lie beside each other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/text.h"
#include "render/emit/term.h"
#include "render/selection/phase_groups.h"
#include "render/timeline/timeline_parts.h"

enum {
	LINES = 8,
	FIGURES = 6, /* names whose figures are told */
	NAME = 20,   /* columns of a name there */
	NARROW = 66, /* columns of a plot below which figures have no room */
};

struct phase_line {
	uint64_t end;       /* of the last bar on it */
	uint8_t *cells;     /* enum timeline_glyph */
	const char **names; /* by column: the name that begins there, NULL for none */
	unsigned *room;     /* by column: how much of it fits */
};

static uint64_t end_of(const struct trace_phase *phase)
{
	return phase->end == TRACE_NONE ? UINT64_MAX : phase->end;
}

static int by_start(const void *a, const void *b)
{
	const struct trace_phase *x = *(const struct trace_phase *const *)a;
	const struct trace_phase *y = *(const struct trace_phase *const *)b;

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
	if (line->cells[first] != GLYPH_BLANK) {
		line->cells[first++] = GLYPH_MANY;
		if (first > last)
			return;
	}
	if (first == last) {
		line->cells[first] = GLYPH_SHORT;
		return;
	}
	memset(line->cells + first, GLYPH_LINE, last - first);
	line->cells[first] = GLYPH_BEGIN;
	line->cells[last] = GLYPH_END;
	line->names[first + 1] = phase->name && phase->name[0] ? phase->name : "?";
	line->room[first + 1] = last - first - 1;
}

static void put_line(const struct timeline *timeline, const struct phase_line *line)
{
	unsigned end = timeline->columns;
	char text[TIMELINE_WIDEST * 4 + 4];

	while (end && line->cells[end - 1] == GLYPH_BLANK)
		end--;
	out_format(timeline->show.out, "%*s", TIMELINE_LEFT, "");
	for (unsigned i = 0; i < end; i++) {
		unsigned room = line->names[i] ? line->room[i] : 0;

		/* Two letters and "..." would say nothing. */
		if (room < 5 && (!room || show_columns(line->names[i]) > room)) {
			timeline_glyph(timeline, (enum timeline_glyph)line->cells[i]);
			continue;
		}
		show_safe(text, sizeof(text), line->names[i], room);
		timeline_ascii(timeline, text);
		out_text(timeline->show.out, text);
		i += show_columns(text) - 1;
	}
	out_char(timeline->show.out, '\n');
}

/* Bars on lines; gives how many found none that was free. */
static size_t draw_all(const struct timeline *timeline, struct phase_line *lines,
		       const struct trace_phase **sorted, size_t count)
{
	size_t left = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned line = 0;

		while (line < LINES && lines[line].end > sorted[i]->start)
			line++;
		if (line < LINES)
			draw_phase(timeline, &lines[line], sorted[i]);
		else
			left++;
	}
	return left;
}

static size_t take_phases(const struct timeline *timeline, const struct trace_phase **sorted)
{
	const struct trace *trace = timeline->trace;
	size_t count = 0;

	for (size_t i = 0; i < trace->phases_n; i++) {
		if (trace->phases[i].start <= timeline->to &&
		    end_of(&trace->phases[i]) >= timeline->from)
			sorted[count++] = &trace->phases[i];
	}
	qsort(sorted, count, sizeof(const struct trace_phase *), by_start);
	return count;
}

static void put_lines(const struct timeline *timeline, const struct phase_line *lines, size_t left)
{
	show_heading(&timeline->show, "Phases");
	for (unsigned i = 0; i < LINES && lines[i].end; i++)
		put_line(timeline, &lines[i]);
	if (left)
		out_format(timeline->show.out, "%*s... and %s more inside these\n", TIMELINE_LEFT,
			   "", SAY_COUNT(left));
}

static bool make_lines(const struct timeline *timeline, struct phase_line *lines)
{
	bool made = true;

	for (unsigned i = 0; i < LINES; i++) {
		/* GLYPH_BLANK is 0. */
		lines[i].cells = calloc(timeline->columns, sizeof(*lines[i].cells));
		lines[i].names = calloc(timeline->columns, sizeof(const char *));
		lines[i].room = calloc(timeline->columns, sizeof(*lines[i].room));
		made = made && lines[i].cells && lines[i].names && lines[i].room;
	}
	return made;
}

static void put_figure(const struct timeline *timeline, const struct phase_group *group)
{
	uint64_t growth = group->growth < 0 ? 0 - (uint64_t)group->growth : (uint64_t)group->growth;
	char text[NAME * 4 + 4];
	char name[PHASE_GROUPS_NAME];
	char grown[SHOW_NUMBER + 1];
	unsigned width;

	show_safe(text, sizeof(text), phase_group_title(group, name, sizeof(name)), NAME);
	timeline_ascii(timeline, text);
	width = show_columns(text);
	out_format(timeline->show.out, "%*s%s%*s %6s x", TIMELINE_LEFT, "", text,
		   (int)(width < NAME ? NAME - width : 0), "", SAY_COUNT(group->count));
	out_format(timeline->show.out, "  peak %10s", SAY_BYTES(group->peak_bytes));
	text_join(grown, sizeof(grown),
		  group->growth < 0 ? "-"
		  : growth          ? "+"
				    : "",
		  SAY_BYTES(growth));
	out_format(timeline->show.out, "  growth %11s\n", grown);
}

/* Of the phases that are shown, by name: those that reached highest. */
static int put_figures(const struct timeline *timeline, const struct trace_phase **sorted,
		       size_t count)
{
	struct trace_phase *shown = calloc(count, sizeof(*shown));
	struct phase_groups groups = { .list = NULL };
	int error;

	if (!shown)
		return err_no_memory(timeline->trace->path);
	for (size_t i = 0; i < count; i++)
		shown[i] = *sorted[i];
	error = phase_groups_find(&groups, shown, count);
	if (!error)
		show_heading(&timeline->show, "By name, the highest first");
	for (size_t i = 0; !error && i < groups.count && i < FIGURES; i++)
		put_figure(timeline, &groups.list[i]);
	if (!error && groups.count > FIGURES)
		out_format(timeline->show.out,
			   "%*s... and %s more (memtrace report --show phases)\n", TIMELINE_LEFT,
			   "", SAY_COUNT(groups.count - FIGURES));
	phase_groups_clear(&groups);
	free(shown);
	return error;
}

int timeline_phases(const struct timeline *timeline)
{
	const struct trace_phase **sorted =
		calloc(timeline->trace->phases_n + 1, sizeof(const struct trace_phase *));
	struct phase_line lines[LINES] = { { 0 } };
	bool made = make_lines(timeline, lines);
	size_t count = 0;
	int error = 0;

	if (!sorted || !made) {
		error = err_no_memory(timeline->trace->path);
	} else {
		count = take_phases(timeline, sorted);
		if (count)
			put_lines(timeline, lines, draw_all(timeline, lines, sorted, count));
		if (count && timeline->columns >= NARROW)
			error = put_figures(timeline, sorted, count);
	}
	for (unsigned i = 0; i < LINES; i++) {
		free(lines[i].cells);
		free(lines[i].names);
		free(lines[i].room);
	}
	free(sorted);
	return error;
}
