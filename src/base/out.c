/* A buffered writer of text to a descriptor. */
#include "base/out.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fd.h"
#include "base/text.h"

enum {
	LONGEST_NUMBER = 24,
	LONGEST_LINE = 4096,
};

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
		out->error = fd_write_all(out->fd, out->buffer, out->used);
	out->written += out->used;
	out->used = 0;
	return out->error;
}

/* Room for `length` bytes, which must be no more than the buffer's size. */
static inline char *room(struct out *out, size_t length)
{
	if (out->size - out->used < length)
		out_flush(out);
	return out->buffer + out->used;
}

void out_bytes(struct out *out, const char *bytes, size_t length)
{
	while (length) {
		size_t part = out->size - out->used;

		if (!part) {
			out_flush(out);
			continue;
		}
		if (part > length)
			part = length;
		memcpy(out->buffer + out->used, bytes, part);
		out->used += part;
		bytes += part;
		length -= part;
	}
}

void out_text(struct out *out, const char *text)
{
	out_bytes(out, text, strlen(text));
}

void out_char(struct out *out, char c)
{
	*room(out, 1) = c;
	out->used++;
}

void out_u64(struct out *out, uint64_t value)
{
	out->used += text_u64(room(out, LONGEST_NUMBER), value);
}

void out_i64(struct out *out, int64_t value)
{
	if (value < 0)
		out_char(out, '-');
	out_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void out_hex(struct out *out, uint64_t value)
{
	out->used += text_hex(room(out, LONGEST_NUMBER), value);
}

/* The length of the UTF-8 sequence at p (RFC 3629: no overlong forms, no surrogates), 0 if it is
 * none. */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	static const struct {
		unsigned char low, high, second_low, second_high;
		size_t length;
	} forms[] = {
		{ 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 },
		{ 0xee, 0xef, 0x80, 0xbf, 3 }, { 0xf0, 0xf0, 0x90, 0xbf, 4 },
		{ 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (p[0] < forms[i].low || p[0] > forms[i].high)
			continue;
		if (forms[i].length > left || p[1] < forms[i].second_low ||
		    p[1] > forms[i].second_high)
			return 0;
		for (size_t k = 2; k < forms[i].length; k++) {
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		}
		return forms[i].length;
	}
	return 0;
}

static void out_escaped(struct out *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	char escape[] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };

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
		out_bytes(out, escape, sizeof(escape));
	}
}

void out_json_n(struct out *out, const char *text, size_t length)
{
	const unsigned char *p = (const unsigned char *)text;

	out_char(out, '"');
	for (size_t i = 0; i < length;) {
		size_t plain = i;

		while (plain < length && p[plain] >= 0x20 && p[plain] < 0x7f && p[plain] != '"' &&
		       p[plain] != '\\')
			plain++;
		out_bytes(out, text + i, plain - i);
		i = plain;
		if (i == length)
			break;
		if (p[i] < 0x80) {
			out_escaped(out, p[i++]);
			continue;
		}
		plain = utf8_length(p + i, length - i);
		if (plain)
			out_bytes(out, text + i, plain);
		else
			out_text(out, "\\ufffd");
		i += plain ? plain : 1;
	}
	out_char(out, '"');
}

void out_json(struct out *out, const char *text)
{
	if (text)
		out_json_n(out, text, strlen(text));
	else
		out_text(out, "null");
}

void out_format(struct out *out, const char *format, ...)
{
	char line[LONGEST_LINE];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length > 0)
		out_bytes(out, line,
			  (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1);
}
