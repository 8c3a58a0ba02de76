/* Decodes strings and numbers of JSON; skips, copies and finds values. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/json.h"
#include "base/text/out.h"
#include "base/text/utf8.h"

static bool hex4(const char *p, uint32_t *value)
{
	*value = 0;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		char lower = (char)(c | 0x20);

		if (c >= '0' && c <= '9')
			*value = *value << 4 | (uint32_t)(c - '0');
		else if (lower >= 'a' && lower <= 'f')
			*value = *value << 4 | (uint32_t)(lower - 'a' + 10);
		else
			return false;
	}
	return true;
}

/* Decodes \uXXXX or a surrogate pair; p is after the first u. Returns the end; NULL if invalid. */
static const char *unicode(const char *p, uint32_t *c)
{
	uint32_t low;

	if (!hex4(p, c))
		return NULL;
	p += 4;
	if ((*c & 0xfc00) == 0xd800 && p[0] == '\\' && p[1] == 'u' && hex4(p + 2, &low) &&
	    (low & 0xfc00) == 0xdc00) {
		*c = 0x10000 + ((*c & 0x3ff) << 10) + (low & 0x3ff);
		p += 6;
	}
	if (!*c || (*c & 0xfffff800) == 0xd800)
		*c = 0xfffd;
	return p;
}

/* Expects a NUL after the text, at which hex4() stops. */
bool json_unescape(struct json *json)
{
	static const char from[] = "\"\\/bfnrt";
	static const char to[] = "\"\\/\b\f\n\r\t";
	const char *p = json->text;
	const char *end = p + json->length;
	char *write = json->text;

	while (p < end) {
		const char *known;
		uint32_t c;

		if (*p != '\\') {
			*write++ = *p++;
			continue;
		}
		known = strchr(from, p[1]);
		if (known) {
			*write++ = to[known - from];
			p += 2;
			continue;
		}
		p = p[1] == 'u' ? unicode(p + 2, &c) : NULL;
		if (!p)
			return false;
		write += utf8_encode(write, UTF8_MOST, c); /* never longer than its escape */
	}
	*write = '\0';
	json->length = (size_t)(write - json->text);
	return true;
}

static const char *pass_digits(const char *p)
{
	size_t n = strspn(p, "0123456789");

	return n ? p + n : NULL;
}

bool json_read_number(struct json *json, const char *text)
{
	const char *p = text + (*text == '-');
	const char *end = pass_digits(p);
	bool integer = end && !*end;

	if (!end || (*p == '0' && end > p + 1))
		return false;
	if (*end == '.')
		end = pass_digits(end + 1);
	if (end && (*end | 0x20) == 'e') {
		end++;
		end = pass_digits(end + (*end == '+' || *end == '-'));
	}
	if (!end || *end)
		return false;
	errno = 0;
	json->negative = *text == '-';
	json->magnitude = strtoull(p, NULL, 10);
	json->exact =
		integer && !errno && (!json->negative || json->magnitude <= (uint64_t)1 << 63);
	if (!json->exact)
		json->real = strtod(text, NULL);
	return true;
}

int json_skip(struct json *json, enum json_token token)
{
	unsigned depth = json->depth;

	if (token == JSON_ERROR)
		return -EINVAL;
	if (token != JSON_OBJECT && token != JSON_ARRAY)
		return 0;
	while (json->depth >= depth) {
		if (json_next(json) <= JSON_END)
			return -EINVAL;
	}
	return 0;
}

static void copy_token(const struct json *json, enum json_token token, struct out *out)
{
	static const char *const words[] = {
		[JSON_OBJECT] = "{",    [JSON_OBJECT_END] = "}", [JSON_ARRAY] = "[",
		[JSON_ARRAY_END] = "]", [JSON_TRUE] = "true",    [JSON_FALSE] = "false",
		[JSON_NULL] = "null",
	};

	switch (token) {
	case JSON_KEY:
	case JSON_STRING:
		out_json_n(out, json->text, json->length);
		if (token == JSON_KEY)
			out_char(out, ':');
		break;
	case JSON_NUMBER:
		out_bytes(out, json->text, json->length);
		break;
	default:
		out_text(out, words[token]);
	}
}

int json_copy(struct json *json, enum json_token token, struct out *out)
{
	unsigned depth = json->depth;
	bool opens = token == JSON_OBJECT || token == JSON_ARRAY;
	bool first = true;

	if (token == JSON_ERROR)
		return -EINVAL;
	copy_token(json, token, out);
	while (opens && json->depth >= depth) {
		bool behind_key = token == JSON_KEY;

		first = token == JSON_OBJECT || token == JSON_ARRAY;
		token = json_next(json);
		if (token <= JSON_END)
			return -EINVAL;
		if (!first && !behind_key && token != JSON_OBJECT_END && token != JSON_ARRAY_END)
			out_char(out, ',');
		copy_token(json, token, out);
	}
	return 0;
}

bool json_find_line(struct json *json, const char *text)
{
	size_t length = strlen(text);

	json->token = NULL;
	while (!json->failed) {
		char *found = memmem(json->at, (size_t)(json->end - json->at), text, length);
		char *line;

		if (found) {
			line = memrchr(json->at, '\n', (size_t)(found - json->at));
			json->at = line ? line + 1 : json->at;
			json->at += *json->at == ','; /* some programs write the comma first */
			json->state = WANT_VALUE;
			return true;
		}
		/* Drops the bytes before the last line break: no match contains a line break. */
		line = memrchr(json->at, '\n', (size_t)(json->end - json->at));
		json->at = line ? line : json->at;
		if (json->end - json->at > JSON_LONGEST)
			json_fail(json, "a line is longer than %d bytes", JSON_LONGEST);
		else if (!json_more(json))
			break;
	}
	return false;
}
