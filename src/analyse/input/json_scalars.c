/* Strings and numbers of JSON: escapes to UTF-8, forms, exact integers. */
#include <stdint.h>
#include <string.h>

#include "analyse/input/json.h"
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

/* Reads \uXXXX, and its second half where it is a pair; p stands behind the u. The end, or NULL. */
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

/* The text ends with a NUL, at which hex4() stops. */
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
		write += utf8_encode(write, UTF8_MOST, c); /* shorter than its escape */
	}
	*write = '\0';
	json->length = (size_t)(write - json->text);
	return true;
}

static size_t digits(const char *p)
{
	size_t n = 0;

	while (p[n] >= '0' && p[n] <= '9')
		n++;
	return n;
}

bool json_number_form(const char *p, size_t length, bool *integer)
{
	const char *end = p + length;
	size_t n;

	p += *p == '-';
	n = digits(p);
	if (!n || (n > 1 && *p == '0'))
		return false;
	p += n;
	*integer = p == end;
	if (p < end && *p == '.') {
		n = digits(++p);
		if (!n)
			return false;
		p += n;
	}
	if (p < end && (*p | 0x20) == 'e') {
		p++;
		p += *p == '+' || *p == '-';
		n = digits(p);
		if (!n)
			return false;
		p += n;
	}
	return p == end;
}

bool json_exact(struct json *json)
{
	uint64_t limit = json->negative ? (uint64_t)1 << 63 : UINT64_MAX;
	uint64_t value = 0;

	for (size_t i = json->negative; i < json->length; i++) {
		uint64_t digit = (uint64_t)(json->text[i] - '0');

		if (value > (limit - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	json->magnitude = value;
	return true;
}
