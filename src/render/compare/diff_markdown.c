/*
 * Writes a comparison as a comment on a pull request: a sentence, the gates, collapsed tables.
 *
 * Names of sites are in <code>, with entities for special characters: no name becomes markup.
 */
#include <string.h>

#include "base/text/out.h"
#include "render/compare/diff.h"
#include "render/emit/emit.h"

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

	foreach (gate, diff->gates)
		emit_add(&diff->arena, &rows,
			 &(struct verdict_line){ gate->broken ? "\u274c" : "\u2705",
						 diff_gate_words(diff, gate) });
	if (rows.count)
		emit_markdown(out, &(struct emit_table){ .columns = cells, .rows = &rows });
}

static void table(struct diff *diff, struct out *out, enum column column,
		  const struct diff_options *options)
{
	struct changes changes;

	if (diff_changes(diff, DIMENSION_SITE, "device", column, options->limit, &changes))
		emit_markdown_folded(out, &(struct emit_table){ .heading = run_columns[column].what,
								.columns = changes.columns,
								.rows = &changes.rows,
								.after = &changes.after,
								.summed = true });
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
	foreach (remark, ROWS_IN(const char *const, remarks)) {
		out_text(out, "- ");
		markdown_text(out, *remark);
		out_char(out, '\n');
	}
	if (remarks.count)
		out_char(out, '\n');
	for (enum column column = 0; diff->base.count && column < COLUMNS; column++) {
		if (diff_columns(diff, DIMENSION_SITE) & 1u << column)
			table(diff, out, column, options);
	}
}
