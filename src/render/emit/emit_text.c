/* Writes rows as tables, on a screen and in Markdown. */
#include <stdio.h>
#include <string.h>

#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/values/values.h"

enum {
	MARKDOWN_NAME = 240, /* longest name, in columns */
	MORE = 80,           /* longest "... and 3 more", in bytes */
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

static void put_left(struct emit_line *line, const struct emit_column *column, const char *text,
		     unsigned width)
{
	char safe[4 * EMIT_CELL_MOST];
	unsigned columns;

	show_safe(safe, sizeof(safe), text, width);
	columns = show_columns(safe);
	put_text(line, safe, column->flags & EMIT_DIM);
	line->blanks += width - columns;
}

/* The text of a cell, or of the heading if the row is NULL. */
static const char *text_of(char *to, const struct emit_column *column, const void *row)
{
	return row ? emit_cell(to, column, row) : column->heading;
}

static unsigned width_from(const struct emit_column *column, uint64_t shown, const void *row)
{
	char text[EMIT_CELL_MOST];
	unsigned sum = 0;

	for (; column->kind; column++, shown >>= 1) {
		unsigned columns;

		if (!(shown & 1))
			continue;
		columns = show_columns(text_of(text, column, row));
		if (columns < width_of(column))
			columns = width_of(column);
		sum += columns ? columns + column->gap : 0;
	}
	return sum;
}

static void put_cells(const struct show *show, const struct emit_column *columns, uint64_t shown,
		      const void *row, unsigned indent)
{
	struct emit_line line = { .show = show, .blanks = indent, .heading = !row };
	unsigned most = show->columns ? show->columns : SHOW_COLUMNS;

	if (show->prefix)
		out_text(show->out, show->prefix);

	for (const struct emit_column *column = columns; column->kind; column++, shown >>= 1) {
		char to[EMIT_CELL_MOST];
		const char *text;
		unsigned used;

		if (!(shown & 1))
			continue;
		text = text_of(to, column, row);
		line.blanks += column->gap;
		used = line.column + line.blanks;
		if (column->width > 0) {
			put_right(&line, column, text);
		} else if (column->width < 0) {
			put_left(&line, column, text, width_of(column));
		} else {
			used += width_from(column + 1, shown >> 1, row);
			put_left(&line, column, text,
				 column->flags & EMIT_WHOLE ? EMIT_CELL_MOST
				 : used < most              ? most - used
							    : 0);
		}
	}
	out_char(show->out, '\n');
}

void emit_row(const struct show *show, const struct emit_column *columns, const void *row,
	      unsigned indent)
{
	const struct emit_rows one = { row, row ? 1 : 0, 1, 0 };

	put_cells(show, columns, emit_shown_columns(columns, &one), row, indent);
}

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

size_t emit_limit(size_t count, size_t limit)
{
	return !limit || count <= limit + 1 ? count : limit;
}

static const char *more_text(char *to, size_t size, uint64_t left, const char *more)
{
	snprintf(to, size, "... and %s %s", SAY_COUNT(left), more ? more : "more");
	return to;
}

void emit_more(const struct show *show, unsigned indent, uint64_t left, const char *more)
{
	char text[MORE];

	if (left)
		out_format(show->out, "%*s%s\n", (int)indent, "",
			   more_text(text, sizeof(text), left, more));
}

/* Makes a row with the sums over the rows from position `from` on. */
static void find_totals(const struct emit_table *table, size_t from, const char *name,
			uint64_t *sum)
{
	memset(sum, 0, EMIT_LARGEST);
	emit_sum(table->columns, table->rows, from, sum);
	name_row(table->columns, (char *)sum, table->rows->rows, name);
}

static const char *row_at(const struct emit_rows *rows, size_t i)
{
	return (const char *)rows->rows + i * rows->size;
}

void emit_table(const struct show *show, const struct emit_table *table)
{
	const struct emit_rows *rows = table->rows;
	size_t listed = rows->shown < rows->count ? rows->shown : rows->count;
	uint64_t left = rows->count - listed + table->unlisted;
	uint64_t shown = emit_shown_columns(table->columns, rows);
	uint64_t sum[EMIT_LARGEST / sizeof(uint64_t)];
	char more[MORE];

	if (table->heading)
		show_heading(show, table->heading);
	if (!table->headless && rows->count)
		put_cells(show, table->columns, shown, NULL, table->indent);
	for (size_t i = 0; i < listed; i++) {
		put_cells(show, table->columns, shown, row_at(rows, i), table->indent);
		if (table->below)
			table->below(show, row_at(rows, i), table->with);
	}
	if (table->summed && left) {
		more_text(more, sizeof(more), left, table->more);
		find_totals(table, listed, more, sum);
		put_cells(show, table->columns, shown, sum, table->indent);
	} else {
		emit_more(show, table->indent, left, table->more);
	}
	if (table->totalled && rows->count > 1) {
		find_totals(table, 0, "all", sum);
		put_cells(show, table->columns, shown, sum, table->indent);
	}
	for (size_t i = 0; table->after && i < table->after->count; i++)
		put_cells(show, table->columns, shown, row_at(table->after, i), table->indent);
}

/* --- Markdown --- */

void markdown_text(struct out *out, const char *text)
{
	char safe[4 * MARKDOWN_NAME];

	show_safe(safe, sizeof(safe), text, MARKDOWN_NAME);
	for (const char *p = safe; *p; p++) {
		if (strchr("&<>\"'|`*_~[](){}#@\\!:", *p))
			out_format(out, "&#%d;", *p);
		else
			out_char(out, *p);
	}
}

/* Writes a row; names of the traced program are written as code, other words are not. */
static void write_markdown_row(struct out *out, const struct emit_column *columns, uint64_t shown,
			       const void *row, bool sum)
{
	char to[EMIT_CELL_MOST];

	out_char(out, '|');
	for (const struct emit_column *column = columns; column->kind; column++, shown >>= 1) {
		bool code = column->kind == EMIT_CODE && !sum;

		if (!(shown & 1))
			continue;
		out_text(out, code ? " <code>" : " ");
		if (column->kind == EMIT_CODE || column->kind == EMIT_TEXT)
			markdown_text(out, emit_cell(to, column, row));
		else
			out_text(out, emit_cell(to, column, row));
		out_text(out, code ? "</code> |" : " |");
	}
	out_char(out, '\n');
}

static void write_markdown_head(struct out *out, const struct emit_column *columns, uint64_t shown)
{
	out_char(out, '|');
	for (unsigned i = 0; columns[i].kind; i++) {
		if (shown >> i & 1)
			out_format(out, " %s |",
				   columns[i].title ? columns[i].title : columns[i].heading);
	}
	out_text(out, "\n|");
	for (unsigned i = 0; columns[i].kind; i++) {
		if (shown >> i & 1)
			out_text(out, columns[i].width > 0 ? "--:|" : "---|");
	}
	out_char(out, '\n');
}

void emit_markdown(struct out *out, const struct emit_table *table, uint64_t most)
{
	const struct emit_column *columns = table->columns;
	const struct emit_rows *rows = table->rows;
	uint64_t shown = emit_shown_columns(columns, rows);
	uint64_t sum[EMIT_LARGEST / sizeof(uint64_t)];
	char more[MORE];
	uint64_t left;
	size_t i = 0;

	for (unsigned k = 0; columns[k].kind; k++)
		shown |= (uint64_t)(columns[k].title != NULL) << k;
	write_markdown_head(out, columns, shown);
	for (; i < rows->count && i < rows->shown && out->written + out->used < most; i++)
		write_markdown_row(out, columns, shown, row_at(rows, i), false);
	left = rows->count - i + table->unlisted;
	more_text(more, sizeof(more), left, table->more);
	if (left && table->summed) {
		find_totals(table, i, more, sum);
		write_markdown_row(out, columns, shown, sum, true);
	}
	for (size_t k = 0; table->after && k < table->after->count; k++)
		write_markdown_row(out, columns, shown, row_at(table->after, k), true);
	if (left && !table->summed)
		out_format(out, "\n%s\n", more);
}
