/*
 * The comparison for people: the sentence, the gates, the curves, then tables whose columns add up.
 *
 * The first screen has the tables that changed, a few rows each; rows that are left out are summed
 * in one of their own.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text/out.h"
#include "base/text/text.h"
#include "render/compare/diff.h"
#include "render/emit/term.h"

enum { CHANGE = 12, NOW = 11, WHY = 13, SITE = SHOW_COLUMNS - CHANGE - NOW - WHY - 3 };

struct text {
	struct diff *diff;
	struct show show;
	const struct diff_options *options;
};

static void say(const struct text *text, const char *line)
{
	show_wrapped(&text->show, line, 2, false);
}

static void cells(const struct text *text, const char *change, const char *now, const char *why)
{
	show_right(&text->show, change, CHANGE);
	out_char(text->show.out, ' ');
	show_right(&text->show, now, NOW);
	out_text(text->show.out, "  ");
	if (why)
		show_left(&text->show, why, WHY);
}

/* A compound that is too long is told in two lines: what, and from where. */
static void name_cell(const struct text *text, const char *name, unsigned columns)
{
	const char *from = strstr(name, " from ");
	unsigned column = SHOW_COLUMNS - columns;
	char part[SITE_LONGEST + 64];
	char safe[SITE_LONGEST + 64];

	if (text->options->full)
		columns = sizeof(safe);
	text_copy(part, sizeof(part), name);
	if (from && show_columns(name) > columns)
		part[from - name] = '\0';
	else
		from = NULL;
	show_safe(safe, sizeof(safe), part, columns);
	out_text(text->show.out, safe);
	out_char(text->show.out, '\n');
	if (!from)
		return;
	show_safe(safe, sizeof(safe), from + 1, columns - 2);
	out_format(text->show.out, "%*s%s\n", column + 2, "", safe);
}

/* Where a site that moved was, for who wants to know. */
static void moved_line(const struct text *text, const struct diff_row *row)
{
	char line[SITE_LONGEST];
	char safe[SITE_LONGEST];

	if (!text->options->full || !row->file || !row->line || row->dimension != DIMENSION_SITE)
		return;
	if (row->base_line && row->base_line != row->line)
		snprintf(line, sizeof(line), "%*s%.400s:%u (was line %u)", CHANGE + NOW + WHY + 3,
			 "", row->file, row->line, row->base_line);
	else
		snprintf(line, sizeof(line), "%*s%.400s:%u", CHANGE + NOW + WHY + 3, "", row->file,
			 row->line);
	show_safe(safe, sizeof(safe), line, sizeof(safe));
	show_dim(&text->show, safe);
	out_char(text->show.out, '\n');
}

static void row_line(const struct text *text, const struct diff_row *row, enum column column,
		     bool why)
{
	bool bytes = run_columns[column].bytes;
	char amounts[2][DIFF_AMOUNT];
	char name[SITE_LONGEST + 64];

	cells(text, diff_signed(amounts[0], diff_change(row, column), bytes),
	      diff_amount(amounts[1], row->head[column], bytes),
	      why ? diff_why_word(diff_why_of(row, column)) : NULL);
	diff_row_name(row, name, sizeof(name));
	name_cell(text, name, why ? SITE : SITE + WHY);
	moved_line(text, row);
}

static size_t shown_of(const struct text *text, size_t count)
{
	size_t limit = text->options->limit;

	/* A last row that says "1 more" could be that one. */
	return !limit || count <= limit + 1 ? count : limit;
}

static void sum_line(const struct text *text, int64_t change, bool bytes, const char *now,
		     const char *name)
{
	char amount[DIFF_AMOUNT];

	cells(text, diff_signed(amount, change, bytes), now, NULL);
	out_text(text->show.out, name);
	out_char(text->show.out, '\n');
}

/* Why is about what is held, not about what is reserved for it or how often it is asked for. */
static bool tells_why(enum column column)
{
	return column == COLUMN_ALLOCATED || column == COLUMN_EXIT || column == COLUMN_LIVE;
}

/* A table of sites: rows, what is left out, what is noise, and the total that they sum to. */
static bool site_table(const struct text *text, enum column column, const char *group,
		       const char *heading)
{
	bool bytes = run_columns[column].bytes;
	const struct diff_row **rows;
	int64_t noise;
	int64_t base;
	int64_t head;
	int64_t left = 0;
	char line[128];
	char amount[DIFF_AMOUNT];
	size_t count = diff_changed(text->diff, DIMENSION_SITE, group, column, &rows, &noise);
	size_t shown = shown_of(text, count);

	if (!count)
		return false;
	show_heading(&text->show, heading);
	cells(text, "change", "now", tells_why(column) ? "why" : NULL);
	out_text(text->show.out, "site\n");
	for (size_t i = 0; i < shown; i++)
		row_line(text, rows[i], column, tells_why(column));
	for (size_t i = shown; i < count; i++)
		left += diff_change(rows[i], column);
	if (shown < count) {
		snprintf(line, sizeof(line), "... and %zu more (--limit 0)", count - shown);
		sum_line(text, left, bytes, "", line);
	}
	if (noise)
		sum_line(text, noise, bytes, "", "within the noise of several runs");
	diff_totals(text->diff, group, column, &base, &head);
	sum_line(text, head - base, bytes, diff_amount(amount, head, bytes), "in all");
	return true;
}

/* The other dimensions: no sums, each row peaks at a time of its own. */
static void dimension_table(const struct text *text, enum dimension dimension, unsigned columns)
{
	const struct dimension_row *about = &run_dimensions[dimension];

	for (enum column column = 0; column < COLUMNS; column++) {
		const struct diff_row **rows;
		int64_t noise;
		char heading[128];
		size_t count;
		size_t shown;

		if (!(about->columns & columns & 1u << column))
			continue;
		count = diff_changed(text->diff, dimension, NULL, column, &rows, &noise);
		if (!count)
			continue;
		snprintf(heading, sizeof(heading), "%s: %s", about->heading,
			 run_columns[column].what);
		show_heading(&text->show, heading);
		shown = shown_of(text, count);
		for (size_t i = 0; i < shown; i++)
			row_line(text, rows[i], column, false);
		if (shown < count) {
			snprintf(heading, sizeof(heading), "... and %zu more (--limit 0)",
				 count - shown);
			out_format(text->show.out, "%*s%s\n", CHANGE + NOW + 3, "", heading);
		}
	}
}

/* Programs that no rule is about have only what is freed soon, and the rest. */
static bool tells_more(const struct diff *diff)
{
	for (size_t i = diff->first[DIMENSION_CATEGORY]; i < diff->first[DIMENSION_CATEGORY + 1];
	     i++) {
		const char *name = diff->rows[i].name;

		if (strcmp(name, category_names[CATEGORY_OTHER]) != 0 &&
		    strcmp(name, category_names[CATEGORY_TEMPORARIES]) != 0 &&
		    diff_change(&diff->rows[i], COLUMN_ALLOCATED))
			return true;
	}
	return false;
}

static void dimension_tables(const struct text *text)
{
	static const enum dimension shown[] = { DIMENSION_POOL, DIMENSION_OWNER, DIMENSION_SPACE,
						DIMENSION_PHASE };

	/* One device's figures are the totals of the sites. */
	if (text->options->full || diff_head(text->diff)->trace.summary.devices_n > 1)
		dimension_table(text, DIMENSION_DEVICE, UINT_MAX);
	if (text->options->full || tells_more(text->diff))
		dimension_table(text, DIMENSION_CATEGORY,
				text->options->full ? UINT_MAX : 1u << COLUMN_ALLOCATED);
	for (size_t i = 0; text->options->full && i < sizeof(shown) / sizeof(shown[0]); i++)
		dimension_table(text, shown[i], UINT_MAX);
}

/* Is the table of this column on the first screen? */
static bool on_first_screen(const struct text *text, enum column column)
{
	const struct diff_row **rows;
	int64_t noise;

	if (text->options->full || column == COLUMN_ALLOCATED || column == COLUMN_EXIT)
		return true;
	/* What is reserved and how often says more than nothing, but less than those. */
	for (enum column first = 0; first < column; first++) {
		if (text->diff->site_columns & 1u << first &&
		    diff_changed(text->diff, DIMENSION_SITE, "device", first, &rows, &noise))
			return false;
	}
	return true;
}

/* ", 4 allocations more": a column that changed and has no table here. */
static void column_words(const struct text *text, enum column column, char *to, size_t size)
{
	const struct diff_row **rows;
	int64_t noise;
	int64_t base;
	int64_t head;
	char amount[DIFF_AMOUNT];
	char words[100];

	if (!(text->diff->site_columns & 1u << column) || on_first_screen(text, column) ||
	    !diff_changed(text->diff, DIMENSION_SITE, "device", column, &rows, &noise))
		return;
	diff_totals(text->diff, "device", column, &base, &head);
	snprintf(words, sizeof(words), "%s%s (%s)", to[0] ? ", " : "", run_columns[column].brief,
		 diff_signed(amount, head - base, run_columns[column].bytes));
	text_append(to, size, words);
}

static bool dimension_changed(const struct text *text, enum dimension dimension)
{
	for (enum column column = 0; column < COLUMNS; column++) {
		const struct diff_row **rows;
		int64_t noise;

		if (run_dimensions[dimension].columns & 1u << column &&
		    diff_changed(text->diff, dimension, NULL, column, &rows, &noise))
			return true;
	}
	return false;
}

/* What changed and is not shown, in one line. */
static void more_line(const struct text *text)
{
	char line[700] = "Changed as well: ";
	char words[600] = "";

	for (enum column column = 0; column < COLUMNS; column++)
		column_words(text, column, words, sizeof(words));
	for (enum dimension dimension = DIMENSION_POOL; dimension < DIMENSIONS; dimension++) {
		if (text->options->full || !dimension_changed(text, dimension))
			continue;
		text_append(words, sizeof(words), words[0] ? ", " : "");
		text_append(words, sizeof(words), run_dimensions[dimension].key);
		text_append(words, sizeof(words), "s");
	}
	if (!words[0])
		return;
	text_append(line, sizeof(line), words);
	text_append(line, sizeof(line), "; --full tells.");
	out_char(text->show.out, '\n');
	say(text, line);
}

/* Memory outside of devices is a table when it is all that there is, or all is wanted. */
static void space_tables(const struct text *text)
{
	static const char *const spaces[] = { "managed", "pinned", "cpu" };
	static const enum column columns[] = { COLUMN_ALLOCATED, COLUMN_EXIT };

	if (!text->options->full && diff_head(text->diff)->trace.summary.devices_n &&
	    dimension_changed(text, DIMENSION_DEVICE))
		return;
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
		for (size_t k = 0; k < 2; k++) {
			char heading[128];

			snprintf(heading, sizeof(heading), "%s memory: %s", spaces[i],
				 run_columns[columns[k]].what);
			site_table(text, columns[k], spaces[i], heading);
		}
	}
}

static void site_tables(const struct text *text)
{
	for (enum column column = 0; column < COLUMNS; column++) {
		if (text->diff->site_columns & 1u << column && on_first_screen(text, column))
			site_table(text, column, "device", run_columns[column].what);
	}
	space_tables(text);
}

static void gates_part(const struct text *text)
{
	for (size_t i = 0; i < text->diff->gates_n; i++) {
		const struct gate_result *result = &text->diff->gates[i];
		char words[DIFF_SENTENCE];
		size_t used =
			text_copy(words, sizeof(words), result->broken ? "BROKEN  " : "holds   ");

		diff_gate_words(result, words + used, sizeof(words) - used);
		show_wrapped(&text->show, words, 8, result->broken);
	}
}

static void unlike_part(const struct text *text)
{
	for (size_t i = 0; i < text->diff->unlike_n; i++) {
		const struct diff_key *key = &text->diff->unlike[i];
		char line[1024];

		snprintf(line, sizeof(line),
			 "Compared by force: %.100s was %.200s in the base and is %.200s.",
			 key->key, key->base, key->head);
		say(text, line);
	}
}

static void runs_line(const struct text *text)
{
	char line[DIFF_SENTENCE];

	diff_runs_words(text->diff, line, sizeof(line));
	if (line[0])
		say(text, line);
}

/* Is there anything that the curves could show? */
static bool changed(struct diff *diff)
{
	const struct diff_row **rows;
	int64_t noise;

	return diff_changed(diff, DIMENSION_DEVICE, NULL, COLUMN_ALLOCATED, &rows, &noise) ||
	       diff_changed(diff, DIMENSION_DEVICE, NULL, COLUMN_EXIT, &rows, &noise);
}

int diff_text(struct diff *diff, struct out *out, const struct diff_options *options)
{
	struct text text = { diff, { out, options->colour }, options };
	char sentence[DIFF_SENTENCE];

	diff_sentence(diff, sentence, sizeof(sentence));
	show_wrapped(&text.show, sentence, 0, true);
	gates_part(&text);
	if (!diff->base.count)
		return 0;
	unlike_part(&text);
	runs_line(&text);
	if (options->full && diff->moved)
		say(&text, "The same peak was reached at another moment, by others; that is no "
			   "change.");
	if (options->full || changed(diff))
		diff_curves(diff, &text.show, SHOW_COLUMNS, options->ascii);
	site_tables(&text);
	dimension_tables(&text);
	more_line(&text);
	return 0;
}
