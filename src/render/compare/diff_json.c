/*
 * Writes a comparison as JSON, memtrace-diff/1 (include/memtrace/diff.schema.json).
 *
 * The document has every row that changed, so the changes of sites sum to those of the totals.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/text/out.h"
#include "render/compare/diff.h"
#include "render/emit/emit.h"

struct ranks_row {
	struct emit_rows compared;
	uint64_t shown, left_out;
};

struct gate_row {
	const char *gate, *metric, *unit, *place, *words;
	struct gate_result of; /* the result; `base` is INT64_MIN for a budget, which has no base */
};

/* A row of a dimension (sites, pools ...), or of the totals; a row of the totals has no name. */
struct json_row {
	const char *dimension, *space, *why;
	int device;
	const struct json_row *site; /* this row if it is a site, else NULL: for the JSON members
					that only sites have */
	struct diff_row of;          /* the values; INT64_MIN for a value that is not known */
};

struct document {
	const char *schema, *sentence;
	bool broken;
	const struct diff_side *base, *head; /* `base` is NULL if there is none */
	const struct ranks_row *ranks; /* the comparison by rank, NULL if the runs have no ranks */
	struct emit_rows remarks, unlike, gates, totals, rows;
};

static const struct emit_column path_value[] = {
	{ .kind = EMIT_TEXT, .at = offsetof(struct run, trace.path) },
	EMIT_END,
};

static const struct emit_column side_columns[] = {
	EMIT_ITEMS("traces", "", struct diff_side, runs, count, path_value),
	EMIT_FIELD(NUMBER, struct diff_side, middle),
	EMIT_FIELD(NUMBER, struct diff_side, ooms),
	EMIT_END,
};

static const struct emit_column ranks_columns[] = {
	EMIT_LIST("compared", "", struct ranks_row, compared, emit_numbers),
	EMIT_FIELD(NUMBER, struct ranks_row, shown),
	EMIT_FIELD(NUMBER, struct ranks_row, left_out),
	EMIT_END,
};

static const struct emit_column unlike_columns[] = {
	EMIT_FIELD(TEXT, struct diff_key, key),
	EMIT_FIELD(TEXT, struct diff_key, base),
	EMIT_FIELD(TEXT, struct diff_key, head),
	EMIT_END,
};

static const struct emit_column gate_columns[] = {
	EMIT_FIELD(TEXT, struct gate_row, gate),  EMIT_FIELD(TEXT, struct gate_row, metric),
	EMIT_FIELD(TEXT, struct gate_row, unit),  EMIT_FIELD(TEXT, struct gate_row, place),
	EMIT_OF(CHANGE, struct gate_row, base),   EMIT_OF(CHANGE, struct gate_row, head),
	EMIT_OF(CHANGE, struct gate_row, noise),  EMIT_OF(TRUTH, struct gate_row, broken),
	EMIT_FIELD(TEXT, struct gate_row, words), EMIT_END,
};

/* The members of a JSON object that is written from an array of int64_t, indexed by enum column. */
static const struct emit_column number_columns[] = {
#define COLUMN(id, name, what, brief, bytes) \
	{ .key = (name),                     \
	  .kind = EMIT_CHANGE,               \
	  .flags = EMIT_OPTIONAL,            \
	  .at = COLUMN_##id * sizeof(int64_t) },
#include "analyse/compare/columns.def"
	EMIT_END,
};

static const struct emit_column line_columns[] = {
	EMIT_FIELD(TEXT, struct json_row, why),
	EMIT_OF(TEXT, struct json_row, file),
	EMIT_OF(POSITION, struct json_row, line),
	EMIT_OF(POSITION, struct json_row, base_line),
	EMIT_END,
};

static const struct emit_column total_columns[] = {
	EMIT_FIELD(TEXT, struct json_row, space),
	EMIT_NESTED("base", OBJECT, struct json_row, of.base, number_columns),
	EMIT_NESTED("head", OBJECT, struct json_row, of.head, number_columns),
	EMIT_END,
};

static const struct emit_column row_columns[] = {
	EMIT_FIELD(TEXT, struct json_row, dimension),
	EMIT_OF(TEXT, struct json_row, name),
	EMIT_IF_KNOWN("space", TEXT, struct json_row, space),
	EMIT_IF_KNOWN("device", DEVICE, struct json_row, device),
	EMIT_NESTED(NULL, POINTED, struct json_row, site, line_columns),
	EMIT_NESTED("base", OBJECT, struct json_row, of.base, number_columns),
	EMIT_NESTED("head", OBJECT, struct json_row, of.head, number_columns),
	EMIT_NESTED("noise", OBJECT, struct json_row, of.noise, number_columns),
	EMIT_END,
};

static const struct emit_column document_columns[] = {
	EMIT_FIELD(TEXT, struct document, schema),
	EMIT_MEMBER("\nsentence", TEXT, struct document, sentence),
	EMIT_MEMBER("\nbroken", TRUTH, struct document, broken),
	EMIT_NESTED("\nbase", POINTED, struct document, base, side_columns),
	EMIT_NESTED("\nhead", POINTED, struct document, head, side_columns),
	EMIT_NESTED("\nranks", POINTED, struct document, ranks, ranks_columns),
	EMIT_LIST("\nremarks", "\n", struct document, remarks, emit_texts),
	EMIT_LIST("\nunlike", "", struct document, unlike, unlike_columns),
	EMIT_LIST("\ngates", "\n", struct document, gates, gate_columns),
	EMIT_LIST("\ntotals", "\n", struct document, totals, total_columns),
	EMIT_LIST("\nrows", "\n", struct document, rows, row_columns),
	EMIT_END,
};

static struct ranks_row ranks(struct diff *diff)
{
	uint64_t *list = NEED_ROOM(&diff->arena, list, diff->pairs_n);

	for (size_t i = 0; i < diff->pairs_n; i++)
		list[i] = diff->head.runs[diff->pairs[i].head].trace.process.rank;
	return (struct ranks_row){ EMIT_ROWS_OF(list, diff->pairs_n), diff_rank(diff),
				   diff_unpaired(diff) };
}

static struct emit_rows gates(struct diff *diff)
{
	struct emit_rows rows = EMIT_NONE_OF(struct gate_row, SIZE_MAX);

	foreach (of, diff->gates) {
		const struct metric_row *metric = &metric_rows[of->gate->query.metric];
		struct gate_row row = {
			.gate = of->gate->text,
			.metric = metric->name,
			.unit = metric->bytes ? "bytes" : "count",
			.place = of->place,
			.words = diff_gate_words(diff, of),
			.of = *of,
		};

		if (of->gate->kind != GATE_GROWTH)
			row.of.base = INT64_MIN;
		emit_add(&diff->arena, &rows, &row);
	}
	return rows;
}

static unsigned columns_of(const struct diff *diff, const struct diff_row *row)
{
	/* A site's bytes at the peak of reserved memory are known for device memory only. */
	if (row->dimension == DIMENSION_SITE && strcmp(row->group, "device") != 0)
		return run_dimensions[DIMENSION_SITE].columns & ~(1u << COLUMN_RESERVED);
	return diff_columns(diff, row->dimension);
}

static void take_row(const struct diff *diff, struct json_row *to, const struct diff_row *row)
{
	bool site = row->dimension == DIMENSION_SITE;
	bool of_device = row->dimension == DIMENSION_POOL || row->dimension == DIMENSION_OWNER;
	unsigned columns = columns_of(diff, row);

	*to = (struct json_row){
		.dimension = run_dimensions[row->dimension].key,
		.space = site || row->dimension == DIMENSION_CATEGORY ? row->group : NULL,
		.why = row->why ? diff_why_words[row->why] : NULL,
		.device = of_device ? (int)strtol(row->group, NULL, 10) : NO_DEVICE,
		.site = site ? to : NULL,
		.of = *row,
	};
	for (enum column column = 0; column < COLUMNS; column++) {
		if (!(columns & 1u << column))
			to->of.base[column] = to->of.head[column] = to->of.noise[column] =
				INT64_MIN;
	}
}

static struct emit_rows totals(struct diff *diff)
{
	static const char *const groups[] = { "device", "managed", "pinned", "cpu" };
	struct emit_rows rows = EMIT_NONE_OF(struct json_row, SIZE_MAX);

	for (size_t i = 0; diff->base.count && i < COUNT_OF(groups); i++) {
		struct diff_row sum = { .dimension = DIMENSION_SITE, .group = groups[i] };
		struct json_row row;
		bool any = i == 0;

		for (enum column column = 0; column < COLUMNS; column++) {
			diff_totals(diff, groups[i], column, &sum.base[column], &sum.head[column]);
			any |= sum.base[column] || sum.head[column];
		}
		take_row(diff, &row, &sum);
		if (any)
			emit_add(&diff->arena, &rows, &row);
	}
	return rows;
}

/* Adds a dimension's rows (sites, pools ...) that changed, sorted by the first column that changed;
 * with `all`, also the unchanged rows, at the end. done[i] is set when diff->rows[i] is added. */
static void add_rows(struct diff *diff, enum dimension dimension, bool all, bool *done,
		     struct emit_rows *to)
{
	for (enum column column = 0; column <= COLUMNS; column++) {
		const struct diff_row **list = NULL;
		size_t n = column < COLUMNS ? diff_changed(diff, dimension, NULL, column, &list)
					    : diff->first[dimension + 1] - diff->first[dimension];

		for (size_t i = 0; i < n; i++) {
			const struct diff_row *row =
				list ? list[i] : &diff->rows[diff->first[dimension] + i];
			bool same = !memcmp(row->base, row->head, sizeof(row->base));

			if (done[row - diff->rows] || (column == COLUMNS && same && !all))
				continue;
			done[row - diff->rows] = true;
			take_row(diff, (struct json_row *)to->rows + to->count++, row);
		}
	}
}

static struct emit_rows rows(struct diff *diff, bool all)
{
	struct json_row *list = NEED_ROOM(&diff->arena, list, diff->rows_n);
	bool *done = need(&diff->arena, diff->rows_n + 1);
	struct emit_rows rows = EMIT_ROWS_OF(list, 0);

	for (enum dimension dimension = 0; dimension < DIMENSIONS; dimension++)
		add_rows(diff, dimension, all, done, &rows);
	return rows;
}

void diff_json(struct diff *diff, struct out *out, const struct diff_options *options)
{
	const struct ranks_row pairs = ranks(diff);
	const struct document document = {
		.schema = "memtrace-diff/1",
		.sentence = diff_sentence(diff),
		.broken = diff_broken(diff) != 0,
		.base = diff->base.count ? &diff->base : NULL,
		.head = diff->head.count ? &diff->head : NULL,
		.ranks = diff->pairs_n ? &pairs : NULL,
		.remarks = diff_remarks(diff),
		.unlike = EMIT_ROWS_OF(diff->unlike, diff->unlike_n),
		.gates = gates(diff),
		.totals = totals(diff),
		.rows = rows(diff, options->full),
	};

	emit_json(out, document_columns, &document);
	out_char(out, '\n');
}
