/* Formats text, numbers and JSON strings into a buffer that is flushed to a descriptor. */
#include "base/text/out.h"

#include <string.h>

#include "base/text/fd.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

enum { LONGEST_NUMBER = 24 };

void out_init(struct out *out, int fd, char *buffer, size_t size)
{
	memset(out, 0, sizeof(*out));
	out->fd = fd;
	out->buffer = buffer;
	out->size = size;
}

int out_flush(struct out *out)
{
	if (!out->error && out->used)
		out->error = out->sink ? out->sink(out->sink_to, out->buffer, out->used)
				       : fd_write_all(out->fd, out->buffer, out->used);
	out->written += out->used;
	out->used = 0;
	return out->error;
}

void out_bytes(struct out *out, const char *bytes, size_t length)
{
	size_t part;

	while ((part = out->size - out->used) < length) {
		memcpy(out->buffer + out->used, bytes, part);
		out->used += part;
		bytes += part;
		length -= part;
		out_flush(out);
	}
	memcpy(out->buffer + out->used, bytes, length);
	out->used += length;
}

void out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

void out_char(struct out *out, char c)
{
	*out_room(out, 1) = c;
	out->used++;
}

void out_u64(struct out *out, uint64_t value)
{
	out->used += text_u64(out_room(out, LONGEST_NUMBER), value);
}

void out_i64(struct out *out, int64_t value)
{
	if (value < 0)
		out_char(out, '-');
	out_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void out_hex(struct out *out, uint64_t value)
{
	out->used += text_hex(out_room(out, LONGEST_NUMBER), value);
}

static void out_unit(struct out *out, uint32_t unit)
{
	static const char digits[] = "0123456789abcdef";
	char escape[] = "\\u0000";

	for (unsigned i = 0; i < 4; i++)
		escape[2 + i] = digits[unit >> (12 - 4 * i) & 15];
	out_text(out, escape);
}

static void out_escaped(struct out *out, uint32_t c)
{
	switch (c) {
	case '"':
	case '\\':
		out_char(out, '\\');
		out_char(out, (char)c);
		break;
	case '\n':
		out_bytes(out, "\\n", 2);
		break;
	case '\t':
		out_bytes(out, "\\t", 2);
		break;
	default:
		if (c > 0xffff) {
			out_unit(out, 0xd800 + ((c - 0x10000) >> 10));
			c = 0xdc00 + ((c - 0x10000) & 0x3ff);
		}
		out_unit(out, c);
	}
}

/* Bytes that are written to JSON without an escape: printable ASCII characters except " and \ */
static const bool is_plain[256] = { [0x20 ... 0x21] = true,
				    [0x23 ... 0x5b] = true,
				    [0x5d ... 0x7e] = true };

void out_json_n(struct out *out, const char *text, size_t length)
{
	const unsigned char *p = (const unsigned char *)text;
	uint32_t c;

	out_char(out, '"');
	for (size_t i = 0; i < length;) {
		size_t plain = i;

		while (plain < length && is_plain[p[plain]])
			plain++;
		out_bytes(out, text + i, plain - i);
		i = plain;
		if (i == length)
			break;
		plain = utf8_decode(text + i, length - i, &c);
		if (plain > 1 && utf8_harmless(c))
			out_bytes(out, text + i, plain);
		else
			out_escaped(out, plain ? c : 0xfffd);
		i += plain ? plain : 1;
	}
	out_char(out, '"');
}

/* Fast for short texts without escapes, as most are: copies them while it searches for the end. */
void out_json(struct out *out, const char *text)
{
	enum { SHORT = 32 };
	char *to = out_room(out, SHORT + 2);
	size_t length = 0;

	if (!text) {
		out_text(out, "null");
		return;
	}
	*to++ = '"';
	while (length < SHORT && is_plain[(unsigned char)text[length]]) {
		to[length] = text[length];
		length++;
	}
	if (text[length]) {
		out_json_n(out, text, strlen(text));
		return;
	}
	to[length] = '"';
	out->used += length + 2;
}
