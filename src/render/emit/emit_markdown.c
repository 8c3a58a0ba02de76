/* Writes rows as tables in Markdown. */
#include <string.h>

#include "render/emit/emit_parts.h"
#include "render/emit/term.h"

enum { MARKDOWN_NAME = 240 }; /* longest name, in columns */

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
	char more[EMIT_MORE];
	uint64_t left;
	size_t i = 0;

	for (unsigned k = 0; columns[k].kind; k++)
		shown |= (uint64_t)(columns[k].title != NULL) << k;
	write_markdown_head(out, columns, shown);
	for (; i < rows->count && i < rows->shown && out->written + out->used < most; i++)
		write_markdown_row(out, columns, shown, emit_row_at(rows, i), false);
	left = rows->count - i + table->unlisted;
	emit_more_text(more, left, table->more);
	if (left && table->summed) {
		emit_totals(table, i, more, sum);
		write_markdown_row(out, columns, shown, sum, true);
	}
	for (size_t k = 0; table->after && k < table->after->count; k++)
		write_markdown_row(out, columns, shown, emit_row_at(table->after, k), true);
	if (left && !table->summed)
		out_format(out, "\n%s\n", more);
}
