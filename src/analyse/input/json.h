/*
 * Reads JSON (RFC 8259) of any size, one token at a time, from a bounded buffer.
 *
 * The document is not trusted: nesting and the lengths of strings and numbers are bounded, and any
 * fault ends in one message through err() that names the file and, for invalid JSON, the byte.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/input/decompress.h"

struct out;

enum json_token {
	JSON_ERROR = -1, /* err_text() has the message; every later call returns this again */
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
	JSON_DEEPEST = 64,           /* most containers nested in one another */
	JSON_LONGEST = 1 << 20,      /* a string with more bytes may be refused */
	JSON_LONGEST_NUMBER = 1 << 9 /* most bytes of a number */
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

	unsigned depth; /* number of containers open now */
	bool truncated; /* after JSON_ERROR: the document ends too early */

	/* The members below are for json*.c, and for messages of trace.c, except `kept`. */
	const char *name;
	struct decompress source;
	bool ended, failed;
	unsigned char state;
	uint64_t objects; /* bit i is 1 if open container i (0: the outermost) is an object */
	char *buffer, *at, *end, *token;
	size_t size;
	uint64_t kept;   /* bytes allocated for the document, as counted by the caller */
	uint64_t passed; /* bytes of the file before those in the buffer */
};

/* Starts to read the file fd, which the caller closes; messages name it `name`, which must outlive
 * `json`. Positions in a compressed file are those of the unpacked data. 0 or -ENOMEM. */
int json_open(struct json *json, int fd, const char *name);
void json_close(struct json *json);

enum json_token json_next(struct json *json);

/* Takes the next key in place of json_next(), if it is written as `text`, which is `,"key":`, or
 * without the comma as an object's first key. False, and nothing is taken, if it is not. */
bool json_take_key(struct json *json, const char *text, size_t length);

/* Skips the container that `token` has just opened, or nothing for another token. 0 or -EINVAL. */
int json_skip(struct json *json, enum json_token token);

/* Writes the value that begins with `token` to `out`, without blanks. 0 or -EINVAL. */
int json_copy(struct json *json, enum json_token token, struct out *out);

/*
 * Skips to the next line that contains `text`, in an array with one element on each line;
 * json_next() then returns that element. False at the end of the file or after an error.
 */
bool json_find_line(struct json *json, const char *text);

/* The position in the file, in bytes, of the last token or of the byte that was refused. */
uint64_t json_offset(const struct json *json);

/* Makes the reader fail with "NAME: byte N: text", unless it has failed. Returns -EINVAL. */
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
	WANT_SEPARATOR, /* after a value in a container */
	WANT_NOTHING,   /* after the document */
};

/* Reads more of the file, keeping the bytes from `token` on, or from `at` on if `token` is NULL.
 * False at the end of the file and after an error. */
bool json_more(struct json *json);

/* Replaces the escapes in text[0..length) in place. False if one is invalid. */
bool json_unescape(struct json *json);

/* Reads a number from `text`, which ends with a NUL. False if it is not a number by RFC 8259. */
bool json_read_number(struct json *json, const char *text);
