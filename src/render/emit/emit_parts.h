/* What tables on a screen and tables in Markdown have in common: emit_text.c. */
#pragma once

#include "render/emit/emit.h"

enum { EMIT_MORE = 80 }; /* bytes of the longest "... and 3 more" */

static inline const char *emit_row_at(const struct emit_rows *rows, size_t i)
{
	return (const char *)rows->rows + i * rows->size;
}

/* Writes "... and 3 more", or another word, in `to` (EMIT_MORE bytes), and returns it. */
const char *emit_more_text(char *to, uint64_t left, const char *more);

/* Makes the row of sums over the table's rows from `from` on, in `sum` (EMIT_LARGEST bytes). */
void emit_totals(const struct emit_table *table, size_t from, const char *name, uint64_t *sum);
