/*
 * The comparison as a comment on a pull request: the sentence and the gates, with the sites folded.
 *
 * A comment holds 65,536 characters on GitHub. Rows stop well before this limit; the rest are
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

struct verdict_line {
	const char *mark, *words;
};

static void gates(struct out *out, struct diff *diff)
{
	static const struct emit_column cells[] = {
		EMIT_CELL("", 0, TEXT, struct verdict_line, mark),
		EMIT_CELL("gate", 0, TEXT, struct verdict_line, words),
		EMIT_END,
	};
	struct emit_rows rows = EMIT_NONE_OF(struct verdict_line, SIZE_MAX);

	for (size_t i = 0; i < diff->gates_n; i++)
		emit_add(&diff->arena, &rows,
			 &(struct verdict_line){ diff->gates[i].broken ? "\u274c" : "\u2705",
						 diff_gate_words(diff, &diff->gates[i]) });
	if (!rows.count)
		return;
	emit_markdown(out, &(struct emit_table){ .columns = cells, .rows = &rows }, MOST);
	out_char(out, '\n');
}

static void table(struct diff *diff, struct out *out, enum column column,
		  const struct diff_options *options)
{
	struct changes changes;

	if (written(out) >= MOST ||
	    !diff_changes(diff, DIMENSION_SITE, "device", column, options->limit, &changes))
		return;
	out_format(out, "<details><summary>%s: %zu %s</summary>\n\n", run_columns[column].what,
		   changes.rows.count, changes.rows.count == 1 ? "site" : "sites");
	emit_markdown(out,
		      &(struct emit_table){ .columns = changes.columns,
					    .rows = &changes.rows,
					    .after = &changes.after,
					    .summed = true },
		      MOST);
	out_text(out, "\n</details>\n\n");
}

void diff_markdown(struct diff *diff, struct out *out, const struct diff_options *options)
{
	const struct emit_rows remarks = diff_remarks(diff);

	out_text(out, "### GPU memory\n\n");
	if (diff_broken(diff))
		out_text(out, "**Gate broken.** ");
	markdown_text(out, diff_sentence(diff));
	out_text(out, "\n\n");
	gates(out, diff);
	for (size_t i = 0; i < remarks.count; i++) {
		out_text(out, "- ");
		markdown_text(out, ((const char *const *)remarks.rows)[i]);
		out_char(out, '\n');
	}
	if (remarks.count)
		out_char(out, '\n');
	for (enum column column = 0; diff->base.count && column < COLUMNS; column++) {
		if (diff_columns(diff, DIMENSION_SITE) & 1u << column)
			table(diff, out, column, options);
	}
}
