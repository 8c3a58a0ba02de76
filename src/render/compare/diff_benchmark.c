/*
 * Writes the head's figures for programs that keep their history: github-action-benchmark (tool:
 * customSmallerIsBetter), and Bencher (its adapter "json", the Bencher Metric Format).
 */
#include <string.h>

#include "base/text/out.h"
#include "render/compare/diff.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"

struct benchmark_row {
	const char *name; /* the same in every run, for a curve over runs; different in each row */
	const char *unit, *extra;
	const char *range;              /* the spread over runs, "± 12"; NULL for a single run */
	int64_t value, lowest, highest; /* lowest, highest: INT64_MIN for a single run */
};

static const struct emit_column benchmark_columns[] = {
	EMIT_FIELD(TEXT, struct benchmark_row, name),
	EMIT_FIELD(TEXT, struct benchmark_row, unit),
	EMIT_FIELD(CHANGE, struct benchmark_row, value),
	EMIT_IF_KNOWN("range", TEXT, struct benchmark_row, range),
	EMIT_FIELD(TEXT, struct benchmark_row, extra),
	EMIT_END,
};

static const struct emit_column benchmark_list[] = {
	{ .kind = EMIT_ROWS, .of = benchmark_columns, .between = "\n" },
	EMIT_END,
};

static const struct emit_column bencher_columns[] = {
	EMIT_FIELD(CHANGE, struct benchmark_row, value),
	EMIT_IF_KNOWN("lower_value", CHANGE, struct benchmark_row, lowest),
	EMIT_IF_KNOWN("upper_value", CHANGE, struct benchmark_row, highest),
	EMIT_END,
};

static bool has_row(const struct emit_rows *rows, const char *name)
{
	const struct benchmark_row *list = rows->rows;
	size_t i = 0;

	while (i < rows->count && strcmp(list[i].name, name) != 0)
		i++;
	return i < rows->count;
}

static void add_entry(struct diff *diff, struct emit_rows *rows, const struct metric_row *metric,
		      const struct figures *figures, const struct figure *figure)
{
	size_t count = figures->runs;
	struct benchmark_row row = {
		.name = show_kept(&diff->arena, "%s (%s)", metric->name, figure->place),
		.unit = metric->bytes ? "bytes" : "allocations",
		.extra = metric->what,
		.value = median_of(figure->values, count),
		.lowest = INT64_MIN,
		.highest = INT64_MIN,
	};

	if (count > 1) {
		row.lowest = figure->values[0];
		row.highest = figure->values[count - 1];
		row.range = show_kept(&diff->arena, "\u00b1 %lld",
				      (long long)(row.highest - row.lowest + 1) / 2);
	}
	if (!has_row(rows, row.name))
		emit_add(&diff->arena, rows, &row);
}

/* Adds a metric's figures of each place (device, pool, ...), with their spread over the runs. */
static void add_entries(struct diff *diff, struct emit_rows *rows, const struct metric_query *query)
{
	struct figures figures = { .runs = diff->pairs_n ? 1 : diff->head.count };
	size_t places;

	figures_add(&figures, diff_head(diff), query);
	places = figures.count;
	for (size_t i = 0; !diff->pairs_n && i < diff->head.count; i++) {
		if (i != diff->head.middle)
			figures_add(&figures, &diff->head.runs[i], query);
	}
	foreach (row, figures.list, places)
		add_entry(diff, rows, &metric_rows[query->metric], &figures, row);
	figures_clear(&figures);
}

static struct emit_rows find_figures(struct diff *diff)
{
	static const enum metric_id always[] = { METRIC_ALLOCATED_PEAK, METRIC_ALLOCATED_EXIT,
						 METRIC_RESERVED_PEAK, METRIC_COUNT };
	struct emit_rows rows = EMIT_NONE_OF(struct benchmark_row, SIZE_MAX);

	foreach (metric, always, COUNT_OF(always))
		add_entries(diff, &rows, &(struct metric_query){ .metric = *metric });
	foreach (gate, diff->gates) {
		if (metric_narrowing(&gate->gate->query))
			add_entries(diff, &rows, &gate->gate->query);
	}
	return rows;
}

void diff_benchmark(struct diff *diff, struct out *out, const struct diff_options *options)
{
	const struct emit_rows rows = find_figures(diff);

	(void)options;
	emit_json(out, benchmark_list, &rows);
	out_char(out, '\n');
}

void diff_bencher(struct diff *diff, struct out *out, const struct diff_options *options)
{
	const struct emit_rows rows = find_figures(diff);
	const struct benchmark_row *list = rows.rows;

	(void)options;
	for (size_t i = 0; i < rows.count; i++) {
		const struct emit_column measure[] = {
			{ .key = list[i].unit, .kind = EMIT_OBJECT, .of = bencher_columns },
			EMIT_END,
		};

		out_text(out, i ? ",\n" : "{");
		out_json(out, list[i].name);
		out_char(out, ':');
		emit_json(out, measure, &list[i]);
	}
	out_text(out, rows.count ? "}\n" : "{}\n");
}
