/*
 * A buffered writer of text to a descriptor or a function.
 *
 * The caller owns the descriptor and the buffer. After a failed write all further output is dropped
 * and out_flush() returns that error, so callers need to check only out_flush(). No stdio, no
 * locale, no allocation: this code also runs inside the traced program.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A function that takes the buffered bytes in place of the descriptor. Returns 0 or -errno. */
typedef int out_sink(void *to, const char *bytes, size_t length);

struct out {
	int fd;
	int error; /* 0, or the -errno of the first failed write */
	char *buffer;
	size_t size; /* bytes of the buffer, at least 4096 */
	size_t used;
	uint64_t written; /* bytes flushed so far, including those dropped after an error */
	out_sink *sink;   /* if not NULL, gets the bytes instead of fd; NULL after out_init() */
	void *sink_to;
};

void out_init(struct out *out, int fd, char *buffer, size_t size);

/* Writes the buffered bytes. Returns 0, or the first error (-errno) since out_init(). */
int out_flush(struct out *out);

/* Returns space for `length` (at most 4096) bytes; the caller adds the bytes used to out->used. */
static inline char *out_room(struct out *out, size_t length)
{
	if (out->size - out->used < length)
		out_flush(out);
	return out->buffer + out->used;
}

void out_bytes(struct out *out, const char *bytes, size_t length);
void out_text(struct out *out, const char *text);
void out_char(struct out *out, char c);
void out_u64(struct out *out, uint64_t value);
void out_i64(struct out *out, int64_t value);
void out_hex(struct out *out, uint64_t value);

/*
 * Writes a JSON string with its quotes; NULL becomes null. Bytes that are not UTF-8 are replaced by
 * U+FFFD. Characters that could control a terminal or mislead its reader (see utf8_harmless()) are
 * escaped; for a JSON parser the text stays the same.
 */
void out_json(struct out *out, const char *text);
void out_json_n(struct out *out, const char *text, size_t length);
