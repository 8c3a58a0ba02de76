/* Trends in live bytes: Mann and Kendall's test, Theil and Sen's slope, the lower envelope. */
#include "analyse/findings/growth.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem/sort.h"

#define GROWTH_SURE 0.01 /* a trend with a higher p-value is ignored */

size_t growth_warm(size_t n)
{
	return n / 5 > 2 ? n / 5 : 2;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void growth_sort(uint64_t *values, size_t count)
{
	static const struct sort_key up[] = { { 0, sizeof(*values), SORT_RISES }, { 0 } };

	sort_rows(values, count, sizeof(*values), up);
}

/* Kendall's S: the number of pairs of values that rise, minus the number of those that fall. */
static int64_t rises_less_falls(const uint64_t *v, size_t n)
{
	int64_t s = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; k < n; k++)
			s += (v[k] > v[i]) - (v[k] < v[i]);
	}
	return s;
}

/* The variance of S without a trend, with ties (Kendall, Rank Correlation Methods, 1975). */
static double variance(const uint64_t *v, size_t n)
{
	uint64_t sorted[GROWTH_MOST];
	double m = (double)n;
	double sum = m * (m - 1) * (2 * m + 5);

	for (size_t i = 0; i < n; i++)
		sorted[i] = v[i];
	growth_sort(sorted, n);
	for (size_t i = 0, k; i < n; i = k) {
		double tied;

		for (k = i; k < n && sorted[k] == sorted[i];)
			k++;
		tied = (double)(k - i);
		sum -= tied * (tied - 1) * (2 * tied + 5);
	}
	return sum / 18;
}

static double slope(const uint64_t *v, size_t n)
{
	static double slopes[GROWTH_MOST * GROWTH_MOST / 2];
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; k < n; k++)
			slopes[count++] = ((double)v[k] - (double)v[i]) / (double)(k - i);
	}
	qsort(slopes, count, sizeof(*slopes), by_value);
	return count % 2 ? slopes[count / 2] : (slopes[count / 2 - 1] + slopes[count / 2]) / 2;
}

static uint64_t lowest(const uint64_t *v, size_t from, size_t to)
{
	uint64_t low = v[from];

	for (size_t i = from; i < to; i++)
		low = v[i] < low ? v[i] : low;
	return low;
}

/* True if the lower envelope (at each time, the lowest value from then on) rises in each of the
 * first three quarters: by at least half of what the slope promises, and of the rise in the
 * steepest of these quarters. climbs_to_the_end() tests the last quarter. */
static bool climbs_throughout(const uint64_t *v, size_t n, double per_value)
{
	double promised = per_value * (double)n / GROWTH_QUARTERS;
	double most = 0;
	double least = promised * 2;
	uint64_t before = lowest(v, 0, n);

	for (size_t q = 1; q < GROWTH_QUARTERS; q++) {
		uint64_t low = lowest(v, q * n / GROWTH_QUARTERS, n);
		double climb = (double)low - (double)before;

		most = climb > most ? climb : most;
		least = climb < least ? climb : least;
		before = low;
	}
	return least >= promised / 2 && least >= most / 2;
}

/* True if the series rose over its last eighth or, if longer, twice the mean time between rises. */
static bool climbs_to_the_end(const uint64_t *v, size_t n, uint64_t rose)
{
	size_t back = 2 * n / (rose ? rose : 1);

	if (back < n / 8)
		back = n / 8;
	if (back >= n)
		back = n - 1;
	return v[n - 1] > v[n - 1 - back];
}

/* True if rises become rarer, as in a cache that fills up. Laplace's test: the mean position of the
 * rises lies more than one standard deviation before the middle of the series. */
static bool slows_down(const uint64_t *v, size_t n)
{
	double sum = 0;
	double rises = 0;

	for (size_t i = 1; i < n; i++) {
		if (v[i] <= v[i - 1])
			continue;
		sum += (double)i;
		rises++;
	}
	return sum / rises < (double)n / 2 - (double)n / sqrt(12 * rises);
}

static size_t rises_wanted(size_t n)
{
	return n * 4 / 5 < 10 ? n * 4 / 5 : 10;
}

/* True if enough bytes allocated in each of the first three quarters are live at the end. */
static bool keeps_every_age(const uint64_t *born, size_t n, double per_value)
{
	double promised = per_value * (double)n / GROWTH_QUARTERS;

	for (size_t q = 0; born && q + 1 < GROWTH_QUARTERS; q++) {
		if ((double)born[q] < 0.4 * promised)
			return false;
	}
	return born != NULL;
}

static bool hardly_falls(const uint64_t *v, size_t n)
{
	double up = 0;
	double down = 0;

	for (size_t i = 1; i < n; i++) {
		double change = (double)v[i] - (double)v[i - 1];

		up += change > 0 ? change : 0;
		down -= change < 0 ? change : 0;
	}
	return down <= up / 10;
}

static double one_sided(int64_t s, double of)
{
	if (s <= 0 || of <= 0)
		return 1;
	return 0.5 * erfc(((double)s - 1) / sqrt(of) / sqrt(2));
}

void growth_find(struct growth_trend *trend, const uint64_t *live, size_t n, const uint64_t *born,
		 uint64_t tried)
{
	size_t warm = growth_warm(n);
	const uint64_t *v = live + warm;
	int64_t s;

	*trend = (struct growth_trend){ .p = 1 };
	if (n < GROWTH_LEAST || n > GROWTH_MOST)
		return;
	n -= warm;
	trend->values = n;
	for (size_t i = 1; i < n; i++)
		trend->rose += v[i] > v[i - 1];
	if (trend->rose < rises_wanted(n) ||
	    v[n - 1] <= v[0]) /* a cheap test, which rejects nearly all series */
		return;
	s = rises_less_falls(v, n);
	trend->tau = (double)s / ((double)n * (double)(n - 1) / 2);
	trend->p = one_sided(s, variance(v, n)) * (double)(tried ? tried : 1);
	if (trend->p > GROWTH_SURE)
		return;
	trend->slope = slope(v, n);
	if (trend->slope <= 0) /* with few rises the median is 0: use the mean slope */
		trend->slope = (double)(v[n - 1] - v[0]) / (double)(n - 1);
	trend->bytes = v[n - 1] - v[0];
	trend->grows = climbs_throughout(v, n, trend->slope) && !slows_down(v, n) &&
		       climbs_to_the_end(v, n, trend->rose) &&
		       (keeps_every_age(born, n, trend->slope) || hardly_falls(v, n));
}
