/*
 * The comparison as a comment on a pull request: the sentence and the gates, sites folded.
 *
 * A comment holds 65,536 characters on GitHub. Rows stop well before that, and those left out are
 * summed. Names are entities inside <code>, so nothing in them is markup, a mention or a link.
 */
#include <string.h>

#include "render/compare/diff.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"

enum { MOST = 48000 };

static uint64_t written(const struct out *out)
{
	return out->written + out->used;
}

static void gates(struct out *out, struct diff *diff)
{
	if (!diff->gates_n)
		return;
	out_text(out, "| | gate |\n|---|---|\n");
	for (size_t i = 0; i < diff->gates_n && written(out) < MOST; i++) {
		out_text(out, diff->gates[i].broken ? "| \u274c | " : "| \u2705 | ");
		markdown_text(out, diff_gate_words(diff, &diff->gates[i]));
		out_text(out, " |\n");
	}
	out_char(out, '\n');
}

static void row_line(struct out *out, const struct change_row *row, bool last)
{
	out_format(out, "| %s | %s | %s | %s", row->change, row->base, row->head,
		   row->of ? "<code>"
		   : last  ? "**"
			   : "");
	if (row->of)
		markdown_text(out, row->name);
	else
		out_text(out, row->name);
	out_format(out, "%s | %s%s|\n",
		   row->of ? "</code>"
		   : last  ? "**"
			   : "",
		   row->why ? row->why : "", row->of ? " " : "");
}

static void table(struct diff *diff, struct out *out, enum column column,
		  const struct diff_options *options)
{
	struct changes rows = { .limit = options->limit };
	size_t i = 0;

	if (written(out) >= MOST || !diff_changes(diff, DIMENSION_SITE, "device", column, &rows))
		return;
	out_format(out,
		   "<details><summary>%s: %zu %s</summary>\n\n| change | base | head | site | "
		   "why |\n|--:|--:|--:|---|---|\n",
		   run_columns[column].what, rows.count, rows.count == 1 ? "site" : "sites");
	for (; i < rows.shown && written(out) < MOST; i++)
		row_line(out, &rows.list[i], false);
	rows.limit = i ? i : 1;
	if (i < rows.shown)
		diff_changes(diff, DIMENSION_SITE, "device", column, &rows);
	for (; i < rows.list_n; i++)
		row_line(out, &rows.list[i], i + 1 == rows.list_n);
	out_text(out, "\n</details>\n\n");
}

int diff_markdown(struct diff *diff, struct out *out, const struct diff_options *options)
{
	const char *runs = diff_runs_words(diff);

	out_text(out, "### GPU memory\n\n");
	if (diff_broken(diff))
		out_text(out, "**Gate broken.** ");
	markdown_text(out, diff_sentence(diff));
	out_text(out, "\n\n");
	gates(out, diff);
	if (runs[0])
		out_format(out, "%s\n\n", runs);
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
		if (diff_columns(diff, DIMENSION_SITE) & 1u << column)
			table(diff, out, column, options);
	}
	return 0;
}
