/*
 * Does a series of live bytes, one value a phase, keep rising? And by how much, and how sure is
 * that?
 *
 * Growth is what goes on: a trend (Mann-Kendall's test) whose lower envelope climbs in every
 * quarter of the time alike, to the very end. So what happens once (lazy state), what fills up
 * (caches), what goes round (epochs, evaluation) and what scatters (batch sizes, shuffled data) is
 * none, whatever its size. And since such tests believe in values that do not depend on their
 * predecessors, which a queue's length does, there must be a witness besides: either memory of
 * every age is still there at the end (a leak, a list), or the series hardly ever falls (one
 * buffer, made larger and larger).
 *
 * Pure arithmetic: the values come from analyse/findings/event_scan.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	GROWTH_LEAST = 12, /* values that it takes to say anything */
	GROWTH_MOST = 128, /* values of a series */
	GROWTH_QUARTERS = 4,
};

struct growth_trend {
	bool grows;
	double slope;    /* bytes a value (Theil and Sen: the median of all pairs' slopes) */
	double tau;      /* Kendall's: 1 when each later value is higher, 0 without a trend */
	double p;        /* that chance made it, one-sided; more than 1 when others were tried */
	uint64_t rose;   /* values that are higher than the one before */
	uint64_t values; /* of those looked at, warm-up left out */
	uint64_t bytes;  /* what it grew by, from the first of them to the last */
};

void growth_sort(uint64_t *values, size_t count);

/* The first value behind the warm-up of n. */
size_t growth_warm(size_t n);

/*
 * `live` is a series of n values. `born`, NULL without, is how much of what lives behind the last
 * value was born in each quarter of the time behind the warm-up. `tried` is how many series are
 * looked at together: the more there are, the rarer must be what is believed.
 */
void growth_find(struct growth_trend *trend, const uint64_t *live, size_t n, const uint64_t *born,
		 uint64_t tried);
