/*
 * The figures that gates and budgets are about: metrics.def, narrowed by metric_filters.def.
 *
 * A metric has a figure for each place that the narrowing leaves: each device, each matching pool
 * of each device, each matching phase. The gate decides which of them matters.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/compare/run_totals.h"

enum metric_id {
#define METRIC(id, name, what, bytes, by) METRIC_##id,
#include "analyse/compare/metrics.def"
#undef METRIC
	METRIC_IDS
};

enum narrowing {
#define NARROWING(id, key, what) NARROWING_##id,
#include "analyse/compare/metric_filters.def"
#undef NARROWING
	NARROWINGS
};

struct metric_row {
	const char *name, *what;
	bool bytes;
	unsigned by; /* bit NARROWING_x */
};

struct narrowing_row {
	const char *key, *what;
};

/* Each ended by a row without a name. */
extern const struct metric_row metric_rows[METRIC_IDS + 1];
extern const struct narrowing_row narrowing_rows[NARROWINGS + 1];

struct metric_query {
	enum metric_id metric;
	const char *by[NARROWINGS]; /* NULL where not narrowed */
};

enum { FIGURE_PLACE = 128 };

struct figure {
	char place[FIGURE_PLACE]; /* "device 0", "phase step" */
	int64_t *values;          /* by run; 0 in one without the place */
};

/* Of several runs: the places of the first, then those that the others have besides. */
struct figures {
	struct figure *list;
	size_t count, size;
	size_t runs, read; /* runs that there is room for, and that were read */
	size_t told;       /* values that they had */
	struct arena arena;
};

/* The metric of one phase, TRACE_NONE if phases do not have it or the trace does not record it. */
uint64_t metric_of_phase(const struct trace_phase *phase, enum metric_id metric);

/* Reads the figures of one run more, none when nothing matches. The first call takes figures that
 * are all 0 but for `runs`. */
void figures_add(struct figures *figures, const struct run *run, const struct metric_query *query);
void figures_clear(struct figures *figures);

/* Sorts the values; of an even number the median is the lower one, of none 0. */
int64_t median_of(int64_t *values, size_t count);
