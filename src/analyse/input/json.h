/*
 * A pull reader of JSON (RFC 8259) for files of any size: one token at a time from a bounded
 * buffer.
 *
 * The document is not trusted: depth, length of strings and of numbers are bounded, and whatever is
 * wrong ends in one message through err() that names the file and the byte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/input/decompress.h"

struct out;

enum json_token {
	JSON_ERROR = -1, /* err_text() says why; every later call gives it again */
	JSON_END,        /* the document is complete and nothing follows it */
	JSON_OBJECT,
	JSON_OBJECT_END,
	JSON_ARRAY,
	JSON_ARRAY_END,
	JSON_KEY,
	JSON_STRING,
	JSON_NUMBER,
	JSON_TRUE,
	JSON_FALSE,
	JSON_NULL,
};

enum {
	JSON_DEEPEST = 64,           /* containers within one another */
	JSON_LONGEST = 1 << 20,      /* bytes of a string */
	JSON_LONGEST_NUMBER = 1 << 9 /* bytes of a number */
};

struct json {
	/*
	 * Of the last key or string: unescaped, ended with a NUL, good until the next token. A
	 * NUL and a lone surrogate arrive as U+FFFD. Of the last number: its bytes, without a NUL.
	 */
	char *text;
	size_t length;

	/* Of the last number. */
	bool exact; /* an integer from -2^63 to 2^64 - 1: magnitude and negative hold it */
	bool negative;
	uint64_t magnitude;
	double real; /* only when it is not exact */

	unsigned depth; /* containers open now */
	bool truncated; /* the error is that the document ends too early */

	/* The rest is the reader's own. */
	const char *name;
	struct decompress source;
	bool ended, failed;
	unsigned char state;
	uint64_t objects; /* bit i: container i is an object */
	char *buffer, *at, *end, *token;
	size_t size;
	uint64_t kept;   /* bytes of memory that its reader has taken for it */
	uint64_t passed; /* bytes of the file before the buffer */
};

/* Reads from fd, which stays the caller's, under the name `name`; -errno when memory is short. A
 * compressed file is unpacked, and bytes are counted after that. */
int json_open(struct json *json, int fd, const char *name);
void json_close(struct json *json);

enum json_token json_next(struct json *json);

/* Skips the container that the token has opened; nothing for others. 0 or -EINVAL. */
int json_skip(struct json *json, enum json_token token);

/* The same, writing the value to out without blanks. */
int json_copy(struct json *json, enum json_token token, struct out *out);

/*
 * Moves to the next line that holds `text`, for a reader inside an array that has one element a
 * line; the next token is that element's. False when there is none (the reader is then at its end).
 */
bool json_find_line(struct json *json, const char *text);

/* The byte of the file at which the last token begins. */
uint64_t json_offset(const struct json *json);

/* Makes the reader fail with "NAME: byte N: text": always -EINVAL. */
int json_fail(struct json *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool json_is(const struct json *json, const char *text, size_t length)
{
	return json->length == length && !__builtin_memcmp(json->text, text, length);
}

/* --- between the files of json*.c --- */

enum json_state {
	WANT_VALUE,     /* at the start, after a colon, after a comma in an array */
	WANT_FIRST,     /* after [ */
	WANT_FIRST_KEY, /* after { */
	WANT_SEPARATOR, /* after a value in a container */
	WANT_NOTHING,   /* after the document */
};

/* Reads more, keeping the bytes from the token (or from `at`) on. False at the end. */
bool json_more(struct json *json);

/* Unescapes text[0..length) in place; false when an escape is broken. */
bool json_unescape(struct json *json);

/* The number is the text, which ends with a NUL; false when it is none of RFC 8259. */
bool json_read_number(struct json *json, const char *text);
