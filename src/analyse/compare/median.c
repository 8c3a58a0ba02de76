/* The middle one of several values. */
#include "analyse/compare/median.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int64_t median_of(int64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return count ? values[(count - 1) / 2] : 0;
}
