/*
 * The comparison as a comment on a pull request: the sentence and the gates, sites folded.
 *
 * A comment holds 65,536 characters on GitHub; rows stop well before that, summed like any that are
 * left out. Names are entities inside <code>: nothing of them is markup, a mention or a link.
 */
#include <stdio.h>
#include <string.h>

#include "base/text/out.h"
#include "render/compare/diff.h"
#include "render/emit/markdown.h"

enum { MOST = 48000 };

static uint64_t written(const struct out *out)
{
	return out->written + out->used;
}

static void gates(struct out *out, const struct diff *diff)
{
	if (!diff->gates_n)
		return;
	out_text(out, "| | gate |\n|---|---|\n");
	for (size_t i = 0; i < diff->gates_n && written(out) < MOST; i++) {
		char words[DIFF_SENTENCE];

		diff_gate_words(&diff->gates[i], words, sizeof(words));
		out_text(out, diff->gates[i].broken ? "| \u274c | " : "| \u2705 | ");
		markdown_text(out, words);
		out_text(out, " |\n");
	}
	out_char(out, '\n');
}

static void line(struct out *out, int64_t change, const char *base, const char *head, bool bytes)
{
	char amount[DIFF_AMOUNT];

	out_format(out, "| %s | %s | %s | ", diff_signed(amount, change, bytes), base, head);
}

static void row_line(struct out *out, const struct diff_row *row, enum column column, bool why)
{
	bool bytes = run_columns[column].bytes;
	char amounts[2][DIFF_AMOUNT];
	char name[SITE_LONGEST + 64];

	line(out, diff_change(row, column), diff_amount(amounts[0], row->base[column], bytes),
	     diff_amount(amounts[1], row->head[column], bytes), bytes);
	diff_row_name(row, name, sizeof(name));
	out_text(out, "<code>");
	markdown_text(out, name);
	out_format(out, "</code> | %s |\n", why ? diff_why_word(diff_why_of(row, column)) : "");
}

static void table(struct diff *diff, struct out *out, enum column column,
		  const struct diff_options *options)
{
	bool bytes = run_columns[column].bytes;
	const struct diff_row **rows;
	char amounts[2][DIFF_AMOUNT];
	int64_t noise;
	int64_t base;
	int64_t head;
	int64_t left = 0;
	size_t count = diff_changed(diff, DIMENSION_SITE, "device", column, &rows, &noise);
	size_t shown = 0;

	if (!count || written(out) >= MOST)
		return;
	out_format(out,
		   "<details><summary>%s: %zu %s</summary>\n\n| change | base | head | site | "
		   "why |\n|--:|--:|--:|---|---|\n",
		   run_columns[column].what, count, count == 1 ? "site" : "sites");
	for (; shown < count && (!options->limit || shown < options->limit) && written(out) < MOST;
	     shown++)
		row_line(out, rows[shown], column,
			 column == COLUMN_ALLOCATED || column == COLUMN_EXIT ||
				 column == COLUMN_LIVE);
	for (size_t i = shown; i < count; i++)
		left += diff_change(rows[i], column);
	if (shown < count) {
		line(out, left, "", "", bytes);
		out_format(out, "... and %zu more | |\n", count - shown);
	}
	if (noise) {
		line(out, noise, "", "", bytes);
		out_text(out, "within the noise of several runs | |\n");
	}
	diff_totals(diff, "device", column, &base, &head);
	line(out, head - base, diff_amount(amounts[0], base, bytes),
	     diff_amount(amounts[1], head, bytes), bytes);
	out_text(out, "**in all** | |\n\n</details>\n\n");
}

int diff_markdown(struct diff *diff, struct out *out, const struct diff_options *options)
{
	char sentence[DIFF_SENTENCE];

	diff_sentence(diff, sentence, sizeof(sentence));
	out_text(out, "### GPU memory\n\n");
	if (diff_broken(diff))
		out_text(out, "**Gate broken.** ");
	markdown_text(out, sentence);
	out_text(out, "\n\n");
	gates(out, diff);
	diff_runs_words(diff, sentence, sizeof(sentence));
	if (sentence[0])
		out_format(out, "%s\n\n", sentence);
	for (size_t i = 0; i < diff->unlike_n; i++) {
		out_text(out, "- Compared by force: ");
		markdown_text(out, diff->unlike[i].key);
		out_text(out, " was ");
		markdown_text(out, diff->unlike[i].base);
		out_text(out, ", is ");
		markdown_text(out, diff->unlike[i].head);
		out_char(out, '\n');
	}
	for (enum column column = 0; diff->base.count && column < COLUMNS; column++) {
		if (diff->site_columns & 1u << column)
			table(diff, out, column, options);
	}
	return 0;
}
