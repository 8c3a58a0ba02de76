/*
 * The head's figures as github-action-benchmark reads them (tool: customSmallerIsBetter): an array
 * of {name, unit, value, range, extra}.
 */
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

static const struct emit_column entries[] = {
	{ .kind = EMIT_ROWS, .of = columns, .between = "\n" },
	EMIT_END,
};

static void add_entry(struct diff *diff, struct emit_rows *rows, const struct metric_row *metric,
		      const struct figures *figures, const struct figure *figure)
{
	size_t count = figures->runs;
	const struct benchmark_row row = {
		/* A name stands for the same figure in all runs: so do the names of places. */
		.name = show_kept(&diff->arena, "%s (%s)", metric->name, figure->place),
		.unit = metric->bytes ? "bytes" : "allocations",
		.extra = metric->what,
		.value = median_of(figure->values, count),
		.range = count > 1 ? show_kept(&diff->arena, "\u00b1 %lld",
					       (long long)(figure->values[count - 1] -
							   figure->values[0]))
				   : NULL,
	};

	diff->failed |= !emit_add(&diff->arena, rows, &row);
}

/* The figures of the query in every place of the middle run, with those of its repetitions. */
static int add_entries(struct diff *diff, struct emit_rows *rows, const struct metric_query *query)
{
	struct figures figures = { .runs = diff->pairs_n ? 1 : diff->head.count };
	int error = figures_add(&figures, diff_head(diff), query);
	size_t places = figures.count;

	for (size_t i = 0; !error && !diff->pairs_n && i < diff->head.count; i++) {
		if (i != diff->head.middle)
			error = figures_add(&figures, &diff->head.runs[i], query);
	}
	for (size_t i = 0; !error && i < places; i++)
		add_entry(diff, rows, &metric_rows[query->metric], &figures, &figures.list[i]);
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
	struct emit_rows rows = EMIT_NONE_OF(struct benchmark_row, SIZE_MAX);
	int error = 0;

	(void)options;
	for (size_t i = 0; !error && i < sizeof(always) / sizeof(always[0]); i++)
		error = add_entries(diff, &rows, &(struct metric_query){ .metric = always[i] });
	for (size_t i = 0; !error && i < diff->gates_n; i++) {
		if (is_narrowed(&diff->gates[i].gate->query))
			error = add_entries(diff, &rows, &diff->gates[i].gate->query);
	}
	if (!error && diff->failed)
		error = err("no memory left");
	if (error)
		return error;
	emit_json(out, entries, &rows);
	out_char(out, '\n');
	return 0;
}
