/*
 * The comparison as the document memtrace-diff/1 (include/memtrace/diff.schema.json).
 *
 * Every row in which anything differs is there, so the rows sum to the totals without another word.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/out.h"
#include "render/compare/diff.h"
#include "render/emit/emit.h"

struct side_row {
	struct emit_rows traces;
	uint64_t middle;
};

struct ranks_row {
	struct emit_rows compared;
	uint64_t shown, left_out;
};

struct gate_row {
	const char *gate, *metric, *unit, *place, *words;
	const int64_t *base; /* NULL: a budget has none */
	struct gate_result of;
};

/* The numbers of a row, NULL for a column that is not known of it. */
struct numbers {
	const int64_t *of[COLUMNS];
};

/* What is told of a site alone. */
struct json_line {
	const char *why, *file;
	uint64_t line, base_line;
};

/* A row of a dimension, or (without a dimension and a name) a total. */
struct json_row {
	const char *dimension, *name, *space;
	int device;
	const struct json_line *at;
	struct json_line site;
	struct numbers base, head, noise;
};

struct document {
	const char *schema, *sentence;
	bool broken;
	const struct side_row *base, *head; /* NULL: nothing is compared with */
	const struct ranks_row *ranks;      /* NULL: no ranks are compared */
	struct emit_rows unlike, gates, totals, rows;
};

static const struct emit_column signed_value[] = { { .kind = EMIT_CHANGE }, EMIT_END };
static const struct emit_column path_value[] = {
	{ .kind = EMIT_TEXT, .at = offsetof(struct run, trace.path) },
	EMIT_END,
};

static const struct emit_column side_columns[] = {
	EMIT_LIST("traces", "", struct side_row, traces, path_value),
	EMIT_MEMBER("middle", NUMBER, struct side_row, middle),
	EMIT_END,
};

static const struct emit_column ranks_columns[] = {
	EMIT_LIST("compared", "", struct ranks_row, compared, emit_numbers),
	EMIT_MEMBER("shown", NUMBER, struct ranks_row, shown),
	EMIT_MEMBER("left_out", NUMBER, struct ranks_row, left_out),
	EMIT_END,
};

static const struct emit_column unlike_columns[] = {
	EMIT_MEMBER("key", TEXT, struct diff_key, key),
	EMIT_MEMBER("base", TEXT, struct diff_key, base),
	EMIT_MEMBER("head", TEXT, struct diff_key, head),
	EMIT_END,
};

static const struct emit_column gate_columns[] = {
	EMIT_MEMBER("gate", TEXT, struct gate_row, gate),
	EMIT_MEMBER("metric", TEXT, struct gate_row, metric),
	EMIT_MEMBER("unit", TEXT, struct gate_row, unit),
	EMIT_MEMBER("place", TEXT, struct gate_row, place),
	EMIT_NESTED("base", POINTED, struct gate_row, base, signed_value),
	EMIT_MEMBER("head", CHANGE, struct gate_row, of.head),
	EMIT_MEMBER("noise", CHANGE, struct gate_row, of.noise),
	EMIT_MEMBER("broken", TRUTH, struct gate_row, of.broken),
	EMIT_MEMBER("words", TEXT, struct gate_row, words),
	EMIT_END,
};

static const struct emit_column number_columns[] = {
#define COLUMN(id, key, what, brief, bytes)                                              \
	{ EMIT_KEYED(key, POINTED, struct numbers, of[COLUMN_##id]), .of = signed_value, \
	  .flags = EMIT_OPTIONAL },
#include "analyse/compare/columns.def"
#undef COLUMN
	EMIT_END,
};

static const struct emit_column line_columns[] = {
	EMIT_MEMBER("why", TEXT, struct json_line, why),
	EMIT_MEMBER("file", TEXT, struct json_line, file),
	EMIT_MEMBER("line", NUMBER, struct json_line, line),
	EMIT_MEMBER("base_line", NUMBER, struct json_line, base_line),
	EMIT_END,
};

static const struct emit_column total_columns[] = {
	EMIT_MEMBER("space", TEXT, struct json_row, space),
	EMIT_NESTED("base", OBJECT, struct json_row, base, number_columns),
	EMIT_NESTED("head", OBJECT, struct json_row, head, number_columns),
	EMIT_END,
};

static const struct emit_column row_columns[] = {
	EMIT_MEMBER("dimension", TEXT, struct json_row, dimension),
	EMIT_MEMBER("name", TEXT, struct json_row, name),
	EMIT_IF_KNOWN("space", TEXT, struct json_row, space),
	EMIT_IF_KNOWN("device", DEVICE, struct json_row, device),
	EMIT_NESTED(NULL, POINTED, struct json_row, at, line_columns),
	EMIT_NESTED("base", OBJECT, struct json_row, base, number_columns),
	EMIT_NESTED("head", OBJECT, struct json_row, head, number_columns),
	EMIT_NESTED("noise", OBJECT, struct json_row, noise, number_columns),
	EMIT_END,
};

static const struct emit_column document_columns[] = {
	EMIT_MEMBER("schema", TEXT, struct document, schema),
	EMIT_MEMBER("\nsentence", TEXT, struct document, sentence),
	EMIT_MEMBER("\nbroken", TRUTH, struct document, broken),
	EMIT_NESTED("\nbase", POINTED, struct document, base, side_columns),
	EMIT_NESTED("\nhead", POINTED, struct document, head, side_columns),
	EMIT_NESTED("\nranks", POINTED, struct document, ranks, ranks_columns),
	EMIT_LIST("\nunlike", "", struct document, unlike, unlike_columns),
	EMIT_LIST("\ngates", "\n", struct document, gates, gate_columns),
	EMIT_LIST("\ntotals", "\n", struct document, totals, total_columns),
	EMIT_LIST("\nrows", "\n", struct document, rows, row_columns),
	EMIT_END,
};

static const struct side_row *side(struct side_row *row, const struct diff_side *of)
{
	*row = (struct side_row){ EMIT_ROWS_OF(of->runs, of->count), of->middle };
	return of->count ? row : NULL;
}

static struct ranks_row ranks(struct diff *diff)
{
	uint64_t *list = arena_alloc(&diff->arena, (diff->pairs_n + 1) * sizeof(*list));

	for (size_t i = 0; list && i < diff->pairs_n; i++)
		list[i] = diff->head.runs[diff->pairs[i].head].trace.process.rank;
	return (struct ranks_row){ EMIT_ROWS_OF(list, diff->pairs_n), diff_rank(diff),
				   diff_unpaired(diff) };
}

static struct emit_rows gates(struct diff *diff)
{
	struct gate_row *list = arena_alloc(&diff->arena, (diff->gates_n + 1) * sizeof(*list));
	char words[DIFF_SENTENCE];

	for (size_t i = 0; list && i < diff->gates_n; i++) {
		const struct gate_result *of = &diff->gates[i];
		const struct metric_row *metric = &metric_rows[of->gate->query.metric];

		diff_gate_words(of, words, sizeof(words));
		list[i] = (struct gate_row){
			.gate = of->gate->text,
			.metric = metric->name,
			.unit = metric->bytes ? "bytes" : "count",
			.place = of->place,
			.words = diff_keep(diff, words),
			.base = of->gate->kind == GATE_GROWTH ? &of->base : NULL,
			.of = *of,
		};
	}
	return EMIT_ROWS_OF(list, diff->gates_n);
}

static struct numbers numbers(const int64_t *of, unsigned columns)
{
	struct numbers numbers;

	for (enum column column = 0; column < COLUMNS; column++)
		numbers.of[column] = columns & 1u << column ? &of[column] : NULL;
	return numbers;
}

static unsigned columns_of(const struct diff *diff, const struct diff_row *row)
{
	/* Who held other memory at the peak of reserved is told of devices alone. */
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
		.name = row->name,
		.space = site || row->dimension == DIMENSION_CATEGORY ? row->group : NULL,
		.device = of_device ? (int)strtol(row->group, NULL, 10) : NO_DEVICE,
		.at = site ? &to->site : NULL,
		.site = { row->why ? diff_why_words[row->why] : NULL, row->file, row->line,
			  row->base_line },
		.base = numbers(row->base, columns),
		.head = numbers(row->head, columns),
		.noise = numbers(row->noise, columns),
	};
}

static struct emit_rows totals(struct diff *diff)
{
	static const char *const groups[] = { "device", "managed", "pinned", "cpu" };
	enum { GROUPS = sizeof(groups) / sizeof(groups[0]) };
	struct diff_row *sums = arena_alloc(&diff->arena, GROUPS * sizeof(*sums));
	struct json_row *list = arena_alloc(&diff->arena, GROUPS * sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; sums && list && diff->base.count && i < GROUPS; i++) {
		bool any = i == 0;

		sums[i] = (struct diff_row){ .dimension = DIMENSION_SITE, .group = groups[i] };
		for (enum column column = 0; column < COLUMNS; column++) {
			diff_totals(diff, groups[i], column, &sums[i].base[column],
				    &sums[i].head[column]);
			any |= sums[i].base[column] || sums[i].head[column];
		}
		if (any)
			take_row(diff, &list[count++], &sums[i]);
	}
	return EMIT_ROWS_OF(sums ? list : NULL, count);
}

/* The rows of a dimension that differ, in the order of the first column in which they do. */
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
	struct json_row *list = arena_alloc(&diff->arena, (diff->rows_n + 1) * sizeof(*list));
	bool *done = arena_alloc(&diff->arena, diff->rows_n + 1);
	struct emit_rows rows = EMIT_ROWS_OF(done ? list : NULL, 0);

	for (enum dimension dimension = 0; rows.rows && dimension < DIMENSIONS; dimension++)
		add_rows(diff, dimension, all, done, &rows);
	return rows;
}

int diff_json(struct diff *diff, struct out *out, const struct diff_options *options)
{
	char sentence[DIFF_SENTENCE];
	struct side_row sides[2];
	const struct ranks_row pairs = ranks(diff);
	const struct document document = {
		.schema = "memtrace-diff/1",
		.sentence = sentence,
		.broken = diff_broken(diff) != 0,
		.base = side(&sides[0], &diff->base),
		.head = side(&sides[1], &diff->head),
		.ranks = diff->pairs_n ? &pairs : NULL,
		.unlike = EMIT_ROWS_OF(diff->unlike, diff->unlike_n),
		.gates = gates(diff),
		.totals = totals(diff),
		.rows = rows(diff, options->full),
	};

	if (!pairs.compared.rows || !document.gates.rows || !document.totals.rows ||
	    !document.rows.rows)
		return err("no memory left");
	diff_sentence(diff, sentence, sizeof(sentence));
	emit_json(out, document_columns, &document);
	out_char(out, '\n');
	return 0;
}
