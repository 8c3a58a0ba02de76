/*
 * The values that gates and budgets test: a metric (metrics.def) with filters (metric_filters.def).
 *
 * A metric has a value for each place that the filters let through: each device, each matching pool
 * of each device, or each matching phase. The gate uses the worst of these values.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/compare/run_totals.h"

enum metric_id {
#define METRIC(id, name, what, bytes, column, by) METRIC_##id,
#include "analyse/compare/metrics.def"
	METRIC_IDS
};

enum narrowing {
#define NARROWING(id, key, what) NARROWING_##id,
#include "analyse/compare/metric_filters.def"
	NARROWINGS
};

struct metric_row {
	const char *name, *what;
	bool bytes;
	enum column column; /* the column of sites that holds the metric, or COLUMN_NONE */
	unsigned by;        /* bit NARROWING_x is set if the metric can be filtered by x */
};

struct narrowing_row {
	const char *key, *what;
};

/* Both tables end with a row whose texts are NULL. */
extern const struct metric_row metric_rows[METRIC_IDS + 1];
extern const struct narrowing_row narrowing_rows[NARROWINGS + 1];

struct metric_query {
	enum metric_id metric;
	const char *by[NARROWINGS]; /* the value of each filter, NULL if it is not used */
};

enum { FIGURE_PLACE = 128 };

struct figure {
	char place[FIGURE_PLACE]; /* the device, pool, phase, ...: "device 0", "phase step" */
	int64_t *values;          /* one per run; 0 for a run without this device, pool, ... */
};

/* A metric's values in several runs: one list[] entry for each place (device, pool, phase, ...). */
struct figures {
	struct figure *list;
	size_t count, size;
	size_t runs, read; /* number of runs in all, and of runs read so far */
	size_t told;       /* number of values found in the runs read so far */
	struct arena arena;
};

/* Returns the key of the query's first filter, or NULL if the query has no filter. */
const char *metric_narrowing(const struct metric_query *query);

/* Returns the pattern for memory kinds, by default "device", or "cpu" if the run has no devices. */
const char *metric_space(const struct metric_query *query, const struct run *run);

/* True if the pattern of the filter "site" matches the name. As names of sites are long, a pattern
 * without * and ? needs to match only a part of the name. */
bool site_matches(const char *pattern, const char *name);

/* Returns the metric's value in one phase, TRACE_NONE if there is none. */
uint64_t metric_of_phase(const struct trace_phase *phase, enum metric_id metric);

/* Adds the values of one run, if any. Before the first call, all members but `runs` must be 0. */
void figures_add(struct figures *figures, const struct run *run, const struct metric_query *query);
void figures_clear(struct figures *figures);

/* Sorts the values and returns their median: the mean of the middle two, rounded down, if `count`
 * is even, and 0 if there are no values. */
int64_t median_of(int64_t *values, size_t count);
