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
#include "render/emit/members.h"

static void runs(struct out *out, const char *key, const struct diff_side *side)
{
	out_text(out, key);
	if (!side->count) {
		out_text(out, "null");
		return;
	}
	out_text(out, "{\"traces\":[");
	for (size_t i = 0; i < side->count; i++) {
		out_text(out, i ? "," : "");
		out_json(out, side->runs[i].trace.path);
	}
	out_text(out, "],\"middle\":");
	out_u64(out, side->middle);
	out_char(out, '}');
}

static void ranks(struct out *out, const struct diff *diff)
{
	out_text(out, ",\n\"ranks\":");
	if (!diff->pairs_n) {
		out_text(out, "null");
		return;
	}
	out_text(out, "{\"compared\":[");
	for (size_t i = 0; i < diff->pairs_n; i++) {
		out_text(out, i ? "," : "");
		out_u64(out, diff->head.runs[diff->pairs[i].head].trace.process.rank);
	}
	out_text(out, "],\"shown\":");
	out_u64(out, diff_rank(diff));
	out_text(out, ",\"left_out\":");
	out_u64(out, diff_unpaired(diff));
	out_char(out, '}');
}

static void unlike(struct out *out, const struct diff *diff)
{
	out_text(out, ",\n\"unlike\":[");
	for (size_t i = 0; i < diff->unlike_n; i++) {
		member_text(out, i ? ",{\"key\":" : "{\"key\":", diff->unlike[i].key);
		member_text(out, ",\"base\":", diff->unlike[i].base);
		member_text(out, ",\"head\":", diff->unlike[i].head);
		out_char(out, '}');
	}
	out_char(out, ']');
}

static void gates(struct out *out, const struct diff *diff)
{
	out_text(out, ",\n\"gates\":[");
	for (size_t i = 0; i < diff->gates_n; i++) {
		const struct gate_result *result = &diff->gates[i];
		const struct metric_row *metric = &metric_rows[result->gate->query.metric];
		char words[DIFF_SENTENCE];

		diff_gate_words(result, words, sizeof(words));
		member_text(out, i ? ",\n{\"gate\":" : "\n{\"gate\":", result->gate->text);
		member_text(out, ",\"metric\":", metric->name);
		member_text(out, ",\"unit\":", metric->bytes ? "bytes" : "count");
		member_text(out, ",\"place\":", result->place);
		out_text(out, ",\"base\":");
		if (result->gate->kind == GATE_GROWTH)
			out_i64(out, result->base);
		else
			out_text(out, "null");
		out_text(out, ",\"head\":");
		out_i64(out, result->head);
		out_text(out, ",\"noise\":");
		out_i64(out, result->noise);
		out_text(out, result->broken ? ",\"broken\":true" : ",\"broken\":false");
		member_text(out, ",\"words\":", words);
		out_char(out, '}');
	}
	out_char(out, ']');
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
	char sentence[DIFF_SENTENCE];
	const char *comma = "\n";
	int error = 0;

	diff_sentence(diff, sentence, sizeof(sentence));
	member_text(out, "{\"schema\":\"memtrace-diff/1\",\n\"sentence\":", sentence);
	out_text(out, diff_broken(diff) ? ",\n\"broken\":true" : ",\n\"broken\":false");
	runs(out, ",\n\"base\":", &diff->base);
	runs(out, ",\n\"head\":", &diff->head);
	ranks(out, diff);
	unlike(out, diff);
	gates(out, diff);
	totals(out, diff);
	out_text(out, ",\n\"rows\":[");
	for (enum dimension dimension = 0; !error && diff->base.count && dimension < DIMENSIONS;
	     dimension++)
		error = rows(out, diff, dimension, &comma, options->full);
	out_text(out, "]}\n");
	return error;
}
