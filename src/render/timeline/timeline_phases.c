/*
 * Draws the phases below the curves, as bars over the same columns.
 *
 * A bar is on the first line that is free when its phase begins. So a phase inside another is drawn
 * below that one, and phases that overlap in part are on separate lines.
 */
#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "render/selection/phase_groups.h"
#include "render/timeline/timeline_parts.h"

enum {
	LINES = 8,   /* maximum number of lines of bars */
	FIGURES = 6, /* maximum number of rows of the table of phases */
	NAME = 34,   /* columns of a name in that table */
	NARROW = 66, /* the table is written only if the plot has at least this many columns */
};

struct phase_line {
	uint64_t end; /* end of the line's last bar, in ns */
	struct timeline_cell *cells;
};

static void draw_phase(const struct timeline *timeline, struct phase_line *line,
		       const struct trace_phase *phase)
{
	uint64_t from = phase->start > timeline->from ? phase->start : timeline->from;
	uint64_t to = phase->end < timeline->to ? phase->end : timeline->to;
	unsigned first = timeline_column(timeline, from);
	unsigned last = timeline_column(timeline, to);

	line->end = phase->end;
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

/* Draws the bars of phases. Returns the number of phases for which no line was free. */
static size_t draw_all(const struct timeline *timeline, struct phase_line *lines,
		       const struct trace_phase *sorted, size_t count)
{
	size_t left = 0;

	foreach (row, sorted, count) {
		unsigned line = 0;

		while (line < LINES && lines[line].end > row->start)
			line++;
		if (line < LINES)
			draw_phase(timeline, &lines[line], row);
		else
			left++;
	}
	return left;
}

/* Copies the phases in the time shown, sorted by start; of phases that begin together, the one that
 * ends last is first. A phase that never ended has the end TRACE_NONE, the highest number. */
static size_t take_phases(const struct timeline *timeline, struct trace_phase *sorted)
{
	static const struct sort_key by_start[] = {
		SORT_UP(struct trace_phase, start),
		SORT_DOWN(struct trace_phase, end),
		{ 0 },
	};
	const struct trace *trace = timeline->trace;
	size_t count = 0;

	foreach (phase, trace->phases) {
		if (phase->start <= timeline->to && phase->end >= timeline->from)
			sorted[count++] = *phase;
	}
	sort_rows(sorted, count, sizeof(*sorted), by_start);
	return count;
}

static void put_lines(const struct timeline *timeline, const struct trace_phase *sorted,
		      size_t count)
{
	struct phase_line lines[LINES] = { { 0 } };
	size_t left;

	foreach (line, lines, LINES)
		line->cells = timeline_cells(timeline);
	left = draw_all(timeline, lines, sorted, count);
	show_heading(&timeline->show, "Phases");
	for (unsigned i = 0; i < LINES && lines[i].end; i++)
		timeline_line(timeline, NULL, GLYPH_BLANK, lines[i].cells);
	emit_more(&timeline->show, TIMELINE_LEFT, left, "more phases inside those shown");
}

struct figures_row {
	const char *name;
	uint64_t count, peak;
	int64_t growth;
};

static const struct emit_column figures_cells[] = {
	EMIT_CELL("phase", -NAME, TEXT, struct figures_row, name),
	EMIT_CELL("times", 8, COUNT, struct figures_row, count),
	EMIT_CELL("peak", 13, BYTES, struct figures_row, peak),
	EMIT_CELL("growth", 13, CHANGE, struct figures_row, growth),
	EMIT_END,
};

static void add_figures(const struct timeline *timeline, const struct phase_group *group,
			struct emit_rows *rows)
{
	char title[PHASE_GROUPS_NAME];
	char name[2 * PHASE_GROUPS_NAME];
	struct arena *arena = &timeline->trace->arena;

	show_safe(name, sizeof(name), phase_group_title(group, title, sizeof(title)), sizeof(name));
	timeline_ascii(timeline, name);
	emit_add(arena, rows,
		 &(struct figures_row){ show_kept(arena, "%s", name), group->count,
					group->values.peak_bytes, group->values.growth });
}

/* Writes a table of the phases shown, grouped by name: the groups with the highest peaks. */
static void put_figures(const struct timeline *timeline, const struct trace_phase *sorted,
			size_t count)
{
	struct emit_rows rows = EMIT_NONE_OF(struct figures_row, FIGURES);
	const struct emit_rows groups = phase_groups_find(timeline->trace, sorted, count);

	foreach (group, ROWS_IN(const struct phase_group, groups))
		add_figures(timeline, group, &rows);
	emit_table(&timeline->show,
		   &(struct emit_table){ .columns = figures_cells,
					 .rows = &rows,
					 .heading = "By name, highest peak first",
					 .indent = TIMELINE_LEFT,
					 .more = "more (memtrace report --show phases)" });
}

void timeline_phases(const struct timeline *timeline)
{
	struct trace *trace = timeline->trace;
	struct trace_phase *sorted = NEED_ROOM(&trace->arena, sorted, trace->phases_n);
	size_t count = take_phases(timeline, sorted);

	if (count)
		put_lines(timeline, sorted, count);
	if (count && timeline->columns >= NARROW)
		put_figures(timeline, sorted, count);
}
