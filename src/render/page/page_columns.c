/* Writes columns of numbers into a page, each as one compressed HTML element. */
#include "render/page/page_columns.h"

#include <stdlib.h>
#include <zlib.h>

#include "analyse/input/grow.h"
#include "render/emit/term.h"

void column_add(struct column *column, uint64_t value)
{
	protobuf_varint(&column->numbers, value);
}

void column_add_delta(struct column *column, uint64_t value)
{
	int64_t delta = (int64_t)(value - column->last);

	column->last = value;
	column_add(column, (uint64_t)delta << 1 ^ (uint64_t)(delta >> 63));
}

static void write_base64(struct out *out, const uint8_t *bytes, size_t count)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < count; i += 3) {
		size_t left = count - i;
		uint32_t word = (uint32_t)bytes[i] << 16 |
				(left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				(left > 2 ? bytes[i + 2] : 0);
		char group[] = "====";

		group[0] = digits[word >> 18];
		group[1] = digits[word >> 12 & 63];
		if (left > 1)
			group[2] = digits[word >> 6 & 63];
		if (left > 2)
			group[3] = digits[word & 63];
		out_bytes(out, group, 4);
	}
}

void column_write(struct column *column, struct out *out, const char *name)
{
	uLongf size = compressBound(column->numbers.used);
	uint8_t *packed = malloc(size);

	NEED(packed &&
	     compress(packed, &size, column->numbers.bytes, column->numbers.used) == Z_OK);
	out_format(out, "<script type=\"application/octet-stream\" id=\"%s\">", name);
	write_base64(out, packed, size);
	out_text(out, "</script>\n");
	free(packed);
	protobuf_clear(&column->numbers);
}
