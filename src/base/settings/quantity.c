/* Parses sizes and times as people type them: a number, a fraction, blanks, a unit. */
#include "base/settings/quantity.h"

#include <stddef.h>

#include "base/guest/start.h"
#include "base/mem/each.h"

#define SIZES (QUANTITY_SETTING | QUANTITY_SIZE)

START_CONST static const struct {
	char name[7];
	uint8_t kinds;
	uint64_t factor;
} units[] = {
	{ "B", SIZES, 1 },
	{ "K", SIZES, 1ull << 10 },
	{ "M", SIZES, 1ull << 20 },
	{ "G", SIZES, 1ull << 30 },
	{ "T", SIZES, 1ull << 40 },
	{ "KiB", SIZES, 1ull << 10 },
	{ "MiB", SIZES, 1ull << 20 },
	{ "GiB", SIZES, 1ull << 30 },
	{ "TiB", SIZES, 1ull << 40 },
	{ "KB", QUANTITY_SETTING, 1ull << 10 },
	{ "MB", QUANTITY_SETTING, 1ull << 20 },
	{ "GB", QUANTITY_SETTING, 1ull << 30 },
	{ "TB", QUANTITY_SETTING, 1ull << 40 },
	{ "KB", QUANTITY_SIZE, 1000 },
	{ "MB", QUANTITY_SIZE, 1000000 },
	{ "GB", QUANTITY_SIZE, 1000000000 },
	{ "TB", QUANTITY_SIZE, 1000000000000 },
	{ "ns", QUANTITY_TIME, 1 },
	{ "us", QUANTITY_TIME, 1000 },
	{ "ms", QUANTITY_TIME, 1000000 },
	{ "s", QUANTITY_TIME | QUANTITY_AGE, 1000000000 },
	{ "sec", QUANTITY_TIME, 1000000000 },
	{ "m", QUANTITY_TIME, 60000000000 },
	{ "min", QUANTITY_TIME | QUANTITY_AGE, 60000000000 },
	{ "h", QUANTITY_TIME | QUANTITY_AGE, 3600000000000 },
	{ "d", QUANTITY_AGE, 86400000000000 },
};

START_CODE static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Returns the length of the unit `name` if the text begins with it, else 0. In sizes, upper and
 * lower case are equal. */
START_CODE static size_t fits(const char *text, const char *name, enum quantity_kind kind)
{
	size_t length = 0;

	for (; name[length]; length++) {
		char other = (char)(text[length] ^ name[length]);

		if (other && !(other == 0x20 && kind & SIZES))
			return 0;
	}
	return length;
}

/* Returns the text after the unit; NULL if the kind requires a unit and the text has none. */
START_CODE static const char *read_unit(const char *text, enum quantity_kind kind, uint64_t *factor)
{
	size_t longest = 0;

	*factor = kind & (SIZES | QUANTITY_NUMBER) ? 1 : 0;
	for (size_t i = 0; i < COUNT_OF(units); i++) {
		size_t length = units[i].kinds & kind ? fits(text, units[i].name, kind) : 0;

		if (length <= longest)
			continue;
		longest = length;
		*factor = units[i].factor;
	}
	return *factor ? text + longest : NULL;
}

/* Parses the decimal digits from `text` to `end` and multiplies the number by `factor`. Returns
 * false if the result overflows 64 bits. */
START_CODE static bool read_whole(const char *text, const char *end, uint64_t factor,
				  uint64_t *value)
{
	for (*value = 0; text < end; text++) {
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*text - '0'), value))
			return false;
	}
	return !__builtin_mul_overflow(*value, factor, value);
}

START_CODE const char *quantity_read(const char *text, enum quantity_kind kind, uint64_t *value)
{
	const char *whole = text;
	const char *digits;
	const char *rest;
	uint64_t factor;
	uint64_t part = 0;

	while (is_digit(*whole))
		whole++;
	digits = whole;
	if (*whole == '.') {
		do
			digits++;
		while (is_digit(*digits));
	}
	for (rest = digits; *rest == ' ' || *rest == '\t';)
		rest++;
	rest = read_unit(rest, kind, &factor);
	if (!rest || whole == text || (digits > whole && digits[-1] == '.') ||
	    (digits > whole && kind == QUANTITY_SETTING && factor == 1) ||
	    !read_whole(text, whole, factor, value))
		return NULL;
	/* Adds the fraction, last digit first. Rounding at each digit does not change the result.
	 */
	while (digits > whole + 1)
		part = (part + (uint64_t)(*--digits - '0') * factor) / 10;
	return __builtin_add_overflow(*value, part, value) ? NULL : rest;
}

bool quantity_digits(const char *text, uint64_t *value)
{
	const char *end = text;

	while (is_digit(*end))
		end++;
	return end > text && !*end && read_whole(text, end, 1, value);
}

START_CODE bool quantity_parse(const char *text, enum quantity_kind kind, uint64_t *value)
{
	const char *end = quantity_read(text, kind, value);

	return end && !*end;
}
