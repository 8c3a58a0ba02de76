/* Writes rows as tables on a screen. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "render/emit/emit_parts.h"
#include "render/emit/term.h"
#include "render/values/values.h"

/* The form of a table's lines. */
struct layout {
	const struct show *show;
	const struct emit_column *columns;
	uint64_t shown; /* the columns that are written, as bits */
	unsigned indent;
	unsigned sixths;                 /* of a cut name that are its end */
	bool whole;                      /* names are not cut */
	const struct emit_column *names; /* the first left-aligned column of texts, NULL for none */
	unsigned width;                  /* its width, unless that differs from row to row */
};

/* A line being written. Blanks are written only before text, so that no line ends with them. */
struct emit_line {
	const struct show *show;
	unsigned column, blanks;
	bool heading; /* a line of headings, printed dim */
};

static void put_text(struct emit_line *line, const char *text, bool dim)
{
	if (!*text)
		return;
	for (; line->blanks; line->blanks--, line->column++)
		out_char(line->show->out, ' ');
	if (dim || line->heading)
		show_dim(line->show, text);
	else
		out_text(line->show->out, text);
	line->column += show_columns(text);
}

static unsigned width_of(const struct emit_column *column)
{
	return (unsigned)(column->width < 0 ? -column->width : column->width);
}

/* Writes a right-aligned cell: blanks, then the text. */
static void put_right(struct emit_line *line, const struct emit_column *column, const char *text)
{
	unsigned columns = show_columns(text);
	unsigned width = width_of(column);

	if (columns < width)
		line->blanks += width - columns;
	else if (!column->gap && line->column)
		line->blanks++; /* a blank if the cell is full, so that cells do not touch */
	put_text(line, text, column->flags & EMIT_DIM);
}

/* The text of a cell, or of the heading if the row is NULL. */
static const char *text_of(char *to, const struct emit_column *column, const void *row)
{
	return row ? emit_cell(to, column, row) : column->heading;
}

/* The width that a row's cells take in these columns. */
static unsigned width_from(const struct emit_column *column, uint64_t shown, const void *row)
{
	char text[EMIT_CELL_MOST];
	unsigned sum = 0;

	for (; column->kind; column++, shown >>= 1) {
		unsigned columns, least = width_of(column);

		if (!(shown & 1))
			continue;
		columns = show_columns(text_of(text, column, row));
		if (columns < least)
			columns = least;
		else if (least && !column->gap && sum)
			columns++;
		sum += columns ? columns + column->gap : 0;
	}
	return sum;
}

static unsigned line_of(const struct layout *layout)
{
	return layout->show->columns ? layout->show->columns : SHOW_COLUMNS;
}

/* The width of a left-aligned cell: its column's, or what the other cells leave of the line. */
static unsigned room_of(const struct layout *layout, const struct emit_column *column,
			unsigned others)
{
	if (column->width)
		return column == layout->names ? layout->width : width_of(column);
	return others < line_of(layout) ? line_of(layout) - others : 0;
}

static void put_left(struct emit_line *line, const struct layout *layout,
		     const struct emit_column *column, const char *text, unsigned room)
{
	bool whole = layout->whole || column->flags & EMIT_WHOLE;
	char safe[4 * EMIT_CELL_MOST];
	unsigned columns;

	show_cut(safe, sizeof(safe), text, whole ? sizeof(safe) : room, layout->sixths);
	columns = show_columns(safe);
	put_text(line, safe, column->flags & EMIT_DIM);
	line->blanks += columns < room ? room - columns : 0;
}

static void put_cells(const struct layout *layout, const void *row)
{
	const struct show *show = layout->show;
	struct emit_line line = { .show = show, .blanks = layout->indent, .heading = !row };
	uint64_t shown = layout->shown;

	if (show->prefix)
		out_text(show->out, show->prefix);
	for (const struct emit_column *column = layout->columns; column->kind;
	     column++, shown >>= 1) {
		char to[EMIT_CELL_MOST];
		const char *text;
		unsigned others;

		if (!(shown & 1))
			continue;
		text = text_of(to, column, row);
		line.blanks += column->gap;
		others = line.column + line.blanks + width_from(column + 1, shown >> 1, row);
		if (column->width > 0)
			put_right(&line, column, text);
		else
			put_left(&line, layout, column, text, room_of(layout, column, others));
	}
	out_char(show->out, '\n');
}

static struct layout layout_of(const struct show *show, const struct emit_column *columns,
			       const struct emit_rows *rows, unsigned indent)
{
	uint64_t shown = emit_shown_columns(columns, rows);
	const struct emit_column *names = columns;

	while (names->kind && (names->width > 0 || !(shown >> (names - columns) & 1) ||
			       (names->kind != EMIT_TEXT && names->kind != EMIT_CODE)))
		names++;
	return (struct layout){
		.show = show,
		.columns = columns,
		.shown = shown,
		.indent = indent,
		.sixths = SHOW_MIDDLE,
		.whole = show->whole,
		.names = names->kind ? names : NULL,
		.width = width_of(names),
	};
}

void emit_row(const struct show *show, const struct emit_column *columns, const void *row,
	      unsigned indent)
{
	const struct emit_rows one = { row, row ? 1 : 0, 1, 0 };
	const struct layout layout = layout_of(show, columns, &one, indent);

	put_cells(&layout, row);
}

/* --- names that are told apart --- */

/* The width that a line has beside its name. */
static unsigned others_of(const struct layout *layout, const void *row)
{
	uint64_t others = layout->shown & ~(1ull << (layout->names - layout->columns));

	return layout->indent + layout->names->gap + width_from(layout->columns, others, row);
}

static unsigned most_of(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* True if the row would look like an earlier one whose name is another; `known` has these. */
static bool is_alike(const struct layout *layout, struct map *known, const struct emit_rows *rows,
		     size_t i)
{
	char cut[4 * EMIT_CELL_MOST], to[EMIT_CELL_MOST], other[EMIT_CELL_MOST];
	const char *name = text_of(to, layout->names, emit_row_at(rows, i));
	unsigned used = others_of(layout, emit_row_at(rows, i));
	size_t length = show_cut(cut, sizeof(cut), name, room_of(layout, layout->names, used),
				 layout->sixths);
	uint64_t key = hash_bytes(cut, length);
	uint32_t same = map_get(known, key);

	NEED(map_put(known, key, (uint32_t)i + 1));
	return same &&
	       strcmp(name, text_of(other, layout->names, emit_row_at(rows, same - 1))) != 0;
}

static bool any_alike(const struct layout *layout, const struct emit_rows *rows, size_t listed)
{
	struct map known = { NULL, 0 };
	bool alike = false;

	for (size_t i = 0; i < listed && !alike; i++)
		alike = is_alike(layout, &known, rows, i);
	map_clear(&known);
	return alike;
}

/* Makes a column of names as wide as the screen allows, and has names that must be cut cut where
 * they differ, if they do in one place. */
static void lay_out(struct layout *layout, const struct emit_rows *rows, size_t listed)
{
	static const unsigned char ends[] = { SHOW_MIDDLE, 4, 5, 2, 1, SHOW_MIDDLE };
	unsigned used = others_of(layout, NULL), width = width_of(layout->names), longest = width;

	for (size_t i = 0; width && i < listed; i++) {
		const char *row = emit_row_at(rows, i);
		char to[EMIT_CELL_MOST];

		longest = most_of(longest, show_columns(text_of(to, layout->names, row)));
		used = most_of(used, others_of(layout, row));
	}
	if (!layout->whole && longest + used > line_of(layout))
		longest = line_of(layout) > used ? line_of(layout) - used : 0;
	layout->width = most_of(width, longest);
	for (size_t i = 0; i < sizeof(ends) && !layout->whole; i++) {
		layout->sixths = ends[i];
		if (!any_alike(layout, rows, listed))
			return;
	}
}

/* Writes the rows, each unlike the others: a name that cannot be told apart when cut is not cut. */
static void put_rows(struct layout *layout, const struct emit_table *table, size_t listed)
{
	struct map known = { NULL, 0 };

	if (layout->names)
		lay_out(layout, table->rows, listed);
	if (!table->headless && table->rows->count)
		put_cells(layout, NULL);
	for (size_t i = 0; i < listed; i++) {
		const char *row = emit_row_at(table->rows, i);

		layout->whole = layout->show->whole ||
				(layout->names && is_alike(layout, &known, table->rows, i));
		put_cells(layout, row);
		if (table->below)
			table->below(layout->show, row, table->with);
	}
	layout->whole = layout->show->whole;
	map_clear(&known);
}

/* --- tables --- */

/* Names a row of sums: its first text becomes `name`, its other texts "". Its percentages refer to
 * the same total as those of the row `from`. */
static void name_row(const struct emit_column *columns, char *row, const char *from,
		     const char *name)
{
	for (const struct emit_column *column = columns; column->kind; column++) {
		if (column->kind == EMIT_SHARE) {
			((struct emit_part *)(row + column->at))->of =
				((const struct emit_part *)(from + column->at))->of;
		} else if (column->heading &&
			   (column->kind == EMIT_TEXT || column->kind == EMIT_CODE)) {
			*(const char **)(row + column->at) = name;
			name = "";
		}
	}
}

const char *emit_more_text(char *to, uint64_t left, const char *more)
{
	snprintf(to, EMIT_MORE, "... and %s %s", SAY_COUNT(left), more ? more : "more");
	return to;
}

void emit_more(const struct show *show, unsigned indent, uint64_t left, const char *more)
{
	char text[EMIT_MORE];

	if (left)
		out_format(show->out, "%*s%s\n", (int)indent, "", emit_more_text(text, left, more));
}

void emit_totals(const struct emit_table *table, size_t from, const char *name, uint64_t *sum)
{
	memset(sum, 0, EMIT_LARGEST);
	emit_sum(table->columns, table->rows, from, sum);
	name_row(table->columns, (char *)sum, table->rows->rows, name);
}

void emit_table(const struct show *show, const struct emit_table *table)
{
	const struct emit_rows *rows = table->rows;
	size_t listed = rows->shown < rows->count ? rows->shown : rows->count;
	uint64_t left = rows->count - listed + table->unlisted;
	struct layout layout = layout_of(show, table->columns, rows, table->indent);
	uint64_t sum[EMIT_LARGEST / sizeof(uint64_t)];
	char more[EMIT_MORE];

	if (table->heading)
		show_heading(show, table->heading);
	put_rows(&layout, table, listed);
	if (table->summed && left) {
		emit_more_text(more, left, table->more);
		emit_totals(table, listed, more, sum);
		put_cells(&layout, sum);
	} else {
		emit_more(show, table->indent, left, table->more);
	}
	if (table->totalled && rows->count > 1) {
		emit_totals(table, 0, "all", sum);
		put_cells(&layout, sum);
	}
	for (size_t i = 0; table->after && i < table->after->count; i++)
		put_cells(&layout, emit_row_at(table->after, i));
}
