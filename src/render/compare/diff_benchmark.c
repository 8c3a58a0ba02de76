/*
 * The head's figures as github-action-benchmark reads them (tool: customSmallerIsBetter): an array
 * of {name, unit, value, range, extra}.
 */
#include <stdio.h>

#include "analyse/input/error.h"
#include "render/compare/diff.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"

struct benchmark_row {
	const char *name, *unit, *range, *extra; /* range: NULL for a single run */
	int64_t value;
};

static const struct emit_column columns[] = {
	EMIT_MEMBER("name", TEXT, struct benchmark_row, name),
	EMIT_MEMBER("unit", TEXT, struct benchmark_row, unit),
	EMIT_MEMBER("value", CHANGE, struct benchmark_row, value),
	EMIT_IF_KNOWN("range", TEXT, struct benchmark_row, range),
	EMIT_MEMBER("extra", TEXT, struct benchmark_row, extra),
	EMIT_END,
};

static void entry(struct out *out, const char **comma, const struct metric_row *metric,
		  const struct figures *figures, const struct figure *figure)
{
	struct benchmark_row row = { .unit = metric->bytes ? "bytes" : "allocations",
				     .extra = metric->what };
	size_t count = figures->runs;
	char name[64 + FIGURE_PLACE];
	char range[40];

	/* A name says which figure it is, on and on: places are the same in every run. */
	snprintf(name, sizeof(name), "%s (%s)", metric->name, figure->place);
	row.name = name;
	row.value = median_of(figure->values, count);
	snprintf(range, sizeof(range), "\u00b1 %lld",
		 (long long)(figure->values[count - 1] - figure->values[0]));
	row.range = count > 1 ? range : NULL;
	out_text(out, *comma);
	*comma = ",\n";
	emit_json(out, columns, &row);
}

/* The figures of the query in every place of the middle run, with those of its repetitions. */
static int entries(const struct diff *diff, struct out *out, const char **comma,
		   const struct metric_query *query)
{
	struct figures figures = { .runs = diff->pairs_n ? 1 : diff->head.count };
	int error = figures_add(&figures, diff_head(diff), query);
	size_t places = figures.count;

	for (size_t i = 0; !error && !diff->pairs_n && i < diff->head.count; i++) {
		if (i != diff->head.middle)
			error = figures_add(&figures, &diff->head.runs[i], query);
	}
	for (size_t i = 0; !error && i < places; i++)
		entry(out, comma, &metric_rows[query->metric], &figures, &figures.list[i]);
	figures_clear(&figures);
	return error;
}

static bool is_narrowed(const struct metric_query *query)
{
	for (size_t i = 0; i < NARROWINGS; i++) {
		if (query->by[i])
			return true;
	}
	return false;
}

int diff_benchmark(struct diff *diff, struct out *out, const struct diff_options *options)
{
	static const enum metric_id always[] = { METRIC_ALLOCATED_PEAK, METRIC_ALLOCATED_EXIT,
						 METRIC_RESERVED_PEAK, METRIC_COUNT };
	const char *comma = "\n";
	int error = 0;

	(void)options;
	out_char(out, '[');
	for (size_t i = 0; !error && i < sizeof(always) / sizeof(always[0]); i++) {
		const struct metric_query query = { .metric = always[i] };

		error = entries(diff, out, &comma, &query);
	}
	for (size_t i = 0; !error && i < diff->gates_n; i++) {
		if (is_narrowed(&diff->gates[i].gate->query))
			error = entries(diff, out, &comma, &diff->gates[i].gate->query);
	}
	out_text(out, "]\n");
	return error;
}
