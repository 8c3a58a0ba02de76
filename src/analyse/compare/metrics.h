/*
 * The values that gates and budgets test: a metric from metrics.def, with filters from
 * metric_filters.def.
 *
 * A metric has a value for each place that the filters leave: each device, each matching pool of
 * each device, each matching phase. The gate decides which of the values counts.
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
	enum column column; /* the column of a site's row that has the metric, or COLUMN_NONE */
	unsigned by;        /* bit NARROWING_x: the metric can be filtered by x */
};

struct narrowing_row {
	const char *key, *what;
};

/* Both tables end with a row without a name. */
extern const struct metric_row metric_rows[METRIC_IDS + 1];
extern const struct narrowing_row narrowing_rows[NARROWINGS + 1];

struct metric_query {
	enum metric_id metric;
	const char *by[NARROWINGS]; /* the value of each filter, NULL if it is not used */
};

enum { FIGURE_PLACE = 128 };

struct figure {
	char place[FIGURE_PLACE]; /* the device, pool, phase, ...: "device 0", "phase step" */
	int64_t *values;          /* one per run; 0 for a run that lacks the place */
};

/* The values of several runs, in the order in which their places were first met. */
struct figures {
	struct figure *list;
	size_t count, size;
	size_t runs, read; /* number of runs: in all, and read so far */
	size_t told;       /* number of values that the runs read so far had */
	struct arena arena;
};

/* The key of the query's first filter, NULL if it has none. */
const char *metric_narrowing(const struct metric_query *query);

/* The query's pattern for memory kinds. By default "device"; "cpu" for a run without devices. */
const char *metric_space(const struct metric_query *query, const struct run *run);

/* True if the pattern of the filter "site" matches the name. As names of sites are long, a pattern
 * without * and ? may match any part of the name. */
bool site_matches(const char *pattern, const char *name);

/* The metric's value in one phase; TRACE_NONE if phases do not have it or the trace lacks it. */
uint64_t metric_of_phase(const struct trace_phase *phase, enum metric_id metric);

/* Adds the values of one run, if any. Before the first call all members but `runs` must be 0. */
void figures_add(struct figures *figures, const struct run *run, const struct metric_query *query);
void figures_clear(struct figures *figures);

/* Sorts the values and returns the median: of an even number the mean of the middle two, rounded
 * down, of none 0. */
int64_t median_of(int64_t *values, size_t count);
