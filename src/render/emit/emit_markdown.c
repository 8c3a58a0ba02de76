/* Rows as a table in Markdown. */
#include <string.h>

#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/values/values.h"

enum { MARKDOWN_NAME = 240 }; /* columns that a name is cut to */

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

static void write_cell(struct out *out, const struct emit_column *column, const void *row)
{
	char to[EMIT_CELL_MOST];
	const char *text = emit_cell(to, column, row);

	out_text(out, column->kind == EMIT_CODE ? " <code>" : " ");
	if (column->kind == EMIT_CODE || column->kind == EMIT_TEXT)
		markdown_text(out, text);
	else
		out_text(out, text);
	out_text(out, column->kind == EMIT_CODE ? "</code> |" : " |");
}

static void write_head(struct out *out, const struct emit_column *columns, uint64_t shown)
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

size_t emit_markdown(struct out *out, const struct emit_column *columns,
		     const struct emit_rows *rows, uint64_t most)
{
	uint64_t shown = emit_shown_columns(columns, rows);
	size_t i = 0;

	write_head(out, columns, shown);
	for (; i < rows->count && i < rows->shown && out->written + out->used < most; i++) {
		out_char(out, '|');
		for (unsigned k = 0; columns[k].kind; k++) {
			if (shown >> k & 1)
				write_cell(out, &columns[k],
					   (const char *)rows->rows + i * rows->size);
		}
		out_char(out, '\n');
	}
	return i;
}
