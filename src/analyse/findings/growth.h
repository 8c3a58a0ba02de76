/*
 * Decides whether a series of live bytes, one value per step, keeps rising, and how fast.
 *
 * Growth is a trend (Mann-Kendall's test) whose lower envelope climbs evenly in the first three
 * quarters of the time, and which rises to the end. So memory that is allocated once at first use,
 * caches that fill up, cycles (epochs, evaluation) and scatter (batch sizes, shuffled data) are not
 * growth, whatever their size. Tests for trends assume that values do not depend on earlier values,
 * but the length of a queue does. So growth needs further evidence: either memory of every age is
 * still live at the end (a leak, a list), or the series hardly falls (a buffer made larger).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GROWTH_LEAST = 12, /* with fewer values, no growth is reported */
	GROWTH_MOST = 128, /* no growth is reported for more values: the buffers have this size */
	GROWTH_QUARTERS = 4,
};

struct growth_trend {
	bool grows;
	double slope;    /* bytes per value: the median of all pairs' slopes (Theil and Sen) */
	double tau;      /* Kendall's tau: 1 if all values rise, 0 without a trend */
	double p;        /* one-sided p-value times growth_find()'s `tried`, so it may be above 1 */
	uint64_t rose;   /* number of values that are higher than the value before */
	uint64_t values; /* number of values after the warm-up */
	uint64_t bytes;  /* growth from the first value after the warm-up to the last */
};

void growth_sort(uint64_t *values, size_t count);

/* Returns the length of the warm-up in a series of n values: a fifth of n, and at least 2. */
size_t growth_warm(size_t n);

/*
 * Tests the series `live` of n values. born[q] (if not NULL) is the number of bytes that were
 * allocated in quarter q of the time after the warm-up and are live after the last value. `tried`
 * is the number of series tested together: the more there are, the smaller a p-value must be.
 */
void growth_find(struct growth_trend *trend, const uint64_t *live, size_t n, const uint64_t *born,
		 uint64_t tried);
