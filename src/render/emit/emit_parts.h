/* What the writers of rows share. */
#ifndef RENDER_EMIT_EMIT_PARTS_H
#define RENDER_EMIT_EMIT_PARTS_H

#include "render/emit/emit.h"

/* The field is null in JSON. */
bool emit_is_null(const struct emit_column *column, const void *row);

/* The cell as people read it, in `to` (EMIT_CELL_MOST bytes) or elsewhere. */
const char *emit_cell(char *to, const struct emit_column *column, const void *row);

/* The columns of a table with headings, less optional ones that no row has: a bit each. */
uint64_t emit_shown_columns(const struct emit_column *columns, const struct emit_rows *rows);

#endif
