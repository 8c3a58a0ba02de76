/*
 * Columns of numbers inside a page: varints, deflated, in base64. src/page/model/columns.ts reads
 * them.
 *
 *   <script type="application/octet-stream" id="NAME">base64 of zlib's format of
 *      numbers in seven bits a byte, the lowest first, the highest bit: more follows </script>
 *
 * A column that cannot grow remembers it: column_write() says so.
 */
#pragma once

#include <stdint.h>

#include "render/export/protobuf.h"

struct out;

struct column {
	struct protobuf numbers;
	uint64_t last; /* of column_add_delta() */
};

void column_add(struct column *column, uint64_t value);

/* The difference to the last value given, as 0, -1, 1, -2, ... are 0, 1, 2, 3, ... */
void column_add_delta(struct column *column, uint64_t value);

/* Writes and clears it. `name` is a plain word. 0 or -errno with err_text(). */
int column_write(struct column *column, struct out *out, const char *name);
void column_clear(struct column *column);
