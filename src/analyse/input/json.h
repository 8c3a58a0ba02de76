/*
 * Reads JSON (RFC 8259) of any size, one token at a time, from a bounded buffer.
 *
 * The document is not trusted: nesting and the lengths of strings and numbers are bounded, and any
 * error ends in one message through err() that names the file and, for invalid JSON, the byte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/input/decompress.h"

struct out;

enum json_token {
	JSON_ERROR = -1, /* err_text() has the message; all later calls return JSON_ERROR, too */
	JSON_END,        /* the document was complete, and nothing follows */
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
	JSON_DEEPEST = 64,           /* maximum nesting of arrays and objects */
	JSON_LONGEST = 1 << 20,      /* bytes of a string; longer ones may be refused */
	JSON_LONGEST_NUMBER = 1 << 9 /* bytes of a number; longer ones are refused */
};

struct json {
	/*
	 * The last key or string, unescaped and ended with a NUL, valid until the next token;
	 * U+FFFD replaces a NUL or lone surrogate in it. After a number: its bytes, without a NUL.
	 */
	char *text;
	size_t length;

	/* The value of the last number. */
	bool exact; /* true for integers from -2^63 to 2^64 - 1: magnitude and negative are set */
	bool negative;
	uint64_t magnitude;
	double real; /* the value of a number that is not exact */

	unsigned depth; /* number of arrays and objects that are open */
	bool truncated; /* after JSON_ERROR: true if the document ends too early */

	/* The members below are for json*.c and for messages of trace.c, except `kept`. */
	const char *name;
	struct decompress source;
	bool ended, failed;
	unsigned char state;
	uint64_t objects; /* bit i is 1 if level i (0 is outermost) is an object, not an array */
	char *buffer, *at, *end, *token;
	size_t size;
	uint64_t kept;   /* for the caller: bytes that it has allocated for the document */
	uint64_t passed; /* bytes of the file before those in the buffer */
};

/* Starts to read file fd, which the caller closes. Messages name it `name`, which must outlive
 * `json`. Positions in a compressed file are those of the unpacked data. Returns 0 or -ENOMEM. */
int json_open(struct json *json, int fd, const char *name);
void json_close(struct json *json);

enum json_token json_next(struct json *json);

/* A fast json_next() for an expected key. `text` is `,"key":`; for the first key of an object, the
 * comma is ignored. Returns false, and reads nothing, if the next bytes are not `text`. */
bool json_take_key(struct json *json, const char *text, size_t length);

/* Skips the array or object that `token` begins; else does nothing. Returns 0 or -EINVAL. */
int json_skip(struct json *json, enum json_token token);

/* Writes the value that begins with `token` to `out`, without blanks. Returns 0 or -EINVAL. */
int json_copy(struct json *json, enum json_token token, struct out *out);

/*
 * Skips to the next line that contains `text`, in an array with one element on each line;
 * json_next() then returns that element. False at the end of the file or after an error.
 */
bool json_find_line(struct json *json, const char *text);

/* Returns the position in the file, in bytes, of the last token or of the byte that was refused. */
uint64_t json_offset(const struct json *json);

/* Ends reading with the error "NAME: byte N: text", unless reading has failed. Returns -EINVAL. */
int json_fail(struct json *json, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline bool json_is(const struct json *json, const char *text, size_t length)
{
	return json->length == length && !__builtin_memcmp(json->text, text, length);
}

/* --- used by json*.c only --- */

enum json_state {
	WANT_VALUE,     /* at the start of the document, after a colon, after a comma in an array */
	WANT_FIRST,     /* after [ */
	WANT_FIRST_KEY, /* after { */
	WANT_SEPARATOR, /* after a value in an array or object */
	WANT_NOTHING,   /* after the document */
};

/* Reads more of the file. Keeps the bytes in the buffer from `token` on, or from `at` on if `token`
 * is NULL. Returns false at the end of the file or after an error. */
bool json_more(struct json *json);

/* Replaces the escapes in text[0..length) in place. Returns false if an escape is invalid. */
bool json_unescape(struct json *json);

/* Reads a number from `text`, which ends with a NUL. False if it is no number by RFC 8259. */
bool json_read_number(struct json *json, const char *text);
