/* Writes rows as tables, on a screen and in Markdown. One file has both, because they choose, limit
 * and sum rows in the same way. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/values/values.h"

enum {
	MARKDOWN_NAME = 240,   /* width to which names are cut, in columns */
	MARKDOWN_MOST = 48000, /* bytes of output after which no further row is written */
	MORE = 80,             /* longest "... and 3 more", in bytes */
};

/* The lines of a table. Blanks are written only before text, so that no line ends with them. */
struct table_lines {
	const struct show *show;
	const struct emit_column *columns;
	uint64_t shown;                  /* the columns that are written, as bits */
	unsigned indent, most;           /* width of the indentation, and of the whole line */
	unsigned sixths;                 /* argument of show_cut() for names that are cut */
	bool whole;                      /* names are not cut */
	const struct emit_column *names; /* the first left-aligned column with texts, or NULL */
	unsigned width;                  /* width of the column `names`; 0: the rest of each line */

	/* The line being written. */
	unsigned column, blanks;
	bool heading; /* a line of headings, printed dim */
};

static const char *row_at(const struct emit_rows *rows, size_t i)
{
	return (const char *)rows->rows + i * rows->size;
}

static void put_text(struct table_lines *lines, const char *text, bool dim)
{
	if (!*text)
		return;
	for (; lines->blanks; lines->blanks--, lines->column++)
		out_char(lines->show->out, ' ');
	if (dim || lines->heading)
		show_dim(lines->show, text);
	else
		out_text(lines->show->out, text);
	lines->column += show_columns(text);
}

static unsigned width_of(const struct emit_column *column)
{
	return (unsigned)(column->width < 0 ? -column->width : column->width);
}

static void put_right(struct table_lines *lines, const struct emit_column *column, const char *text)
{
	unsigned columns = show_columns(text);
	unsigned width = width_of(column);

	if (columns < width)
		lines->blanks += width - columns;
	else if (!column->gap && lines->column)
		lines->blanks++; /* a text that fills its cell must not touch the cell before */
	put_text(lines, text, column->flags & EMIT_DIM);
}

static const char *text_of(char *to, const struct emit_column *column, const void *row)
{
	return row ? emit_cell(to, column, row) : column->heading;
}

/* Returns the width of a row's cells from `column` on. Bit 0 of `shown` is for `column`. */
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

/* Returns a left-aligned cell's width: its column's or, if that is 0, the line's minus `others`. */
static unsigned room_of(const struct table_lines *lines, const struct emit_column *column,
			unsigned others)
{
	if (column->width)
		return column == lines->names ? lines->width : width_of(column);
	return others < lines->most ? lines->most - others : 0;
}

/* Writes a left-aligned cell; `after` is the width of the cells to its right. */
static void put_left(struct table_lines *lines, const struct emit_column *column, const char *text,
		     unsigned after)
{
	unsigned room = room_of(lines, column, lines->column + lines->blanks + after);
	bool whole = lines->whole || column->flags & EMIT_WHOLE;
	char safe[4 * EMIT_CELL_MOST];
	unsigned columns;

	show_cut(safe, sizeof(safe), text, whole ? sizeof(safe) : room, lines->sixths);
	columns = show_columns(safe);
	put_text(lines, safe, column->flags & EMIT_DIM);
	lines->blanks += columns < room ? room - columns : 0;
}

static void put_cells(struct table_lines *lines, const void *row)
{
	const struct emit_column *column = lines->columns;
	char to[EMIT_CELL_MOST];

	if (lines->show->prefix)
		out_text(lines->show->out, lines->show->prefix);
	lines->column = 0;
	lines->blanks = lines->indent;
	lines->heading = !row;
	for (uint64_t shown = lines->shown; column->kind; column++, shown >>= 1) {
		if (!(shown & 1))
			continue;
		lines->blanks += column->gap;
		if (column->width > 0)
			put_right(lines, column, text_of(to, column, row));
		else
			put_left(lines, column, text_of(to, column, row),
				 width_from(column + 1, shown >> 1, row));
	}
	out_char(lines->show->out, '\n');
}

static struct table_lines lines_of(const struct show *show, const struct emit_column *columns,
				   const struct emit_rows *rows, unsigned indent)
{
	uint64_t shown = emit_shown_columns(columns, rows);
	const struct emit_column *names = columns;

	while (names->kind && (names->width > 0 || !(shown >> (names - columns) & 1) ||
			       (names->kind != EMIT_TEXT && names->kind != EMIT_CODE)))
		names++;
	return (struct table_lines){
		.show = show,
		.columns = columns,
		.shown = shown,
		.indent = indent,
		.most = show->columns ? show->columns : SHOW_COLUMNS,
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
	struct table_lines lines = lines_of(show, columns, &one, indent);

	put_cells(&lines, row);
}

/* --- names stay distinct when they are cut --- */

/* Returns the width of a row's line without its name. */
static unsigned others_of(const struct table_lines *lines, const void *row)
{
	uint64_t others = lines->shown & ~(1ull << (lines->names - lines->columns));

	return lines->indent + lines->names->gap + width_from(lines->columns, others, row);
}

/* True if the cut name of row i equals that of an earlier row with another name. `known` maps the
 * hash of each cut name to 1 + its row. */
static bool is_alike(const struct table_lines *lines, struct map *known,
		     const struct emit_rows *rows, size_t i)
{
	char cut[4 * EMIT_CELL_MOST], to[EMIT_CELL_MOST], other[EMIT_CELL_MOST];
	const char *name = text_of(to, lines->names, row_at(rows, i));
	unsigned used = others_of(lines, row_at(rows, i));
	size_t length =
		show_cut(cut, sizeof(cut), name, room_of(lines, lines->names, used), lines->sixths);
	uint64_t key = hash_bytes(cut, length);
	uint32_t same = map_get(known, key);

	NEED(map_put(known, key, (uint32_t)i + 1));
	return same && strcmp(name, text_of(other, lines->names, row_at(rows, same - 1))) != 0;
}

/* Widens the column of names for its longest name, as far as the line has room. ends[]: ways in
 * which show_cut() cuts longer names. The first that keeps different names different is used; if
 * there is none, the last. */
static void lay_out(struct table_lines *lines, const struct emit_rows *rows, size_t listed)
{
	static const unsigned char ends[] = { SHOW_MIDDLE, 4, 5, 2, 1, SHOW_MIDDLE };
	unsigned used = others_of(lines, NULL), least = lines->width, longest = least;
	bool alike = true;

	for (size_t i = 0; least && i < listed; i++) {
		char to[EMIT_CELL_MOST];
		unsigned name = show_columns(text_of(to, lines->names, row_at(rows, i)));
		unsigned others = others_of(lines, row_at(rows, i));

		longest = name > longest ? name : longest;
		used = others > used ? others : used;
	}
	if (!lines->whole && longest + used > lines->most)
		longest = lines->most > used ? lines->most - used : 0;
	lines->width = longest > least ? longest : least;
	for (size_t end = 0; alike && end < sizeof(ends); end++) {
		struct map known = { NULL, 0 };

		lines->sixths = ends[end];
		alike = false;
		for (size_t i = 0; i < listed && !alike; i++)
			alike = is_alike(lines, &known, rows, i);
		map_clear(&known);
	}
}

/* Writes the rows. A name is not cut if it would then equal an earlier row's cut name. */
static void put_rows(struct table_lines *lines, const struct emit_table *table, size_t listed)
{
	struct map known = { NULL, 0 };

	if (lines->names)
		lay_out(lines, table->rows, listed);
	if (!table->headless && table->rows->count)
		put_cells(lines, NULL);
	for (size_t i = 0; i < listed; i++) {
		const char *row = row_at(table->rows, i);

		lines->whole = lines->show->whole ||
			       (lines->names && is_alike(lines, &known, table->rows, i));
		put_cells(lines, row);
		if (table->below)
			table->below(lines->show, row, table->with);
	}
	lines->whole = lines->show->whole;
	map_clear(&known);
}

/* --- tables --- */

/* Completes a row of sums: its first text becomes `name`, its other texts "", and its percentages
 * refer to the same total as those of the row `from`. */
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

static const char *more_text(char *to, uint64_t left, const char *more)
{
	snprintf(to, MORE, "... and %s %s", SAY_COUNT(left), more ? more : "more");
	return to;
}

void emit_more(const struct show *show, unsigned indent, uint64_t left, const char *more)
{
	char text[MORE];

	if (left)
		out_format(show->out, "%*s%s\n", (int)indent, "", more_text(text, left, more));
}

static void find_totals(const struct emit_table *table, size_t from, const char *name,
			uint64_t *sum)
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
	struct table_lines lines = lines_of(show, table->columns, rows, table->indent);
	uint64_t sum[EMIT_LARGEST / sizeof(uint64_t)];
	char more[MORE];

	if (table->heading)
		show_heading(show, table->heading);
	put_rows(&lines, table, listed);
	if (table->summed && left) {
		more_text(more, left, table->more);
		find_totals(table, listed, more, sum);
		put_cells(&lines, sum);
	} else {
		emit_more(show, table->indent, left, table->more);
	}
	if (table->totalled && rows->count > 1) {
		find_totals(table, 0, "all", sum);
		put_cells(&lines, sum);
	}
	for (size_t i = 0; table->after && i < table->after->count; i++)
		put_cells(&lines, row_at(table->after, i));
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

static bool is_full(const struct out *out)
{
	return out->written + out->used >= MARKDOWN_MOST;
}

void emit_markdown(struct out *out, const struct emit_table *table)
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
	for (; i < rows->count && i < rows->shown && !is_full(out); i++)
		write_markdown_row(out, columns, shown, row_at(rows, i), false);
	left = rows->count - i + table->unlisted;
	more_text(more, left, table->more);
	if (left && table->summed) {
		find_totals(table, i, more, sum);
		write_markdown_row(out, columns, shown, sum, true);
	}
	for (size_t k = 0; table->after && k < table->after->count; k++)
		write_markdown_row(out, columns, shown, row_at(table->after, k), true);
	if (left && !table->summed)
		out_format(out, "\n%s\n", more);
	out_char(out, '\n');
}

void emit_markdown_folded(struct out *out, const struct emit_table *table)
{
	size_t count = table->rows->count;

	if (!count || is_full(out))
		return;
	out_format(out, "<details><summary>%s: %zu %s</summary>\n\n", table->heading, count,
		   count == 1 ? "site" : "sites");
	emit_markdown(out, table);
	out_text(out, "</details>\n\n");
}
