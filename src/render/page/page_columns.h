/*
 * Writes columns of numbers into a page, which src/page/model/columns.ts reads: as varints,
 * compressed by zlib, in base64.
 *
 *   <script type="application/octet-stream" id="NAME">base64 of numbers in
 *      zlib's format; a number has seven bits in each byte, the lowest first, and the highest
 *      bit of a byte is 1 if more follow</script>
 */
#pragma once

#include <stdint.h>

#include "render/export/protobuf.h"

struct out;

struct column {
	struct protobuf numbers;
	uint64_t last; /* the last value given to column_add_delta() */
};

void column_add(struct column *column, uint64_t value);

/* Adds the difference from the last value: 0, -1, 1, -2 ... are stored as 0, 1, 2, 3 ... */
void column_add_delta(struct column *column, uint64_t value);

/* Writes the column as an HTML element with the id `name`, and frees its numbers. */
void column_write(struct column *column, struct out *out, const char *name);
