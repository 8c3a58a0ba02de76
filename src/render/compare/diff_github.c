/*
 * The comparison as annotations of GitHub Actions (workflow commands): an error a broken gate, at
 * the line of the site that is most to blame, a notice for each other site that grew.
 *
 * Escapes are those of @actions/core (command.ts): % CR LF in data, also : and , in properties.
 */
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

static void line(const struct diff *diff, struct out *out, const char *level,
		 const struct diff_row *row, const char *words)
{
	begin(diff, out, level, row);
	escaped(out, words, false);
	out_char(out, '\n');
}

/* The rows that went the way of the total. */
static void notices(struct diff *diff, struct out *out, size_t from)
{
	const struct diff_row **rows;
	enum column column;
	size_t count = diff_growers(diff, &rows, &column);

	for (size_t i = from; i < count && i < MOST; i++) {
		char words[DIFF_SENTENCE];

		diff_holds_words(rows[i], column, words, sizeof(words));
		line(diff, out, "notice", rows[i], words);
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
	if (!broken)
		line(diff, out, "notice", NULL, sentence);
	notices(diff, out, broken && first ? 1 : 0);
	return 0;
}
