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
	const char *gate, *metric, *unit, *place;
	const int64_t *base; /* NULL: a budget has none */
	struct gate_result of;
	const char *said;
	char words[DIFF_SENTENCE];
};

/* What comes before the rows. */
struct head {
	const char *sentence;
	bool broken;
	const struct side_row *base, *head; /* NULL: nothing is compared with */
	const struct ranks_row *ranks;      /* NULL: no ranks are compared */
	struct emit_rows unlike, gates;
};

static const struct emit_column number_value[] = { { .kind = EMIT_NUMBER }, EMIT_END };
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
	EMIT_LIST("compared", "", struct ranks_row, compared, number_value),
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
	EMIT_MEMBER("words", TEXT, struct gate_row, said),
	EMIT_END,
};

static const struct emit_column head_columns[] = {
	EMIT_MEMBER("\nsentence", TEXT, struct head, sentence),
	EMIT_MEMBER("\nbroken", TRUTH, struct head, broken),
	EMIT_NESTED("\nbase", POINTED, struct head, base, side_columns),
	EMIT_NESTED("\nhead", POINTED, struct head, head, side_columns),
	EMIT_NESTED("\nranks", POINTED, struct head, ranks, ranks_columns),
	EMIT_LIST("\nunlike", "", struct head, unlike, unlike_columns),
	EMIT_LIST("\ngates", "\n", struct head, gates, gate_columns),
	EMIT_END,
};

static const struct side_row *side(struct side_row *row, const struct diff_side *of)
{
	*row = (struct side_row){ EMIT_ROWS_OF(of->runs, of->count), of->middle };
	return of->count ? row : NULL;
}

static int ranks(struct diff *diff, struct ranks_row *row)
{
	uint64_t *list = arena_alloc(&diff->arena, (diff->pairs_n + 1) * sizeof(*list));

	for (size_t i = 0; list && i < diff->pairs_n; i++)
		list[i] = diff->head.runs[diff->pairs[i].head].trace.process.rank;
	*row = (struct ranks_row){ EMIT_ROWS_OF(list, diff->pairs_n), diff_rank(diff),
				   diff_unpaired(diff) };
	return list ? 0 : err("no memory left");
}

static int gates(struct diff *diff, struct emit_rows *rows)
{
	struct gate_row *list = arena_alloc(&diff->arena, (diff->gates_n + 1) * sizeof(*list));

	for (size_t i = 0; list && i < diff->gates_n; i++) {
		const struct gate_result *of = &diff->gates[i];
		const struct metric_row *metric = &metric_rows[of->gate->query.metric];

		list[i].gate = of->gate->text;
		list[i].metric = metric->name;
		list[i].unit = metric->bytes ? "bytes" : "count";
		list[i].place = of->place;
		list[i].base = of->gate->kind == GATE_GROWTH ? &of->base : NULL;
		list[i].of = *of;
		list[i].said = list[i].words;
		diff_gate_words(of, list[i].words, sizeof(list[i].words));
	}
	*rows = EMIT_ROWS_OF(list, diff->gates_n);
	return list ? 0 : err("no memory left");
}

static int write_head(struct diff *diff, struct out *out)
{
	char sentence[DIFF_SENTENCE];
	struct side_row sides[2];
	struct ranks_row pairs;
	struct head head = {
		.sentence = sentence,
		.broken = diff_broken(diff),
		.base = side(&sides[0], &diff->base),
		.head = side(&sides[1], &diff->head),
		.unlike = EMIT_ROWS_OF(diff->unlike, diff->unlike_n),
	};
	int error = gates(diff, &head.gates);

	diff_sentence(diff, sentence, sizeof(sentence));
	if (!error && diff->pairs_n) {
		error = ranks(diff, &pairs);
		head.ranks = &pairs;
	}
	if (!error)
		emit_members(out, head_columns, &head);
	return error;
}

static void values(struct out *out, const char *key, const int64_t *of, unsigned columns)
{
	const char *comma = "";

	out_text(out, key);
	for (enum column column = 0; column < COLUMNS; column++) {
		if (!(columns & 1u << column))
			continue;
		member_text(out, comma, run_columns[column].key);
		out_char(out, ':');
		out_i64(out, of[column]);
		comma = ",";
	}
	out_char(out, '}');
}

static unsigned columns_of(const struct diff *diff, const struct diff_row *row)
{
	unsigned columns = run_dimensions[row->dimension].columns;

	if (row->dimension != DIMENSION_SITE)
		return columns;
	/* Who held other memory at the peak of reserved is told of devices alone. */
	return strcmp(row->group, "device") != 0 ? columns & ~(1u << COLUMN_RESERVED)
						 : diff->site_columns;
}

static void write_row(struct out *out, const struct diff *diff, const struct diff_row *row)
{
	static const char *const groups[DIMENSIONS] = {
		[DIMENSION_SITE] = ",\"space\":",
		[DIMENSION_CATEGORY] = ",\"space\":",
		[DIMENSION_POOL] = ",\"device\":",
		[DIMENSION_OWNER] = ",\"device\":",
	};
	unsigned columns = columns_of(diff, row);

	member_text(out, "{\"dimension\":", run_dimensions[row->dimension].key);
	member_text(out, ",\"name\":", row->name);
	if (row->dimension == DIMENSION_SITE || row->dimension == DIMENSION_CATEGORY)
		member_text(out, groups[row->dimension], row->group);
	else if (groups[row->dimension]) {
		out_text(out, groups[row->dimension]);
		out_text(out, row->group);
	}
	if (row->dimension == DIMENSION_SITE) {
		member_text(out, ",\"why\":", row->why ? diff_why_word(row->why) : NULL);
		member_text(out, ",\"file\":", row->file);
		out_text(out, ",\"line\":");
		out_u64(out, row->line);
		out_text(out, ",\"base_line\":");
		out_u64(out, row->base_line);
	}
	values(out, ",\"base\":{", row->base, columns);
	values(out, ",\"head\":{", row->head, columns);
	values(out, ",\"noise\":{", row->noise, columns);
	out_char(out, '}');
}

static void totals(struct out *out, const struct diff *diff)
{
	static const char *const groups[] = { "device", "managed", "pinned", "cpu" };
	const char *comma = "\n";

	out_text(out, ",\n\"totals\":[");
	for (size_t i = 0; diff->base.count && i < sizeof(groups) / sizeof(groups[0]); i++) {
		struct diff_row total = { .dimension = DIMENSION_SITE, .group = groups[i] };
		bool any = i == 0;

		for (enum column column = 0; column < COLUMNS; column++) {
			diff_totals(diff, groups[i], column, &total.base[column],
				    &total.head[column]);
			any |= total.base[column] || total.head[column];
		}
		if (!any)
			continue;
		out_text(out, comma);
		member_text(out, "{\"space\":", groups[i]);
		values(out, ",\"base\":{", total.base, columns_of(diff, &total));
		values(out, ",\"head\":{", total.head, columns_of(diff, &total));
		out_char(out, '}');
		comma = ",\n";
	}
	out_char(out, ']');
}

/* The rows of a dimension that differ, in the order of the first column in which they do. */
static int rows(struct out *out, struct diff *diff, enum dimension dimension, const char **comma,
		bool all)
{
	size_t from = diff->first[dimension];
	size_t count = diff->first[dimension + 1] - from;
	bool *done = calloc(count + 1, sizeof(*done));

	if (!done)
		return err("no memory left");
	for (enum column column = 0; column <= COLUMNS; column++) {
		const struct diff_row **list = NULL;
		int64_t rest;
		size_t n = column < COLUMNS
				   ? diff_changed(diff, dimension, NULL, column, &list, &rest)
				   : count;

		for (size_t i = 0; i < n; i++) {
			const struct diff_row *row = list ? list[i] : &diff->rows[from + i];
			bool same = !memcmp(row->base, row->head, sizeof(row->base));

			if (done[row - &diff->rows[from]] || (column == COLUMNS && same && !all))
				continue;
			done[row - &diff->rows[from]] = true;
			out_text(out, *comma);
			write_row(out, diff, row);
			*comma = ",\n";
		}
	}
	free(done);
	return 0;
}

int diff_json(struct diff *diff, struct out *out, const struct diff_options *options)
{
	const char *comma = "\n";
	int error;

	out_text(out, "{\"schema\":\"memtrace-diff/1\"");
	error = write_head(diff, out);
	totals(out, diff);
	out_text(out, ",\n\"rows\":[");
	for (enum dimension dimension = 0; !error && diff->base.count && dimension < DIMENSIONS;
	     dimension++)
		error = rows(out, diff, dimension, &comma, options->full);
	out_text(out, "]}\n");
	return error;
}
