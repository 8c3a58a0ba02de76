/* Writes arrays of numbers into the page, compressed: each becomes one HTML element. */
#include "render/page/page_columns.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyse/input/error.h"
#include "render/emit/term.h"

enum { CHUNK = 3 * 16384 }; /* bytes deflated at a time: a multiple of 3, as base64 needs */

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

void column_clear(struct column *column)
{
	protobuf_clear(&column->numbers);
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

/* Compresses the numbers. zlib gets the input in parts: its counters may have only 32 bits. */
static int deflate_all(z_stream *stream, const struct protobuf *numbers, struct out *out,
		       uint8_t *chunk)
{
	size_t given = 0;
	int result = Z_OK;

	stream->next_out = chunk;
	stream->avail_out = CHUNK;
	while (result == Z_OK) {
		size_t part = numbers->used - given;

		if (!stream->avail_in && part) {
			part = part < (1u << 30) ? part : 1u << 30;
			stream->next_in = numbers->bytes + given;
			stream->avail_in = (uInt)part;
			given += part;
		}
		result = deflate(stream, given == numbers->used ? Z_FINISH : Z_NO_FLUSH);
		if (result == Z_BUF_ERROR)
			result = Z_OK;
		if (!stream->avail_out || result == Z_STREAM_END) {
			write_base64(out, chunk, CHUNK - stream->avail_out);
			stream->next_out = chunk;
			stream->avail_out = CHUNK;
		}
	}
	return result == Z_STREAM_END ? 0 : -1;
}

int column_write(struct column *column, struct out *out, const char *name)
{
	z_stream stream = { 0 };
	uint8_t *chunk = malloc(CHUNK);
	int error = column->numbers.no_memory || !chunk ||
		    deflateInit(&stream, Z_DEFAULT_COMPRESSION) != Z_OK;

	if (!error) {
		out_format(out, "<script type=\"application/octet-stream\" id=\"%s\">", name);
		error = deflate_all(&stream, &column->numbers, out, chunk);
		out_text(out, "</script>\n");
		deflateEnd(&stream);
	}
	free(chunk);
	column_clear(column);
	return error ? err("no memory left for the page's columns") : 0;
}
