/*
 * Decides whether a series of live bytes, one value a phase, keeps rising, by how much, and how
 * sure that is.
 *
 * Growth is a trend (Mann-Kendall's test) whose lower envelope climbs in every quarter of the time
 * alike, to the very end. So memory that is taken once (lazy state), caches that fill up, cycles
 * (epochs, evaluation) and scatter (batch sizes, shuffled data) are none, whatever their size. Such
 * tests assume that values do not depend on their predecessors, which the length of a queue does.
 * So there must be further evidence: either memory of every age is still there at the end (a leak,
 * a list), or the series hardly ever falls (one buffer, made larger and larger).
 *
 * Pure arithmetic: the values come from analyse/findings/event_scan.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GROWTH_LEAST = 12, /* fewer values decide nothing */
	GROWTH_MOST = 128, /* longer series are not tested */
	GROWTH_QUARTERS = 4,
};

struct growth_trend {
	bool grows;
	double slope;    /* bytes a value (Theil and Sen: the median of all pairs' slopes) */
	double tau;      /* Kendall's: 1 when each later value is higher, 0 without a trend */
	double p;        /* p-value, one-sided; may exceed 1 when several series were tested */
	uint64_t rose;   /* values that are higher than the one before */
	uint64_t values; /* of those tested, warm-up left out */
	uint64_t bytes;  /* the growth from the first of them to the last */
};

void growth_sort(uint64_t *values, size_t count);

/* The first value after the warm-up of n. */
size_t growth_warm(size_t n);

/*
 * `live` is a series of n values. `born`, NULL without, holds the bytes alive after the last value
 * that were allocated in each quarter of the time after the warm-up. `tried` is the number of
 * series that are tested together: the more there are, the rarer a result by chance must be.
 */
void growth_find(struct growth_trend *trend, const uint64_t *live, size_t n, const uint64_t *born,
		 uint64_t tried);
