/*
 * The head's figures as github-action-benchmark reads them (tool: customSmallerIsBetter): an array
 * of {name, unit, value, range, extra}.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/compare/median.h"
#include "analyse/input/error.h"
#include "render/compare/diff.h"
#include "render/emit/term.h"

/* Repetitions of the head's run; of a job's ranks the one that is shown. */
static size_t runs_of(const struct diff *diff, const struct run **runs)
{
	*runs = diff->pairs_n ? diff_head(diff) : diff->head.runs;
	return diff->pairs_n ? 1 : diff->head.count;
}

static int read_place(const struct diff *diff, const struct metric_query *query, const char *place,
		      int64_t *values)
{
	const struct run *runs;
	size_t count = runs_of(diff, &runs);

	for (size_t i = 0; i < count; i++) {
		struct figures figures;
		const struct figure *figure;
		int error = figures_read(&figures, &runs[i], query);

		figure = figures_find(&figures, place);
		values[i] = figure ? figure->value : 0;
		figures_clear(&figures);
		if (error)
			return error;
	}
	return 0;
}

static void entry(const struct diff *diff, struct out *out, const char **comma,
		  const struct metric_query *query, const char *place, int64_t *values)
{
	const struct metric_row *metric = &metric_rows[query->metric];
	const struct run *runs;
	size_t count = runs_of(diff, &runs);
	int64_t median = median_of(values, count);
	char name[64 + FIGURE_PLACE];

	/* A name says which figure it is, on and on: places are the same in every run. */
	snprintf(name, sizeof(name), "%s (%s)", metric->name, place);
	out_text(out, *comma);
	*comma = ",\n";
	out_text(out, "{\"name\":");
	out_json(out, name);
	out_text(out, metric->bytes ? ",\"unit\":\"bytes\",\"value\":"
				    : ",\"unit\":\"allocations\",\"value\":");
	out_i64(out, median);
	if (count > 1)
		out_format(out, ",\"range\":\"\u00b1 %lld\"",
			   (long long)(values[count - 1] - values[0]));
	out_text(out, ",\"extra\":");
	out_json(out, metric->what);
	out_char(out, '}');
}

/* The figures of the query in every place of the middle run. */
static int entries(const struct diff *diff, struct out *out, const char **comma,
		   const struct metric_query *query)
{
	int64_t *values = calloc(diff->head.count + 1, sizeof(*values));
	struct figures figures;
	int error = values ? figures_read(&figures, diff_head(diff), query) : err("no memory left");

	if (!values)
		return error;
	for (size_t i = 0; !error && i < figures.count; i++) {
		error = read_place(diff, query, figures.list[i].place, values);
		if (!error)
			entry(diff, out, comma, query, figures.list[i].place, values);
	}
	figures_clear(&figures);
	free(values);
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
