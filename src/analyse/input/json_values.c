/* Whole values of JSON: passing over them, copying them, finding them by their line. */
#include <errno.h>
#include <string.h>

#include "analyse/input/json.h"
#include "base/text/out.h"

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
			json->at += *json->at == ','; /* some writers begin a line with it */
			json->state = WANT_VALUE;
			return true;
		}
		/* What lies before the last line break cannot hold the beginning of a hit. */
		line = memrchr(json->at, '\n', (size_t)(json->end - json->at));
		json->at = line ? line : json->at;
		if (json->end - json->at > JSON_LONGEST)
			json_fail(json, "a line longer than %d bytes", JSON_LONGEST);
		else if (!json_more(json))
			break;
	}
	return false;
}
