#include "analyse/categories/glob.h"

#include <stddef.h>
#include <string.h>

static bool fits_pattern(const char *pattern, const char *end, const char *text)
{
	const char *star = NULL;
	const char *again = NULL;

	while (*text) {
		if (pattern < end && *pattern == '*') {
			star = pattern++;
			again = text;
		} else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

bool pattern_fits(const char *pattern, const char *text)
{
	return fits_pattern(pattern, pattern + strlen(pattern), text);
}

bool pattern_any_fits(const char *patterns, const char *text)
{
	while (text && patterns) {
		const char *end = strchr(patterns, '|');

		if (fits_pattern(patterns, end ? end : patterns + strlen(patterns), text))
			return true;
		patterns = end ? end + 1 : NULL;
	}
	return false;
}
