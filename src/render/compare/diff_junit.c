/*
 * The gates as JUnit XML: one test case each, in the form that Jenkins' junit-10.xsd describes and
 * that GitLab, GitHub's reporters and Azure read.
 */
#include <string.h>

#include "base/text/out.h"
#include "render/compare/diff.h"
#include "render/values/values.h"

/* XML 1.0 has no way to write most controls: they are gone before this. */
static void escaped(struct out *out, const char *text)
{
	char safe[2 * DIFF_SENTENCE];

	show_safe(safe, sizeof(safe), text, DIFF_SENTENCE);
	for (const char *p = safe; *p; p++) {
		if (*p == '&')
			out_text(out, "&amp;");
		else if (*p == '<')
			out_text(out, "&lt;");
		else if (*p == '>')
			out_text(out, "&gt;");
		else if (*p == '"')
			out_text(out, "&quot;");
		else
			out_char(out, *p);
	}
}

static void culprits(struct diff *diff, struct out *out, size_t limit)
{
	const struct diff_row **rows;
	enum column column;
	size_t count = diff_culprits(diff, &rows, &column);

	for (size_t i = 0; i < count && (!limit || i < limit); i++) {
		char amount[DIFF_AMOUNT];

		out_text(out, diff_signed(amount, diff_change(rows[i], column), true));
		out_text(out, "  ");
		escaped(out, rows[i]->name);
		out_char(out, '\n');
	}
}

static void gate(struct diff *diff, struct out *out, const struct gate_result *result, size_t limit)
{
	char words[DIFF_SENTENCE];

	diff_gate_words(result, words, sizeof(words));
	out_text(out, "    <testcase classname=\"memtrace\" name=\"");
	escaped(out, result->gate->text);
	out_text(out, "\" time=\"0\"");
	if (!result->broken) {
		out_text(out, "/>\n");
		return;
	}
	out_text(out, ">\n      <failure type=\"");
	escaped(out, metric_rows[result->gate->query.metric].name);
	out_text(out, "\" message=\"");
	escaped(out, words);
	out_text(out, "\">");
	culprits(diff, out, limit);
	out_text(out, "</failure>\n    </testcase>\n");
}

int diff_junit(struct diff *diff, struct out *out, const struct diff_options *options)
{
	const char *name = diff->base.count ? "memtrace diff" : "memtrace check";
	char sentence[DIFF_SENTENCE];
	size_t failures = 0;
	size_t tests = diff->gates_n ? diff->gates_n : 1;

	for (size_t i = 0; i < diff->gates_n; i++)
		failures += diff->gates[i].broken;
	diff_sentence(diff, sentence, sizeof(sentence));
	out_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	out_format(out,
		   "<testsuites name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
		   "time=\"0\">\n",
		   name, tests, failures);
	out_format(out,
		   "  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
		   "skipped=\"0\" time=\"0\">\n",
		   name, tests, failures);
	/* A suite without cases looks to its readers like one that did not run. */
	if (!diff->gates_n)
		out_text(out,
			 "    <testcase classname=\"memtrace\" name=\"no gate\" time=\"0\"/>\n");
	for (size_t i = 0; i < diff->gates_n; i++)
		gate(diff, out, &diff->gates[i], options->limit);
	out_text(out, "    <system-out>");
	escaped(out, sentence);
	out_text(out, "</system-out>\n  </testsuite>\n</testsuites>\n");
	return 0;
}
