/* Texts that the formats of a comparison share. */
#include "render/compare/diff.h"

#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/text/text.h"
#include "render/emit/term.h"

const struct diff_format diff_formats[] = {
#define DIFF_FORMAT(name, help) { #name, help, diff_##name },
#include "render/compare/diff_formats.def"
#undef DIFF_FORMAT
	{ NULL, NULL, NULL },
};

const char *const diff_why_words[WHYS] = {
#define WHY(id, way, word, verb) word,
#include "analyse/compare/diff_why.def"
#undef WHY
};

const char *diff_percent(char *to, int64_t base, int64_t head)
{
	double percent;

	if (base <= 0) {
		text_copy(to, DIFF_PERCENT, head > 0 ? "new" : "0%");
		return to;
	}
	percent = ((double)head - (double)base) * 100 / (double)base;
	snprintf(to, DIFF_PERCENT,
		 percent > -0.05 && percent < 0.05 && head != base ? "%.2g%%" : "%.1f%%",
		 percent < 0 ? -percent : percent);
	return to;
}

/* The name of a row, with its device where there may be others. */
static const char *row_name(struct diff *diff, const struct diff_row *row)
{
	const char *before = row->dimension == DIMENSION_DEVICE ? "device " : "";

	if (!row->group[0] || row->dimension == DIMENSION_SITE ||
	    (row->dimension == DIMENSION_CATEGORY && !strcmp(row->group, "device")))
		return show_kept(&diff->arena, "%s%s", before, row->name);
	return show_kept(&diff->arena,
			 row->dimension == DIMENSION_CATEGORY ? "%s%s [%s]" : "%s%s on device %s",
			 before, row->name, row->group);
}

const char *diff_file(const struct diff *diff, const char *file)
{
	const char *cwd = diff_head(diff)->trace.process.cwd;
	size_t length = cwd ? strlen(cwd) : 0;

	if (!file || !file[0] || file[0] == '<')
		return NULL;
	if (file[0] != '/')
		return strncmp(file, "./", 2) ? file : file + 2;
	while (length && cwd[length - 1] == '/')
		length--;
	if (!length || strncmp(file, cwd, length) != 0 || file[length] != '/')
		return NULL;
	return file + length + 1;
}

size_t diff_culprits(struct diff *diff, const struct diff_row ***list, enum column *column)
{
	static const enum column order[] = { COLUMN_ALLOCATED, COLUMN_EXIT };

	for (size_t i = 0; diff->base.count && i < 2; i++) {
		*column = order[i];
		if (diff_any(diff, DIMENSION_SITE, "device", order[i]))
			return diff_changed(diff, DIMENSION_SITE, "device", order[i], list);
	}
	return 0;
}

size_t diff_growers(struct diff *diff, const struct diff_row ***list, enum column *column)
{
	size_t count = diff_culprits(diff, list, column);
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct diff_row *row = (*list)[i];

		if (diff_change(row, *column) > 0 && row->why != WHY_MOMENT)
			(*list)[kept++] = row;
	}
	return kept;
}

const char *diff_runs_words(struct diff *diff)
{
	size_t left_out = diff->pairs_n ? diff_unpaired(diff) : 0;
	const char *others = "";

	if (diff->base.count < 2 && diff->head.count < 2)
		return "";
	if (!diff->pairs_n)
		return show_kept(&diff->arena,
				 "Of %zu base and %zu head runs the middle ones are shown; changes "
				 "within their spread count as none.",
				 diff->base.count, diff->head.count);
	if (left_out)
		others = show_kept(&diff->arena,
				   " %zu trace%s left out, of a rank on one side only.", left_out,
				   left_out == 1 ? " is" : "s are");
	return show_kept(&diff->arena,
			 "Compared rank by rank, %zu in all: rank %llu is shown, which grew most; "
			 "gates apply to the worst rank.%s",
			 diff->pairs_n, (unsigned long long)diff_rank(diff), others);
}

const char *diff_gate_words(struct diff *diff, const struct gate_result *result)
{
	const struct gate *gate = result->gate;
	bool bytes = metric_rows[gate->query.metric].bytes;
	int64_t change = result->head - result->base;

	if (gate->kind == GATE_MOST)
		return show_kept(&diff->arena, "%s: %s has %s%s%s%s", gate->text, result->place,
				 SAY_AMOUNT(result->head, bytes), result->broken ? ", " : "",
				 result->broken
					 ? SAY_AMOUNT(result->head - (int64_t)gate->amount, bytes)
					 : "",
				 result->broken ? " over" : "");
	if (!change)
		return show_kept(&diff->arena, "%s: %s stayed at %s", gate->text, result->place,
				 SAY_AMOUNT(result->head, bytes));
	return show_kept(
		&diff->arena, "%s: %s went from %s to %s (%s, %s%s)", gate->text, result->place,
		SAY_AMOUNT(result->base, bytes), SAY_AMOUNT(result->head, bytes),
		SAY_SIGNED(change, bytes), SAY_PERCENT(result->base, result->head),
		!result->broken && result->noise >= change && result->noise ? ", within the noise"
									    : "");
}

const char *diff_holds_words(struct diff *diff, const struct diff_row *row, enum column column)
{
	enum diff_why why = diff_why_of(row, column);

	return show_kept(&diff->arena, "%s holds %s %s%s%s%s", row->name,
			 SAY_SIGNED(diff_change(row, column), true),
			 column == COLUMN_EXIT ? "at exit" : "at the peak of allocated memory",
			 why ? " (" : "", diff_why_words[why], why ? ")" : "");
}

/* --- tables --- */

/* True if the column counts memory that is held: reasons explain no other columns. */
static bool tells_why(enum column column)
{
	return column == COLUMN_ALLOCATED || column == COLUMN_EXIT || column == COLUMN_LIVE;
}

static void add_change(struct diff *diff, struct changes *to, const struct diff_row *row,
		       enum column column)
{
	bool bytes = run_columns[column].bytes;

	to->list[to->list_n++] = (struct change_row){
		.of = row,
		.change =
			show_kept(&diff->arena, "%s", SAY_SIGNED(diff_change(row, column), bytes)),
		.base = show_kept(&diff->arena, "%s", SAY_AMOUNT(row->base[column], bytes)),
		.head = show_kept(&diff->arena, "%s", SAY_AMOUNT(row->head[column], bytes)),
		.why = row->dimension == DIMENSION_SITE && tells_why(column)
			       ? diff_why_words[diff_why_of(row, column)]
			       : NULL,
		.name = row_name(diff, row),
	};
}

static struct change_row *add_sum(struct diff *diff, struct changes *to, int64_t sum, bool bytes,
				  const char *name)
{
	to->list[to->list_n] = (struct change_row){
		.change = show_kept(&diff->arena, "%s", SAY_SIGNED(sum, bytes)),
		.base = "",
		.head = "",
		.name = name,
	};
	return &to->list[to->list_n++];
}

bool diff_changes(struct diff *diff, enum dimension dimension, const char *group,
		  enum column column, struct changes *to)
{
	bool bytes = run_columns[column].bytes;
	const struct diff_row **rows;
	struct change_row *all;
	int64_t left = 0;
	int64_t noise;
	int64_t base;
	int64_t head;

	to->list_n = 0;
	to->count = diff_changed(diff, dimension, group, column, &rows);
	to->shown = !to->limit || to->count <= to->limit + to->slack ? to->count : to->limit;
	to->list = need(&diff->arena, (to->shown + 3) * sizeof(*to->list));
	if (!to->count)
		return false;
	diff_totals(diff, group, column, &base, &head);
	noise = head - base;
	for (size_t i = 0; i < to->count; i++) {
		noise -= diff_change(rows[i], column);
		if (i < to->shown)
			add_change(diff, to, rows[i], column);
		else
			left += diff_change(rows[i], column);
	}
	if (to->shown < to->count)
		add_sum(diff, to, left, bytes,
			show_kept(&diff->arena, "... and %zu more", to->count - to->shown));
	if (dimension != DIMENSION_SITE)
		return true;
	if (noise)
		add_sum(diff, to, noise, bytes, "within the noise of several runs");
	all = add_sum(diff, to, head - base, bytes, "in all");
	all->base = show_kept(&diff->arena, "%s", SAY_AMOUNT(base, bytes));
	all->head = show_kept(&diff->arena, "%s", SAY_AMOUNT(head, bytes));
	return true;
}
