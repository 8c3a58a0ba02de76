/*
 * Reads JSON one token at a time from a bounded buffer.
 *
 * A NUL is stored after the last byte read, so that the inner loops need no other bound: they stop
 * at a NUL and only then check whether it is the end of the buffer. Strings are unescaped in place,
 * which never makes them longer, and a NUL replaces the closing quote: no string is copied.
 */
#include "analyse/input/json.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"

enum {
	BLOCK = 1 << 18,  /* bytes of the buffer at the start */
	LARGEST = 1 << 22 /* from this size on, the buffer is not enlarged */
};

static bool grow_text(struct json *json)
{
	char *old = json->buffer;
	char *larger = json->size < LARGEST ? malloc(json->size * 2 + 1) : NULL;

	if (!larger)
		return false;
	memcpy(larger, old, json->size);
	json->at = larger + (json->at - old);
	json->end = larger + (json->end - old);
	json->token = json->token ? larger + (json->token - old) : NULL;
	json->buffer = larger;
	json->size *= 2;
	free(old);
	return true;
}

static void unreadable(struct json *json, int error)
{
	json->failed = true;
	json->truncated = error == -ENODATA;
	if (json->source.unpack)
		err("%s: %s", json->name, decompress_why(&json->source, error));
	else
		err("%s: byte %llu: cannot be read: %s", json->name,
		    (unsigned long long)json_offset(json), strerror(-error));
}

bool json_more(struct json *json)
{
	char *keep = json->token ? json->token : json->at;
	size_t kept = (size_t)(json->end - keep);
	ssize_t length;

	if (json->ended || json->failed)
		return false;
	if (keep > json->buffer) {
		memmove(json->buffer, keep, kept);
		json->passed += (uint64_t)(keep - json->buffer);
		json->at -= keep - json->buffer;
		if (json->token)
			json->token = json->buffer;
		json->end = json->buffer + kept;
	} else if (kept == json->size && !grow_text(json)) {
		json_fail(json, "a string or number is longer than %zu bytes", json->size);
		return false;
	}
	length = decompress_read(&json->source, json->end,
				 json->size - (size_t)(json->end - json->buffer));
	if (length < 0) {
		unreadable(json, (int)length);
		return false;
	}
	json->end += length;
	*json->end = '\0';
	json->ended = !length;
	return length > 0;
}

int json_open(struct json *json, int fd, const char *name)
{
	*json = (struct json){ .name = name, .size = BLOCK };
	decompress_open(&json->source, fd);
	json->buffer = malloc(json->size + 1);
	if (!json->buffer)
		return -ENOMEM;
	json->at = json->end = json->buffer;
	*json->end = '\0';
	return 0;
}

void json_close(struct json *json)
{
	free(json->buffer);
	decompress_close(&json->source);
	*json = (struct json){ .name = NULL };
}

uint64_t json_offset(const struct json *json)
{
	const char *at = json->token ? json->token : json->at;

	return json->passed + (uint64_t)(at - json->buffer);
}

int json_fail(struct json *json, const char *format, ...)
{
	char what[512];
	va_list arguments;

	if (json->failed)
		return -EINVAL;
	json->failed = true;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return err("%s: byte %llu: %s", json->name, (unsigned long long)json_offset(json), what);
}

static enum json_token refuse_token(struct json *json, const char *wanted)
{
	unsigned char c = (unsigned char)*json->at;

	json->token = NULL;
	if (json->failed)
		return JSON_ERROR;
	if (json->at == json->end) {
		json->truncated = true;
		json_fail(json, "the file ends where %s is expected", wanted);
	} else if (c > ' ' && c < 0x7f) {
		json_fail(json, "found '%c' where %s is expected", c, wanted);
	} else {
		json_fail(json, "found byte 0x%02x where %s is expected", c, wanted);
	}
	return JSON_ERROR;
}

/* Skips blanks. Returns the byte after them; NUL at the end of the document or after an error. */
static inline char peek(struct json *json)
{
	for (;;) {
		char c = *json->at;

		if ((unsigned char)c > ' ')
			return c;
		if (c == ' ' || c == '\n' || c == '\r' || c == '\t')
			json->at++;
		else if (json->at < json->end || !json_more(json))
			return c;
	}
}

/* Reads until the buffer has `length` bytes from `at` on. False if the file ends or fails first. */
static bool holds_length(struct json *json, size_t length)
{
	while ((size_t)(json->end - json->at) < length) {
		if (!json_more(json))
			return false;
	}
	return true;
}

/* 1 for bytes that need no escape in a string: all but controls, the quote and the backslash. */
static const unsigned char plain[256] = {
	[0x20 ... 0x21] = 1,
	[0x23 ... 0x5b] = 1,
	[0x5d ... 0xff] = 1,
};

/* Reads a string whose opening quote is at `at`. Returns 0 or -EINVAL. */
static int string(struct json *json)
{
	bool escapes = false;
	size_t i = 1;

	json->token = json->at;
	for (;;) {
		const char *p = json->at + i;

		while (plain[(unsigned char)*p])
			p++;
		i = (size_t)(p - json->at);
		if (*p == '"')
			break;
		if (*p == '\\' && p + 1 < json->end) {
			escapes = true;
			i += 2;
			continue;
		}
		if (p < json->end && *p != '\\')
			return json_fail(json, "unescaped control character in a string");
		if (i > JSON_LONGEST)
			return json_fail(json, "a string is longer than %d bytes", JSON_LONGEST);
		if (json_more(json))
			continue;
		json->truncated |= !json->failed;
		return json_fail(json, "the file ends inside a string");
	}
	json->text = json->at + 1;
	json->length = i - 1;
	json->text[json->length] = '\0';
	json->at += i + 1;
	if (escapes && !json_unescape(json))
		return json_fail(json, "invalid escape in a string");
	return 0;
}

/* Reads a number of any form. number() itself reads only the most frequent forms. */
static int slow_number(struct json *json)
{
	char copy[JSON_LONGEST_NUMBER + 1];
	size_t length = 0;

	for (;;) {
		while (strchr("+-.eE0123456789", json->at[length]) && json->at[length])
			length++;
		if (length > JSON_LONGEST_NUMBER)
			return json_fail(json, "a number is longer than %d digits",
					 JSON_LONGEST_NUMBER);
		if (json->at + length < json->end || !json_more(json))
			break;
	}
	json->text = json->at;
	json->length = length;
	memcpy(copy, json->at, length);
	copy[length] = '\0';
	if (!json_read_number(json, copy)) {
		json->truncated |= json->at + length == json->end && !json->failed;
		return json_fail(json, "invalid number");
	}
	json->at += length;
	return 0;
}

static int number(struct json *json)
{
	const char *p = json->at;
	uint64_t value = 0;

	json->token = json->at;
	while (*p >= '0' && *p <= '9')
		value = value * 10 + (uint64_t)(*p++ - '0');
	/* 18 digits cannot overflow. slow_number() also reads numbers not followed by , } or ]. */
	if (p - json->at > 18 || p == json->at || (*json->at == '0' && p > json->at + 1) ||
	    (*p != ',' && *p != '}' && *p != ']'))
		return slow_number(json);
	json->text = json->at;
	json->length = (size_t)(p - json->at);
	json->exact = true;
	json->negative = false;
	json->magnitude = value;
	json->at += json->length;
	return 0;
}

static enum json_token opened(struct json *json, bool object)
{
	if (json->depth == JSON_DEEPEST) {
		json_fail(json, "arrays and objects nested more than %d levels deep", JSON_DEEPEST);
		return JSON_ERROR;
	}
	json->token = json->at++;
	json->objects &= ~((uint64_t)1 << json->depth);
	json->objects |= (uint64_t)object << json->depth;
	json->depth++;
	json->state = object ? WANT_FIRST_KEY : WANT_FIRST;
	return object ? JSON_OBJECT : JSON_ARRAY;
}

static enum json_token closed(struct json *json, bool object)
{
	json->token = json->at++;
	json->depth--;
	json->state = json->depth ? WANT_SEPARATOR : WANT_NOTHING;
	return object ? JSON_OBJECT_END : JSON_ARRAY_END;
}

static enum json_token literal(struct json *json, const char *word, enum json_token token)
{
	size_t length = strlen(word);

	if (!holds_length(json, length) || memcmp(json->at, word, length) != 0) {
		if (!memcmp(json->at, word,
			    (size_t)(json->end - json->at) < length ? (size_t)(json->end - json->at)
								    : length))
			json->at = json->end;
		return refuse_token(json, "a value");
	}
	json->token = json->at;
	json->at += length;
	return token;
}

static enum json_token value(struct json *json, char c)
{
	enum json_token token;

	switch (c) {
	case '{':
		return opened(json, true);
	case '[':
		return opened(json, false);
	case '"':
		token = string(json) ? JSON_ERROR : JSON_STRING;
		break;
	case 't':
		token = literal(json, "true", JSON_TRUE);
		break;
	case 'f':
		token = literal(json, "false", JSON_FALSE);
		break;
	case 'n':
		token = literal(json, "null", JSON_NULL);
		break;
	default:
		if (c != '-' && (c < '0' || c > '9'))
			return refuse_token(json, "a value");
		token = number(json) ? JSON_ERROR : JSON_NUMBER;
	}
	json->state = json->depth ? WANT_SEPARATOR : WANT_NOTHING;
	return token;
}

static enum json_token key(struct json *json)
{
	if (peek(json) != '"')
		return refuse_token(json, "a key");
	if (string(json))
		return JSON_ERROR;
	json->state = WANT_VALUE;
	if (*json->at != ':' && peek(json) != ':')
		return refuse_token(json, "a colon");
	json->text = json->token + 1; /* peek() may have moved the buffer's contents */
	json->at++;
	return JSON_KEY;
}

static inline bool in_object(const struct json *json)
{
	return json->depth && json->objects >> (json->depth - 1) & 1;
}

bool json_take_key(struct json *json, const char *text, size_t length)
{
	size_t comma = json->state != WANT_FIRST_KEY;

	length -= 1 - comma;
	if ((comma && json->state != WANT_SEPARATOR) || !in_object(json) ||
	    (size_t)(json->end - json->at) < length || json->failed ||
	    memcmp(json->at, text + 1 - comma, length) != 0)
		return false;
	json->at += length;
	json->state = WANT_VALUE;
	return true;
}

enum json_token json_next(struct json *json)
{
	bool object = in_object(json);
	char c;

	if (json->failed)
		return JSON_ERROR;
	json->token = NULL;
	c = peek(json);
	switch ((enum json_state)json->state) {
	case WANT_SEPARATOR:
		if (c == (object ? '}' : ']'))
			return closed(json, object);
		if (c != ',')
			return refuse_token(json, object ? "',' or '}'" : "',' or ']'");
		json->at++;
		return object ? key(json) : value(json, peek(json));
	case WANT_FIRST_KEY:
		return c == '}' ? closed(json, true) : key(json);
	case WANT_FIRST:
		return c == ']' ? closed(json, false) : value(json, c);
	case WANT_VALUE:
		return value(json, c);
	case WANT_NOTHING:
		break;
	}
	if (json->at == json->end && !json->failed)
		return JSON_END;
	return refuse_token(json, "the end of the file");
}
