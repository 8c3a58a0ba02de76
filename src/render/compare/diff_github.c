/*
 * The comparison as annotations of GitHub Actions (workflow commands): an error a broken gate, at
 * the line of the site that is most to blame, a notice for each other site that grew.
 *
 * Escapes are those of @actions/core (command.ts): % CR LF in data, also : and , in properties.
 */
#include <stdio.h>
#include <string.h>

#include "base/text/out.h"
#include "render/compare/diff.h"
#include "render/values/values.h"

/* GitHub shows ten of a kind and drops the rest. */
enum { MOST = 10 };

static void escaped(struct out *out, const char *text, bool property)
{
	char safe[2 * DIFF_SENTENCE];

	show_safe(safe, sizeof(safe), text, DIFF_SENTENCE);
	for (const char *p = safe; *p; p++) {
		if (*p == '%' || (property && (*p == ':' || *p == ',')))
			out_format(out, "%%%02X", *p);
		else
			out_char(out, *p);
	}
}

/* "::error file=train.py,line=12,title=GPU memory::" */
static void begin(const struct diff *diff, struct out *out, const char *level,
		  const struct diff_row *row)
{
	const char *file = row ? diff_file(diff, row->file) : NULL;

	out_format(out, "::%s ", level);
	if (file) {
		out_text(out, "file=");
		escaped(out, file, true);
		out_text(out, ",");
		if (row->line)
			out_format(out, "line=%u,", row->line);
	}
	out_text(out, "title=GPU memory::");
}

/* The rows that went the way of the total. */
static void notices(struct diff *diff, struct out *out, size_t from)
{
	const struct diff_row **rows;
	enum column column;
	size_t count = diff_growers(diff, &rows, &column);

	for (size_t i = from; i < count && i < MOST; i++) {
		enum diff_why why = diff_why_of(rows[i], column);
		char amount[DIFF_AMOUNT];

		begin(diff, out, "notice", rows[i]);
		escaped(out, rows[i]->name, false);
		out_format(out, " holds %s %s",
			   diff_signed(amount, diff_change(rows[i], column), true),
			   column == COLUMN_EXIT ? "at exit" : "at the peak of allocated memory");
		if (why)
			out_format(out, " (%s)", diff_why_word(why));
		out_char(out, '\n');
	}
}

int diff_github(struct diff *diff, struct out *out, const struct diff_options *options)
{
	const struct diff_row **rows;
	enum column column;
	size_t count = diff_growers(diff, &rows, &column);
	const struct diff_row *first = count ? rows[0] : NULL;
	char sentence[DIFF_SENTENCE];
	size_t broken = 0;

	(void)options;
	diff_sentence(diff, sentence, sizeof(sentence));
	for (size_t i = 0; i < diff->gates_n; i++) {
		char words[DIFF_SENTENCE];

		if (!diff->gates[i].broken)
			continue;
		if (broken++ >= MOST)
			continue;
		diff_gate_words(&diff->gates[i], words, sizeof(words));
		begin(diff, out, "error", first);
		escaped(out, words, false);
		if (diff->base.count) {
			out_text(out, "%0A");
			escaped(out, sentence, false);
		}
		out_char(out, '\n');
	}
	if (!broken) {
		begin(diff, out, "notice", NULL);
		escaped(out, sentence, false);
		out_char(out, '\n');
	}
	notices(diff, out, broken && first ? 1 : 0);
	return 0;
}
