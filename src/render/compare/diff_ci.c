/*
 * The comparison as other programs' formats: what they are told is one list, of the gates and of
 * the sites that hold more.
 *
 * JUnit XML has a test case a gate, in the form that Jenkins' junit-10.xsd describes and that
 * GitLab, GitHub's reporters and Azure read. GitHub's annotations (workflow commands) and SARIF
 * 2.1.0 have an error a broken gate, at the line of the site that is most to blame, and a notice or
 * note a site that grew.
 *
 * GitHub's code scanning wants a place for every result: where no line of the program is to blame
 * it is the trace. Fingerprints are of the site's name, so that a site that moves stays one alert.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/mem/hash.h"
#include "base/settings/version.h"
#include "render/compare/diff.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"

/* GitHub shows ten annotations of a kind and drops the rest. */
enum { ANNOTATIONS = 10, NOTES = 100 };

struct ci_finding {
	enum { HOLDS, BROKEN, GREW } kind;
	const char *rule, *about;    /* a metric and its gate; "site" and its name */
	const struct diff_row *site; /* whose line it is at, NULL for none */
	char words[DIFF_SENTENCE];
};

/* The gates in their order, then the sites that grew, the most telling first: NULL, with
 * err_text(), without memory. */
static struct ci_finding *find_all(struct diff *diff, size_t *count)
{
	const struct diff_row **rows;
	enum column column;
	size_t growers = diff_growers(diff, &rows, &column);
	size_t grew = growers < NOTES ? growers : NOTES;
	struct ci_finding *list =
		arena_alloc(&diff->arena, (diff->gates_n + grew + 1) * sizeof(*list));

	*count = diff->gates_n + grew;
	for (size_t i = 0; list && i < *count; i++) {
		struct ci_finding *to = &list[i];
		const struct gate_result *gate = &diff->gates[i];

		if (i < diff->gates_n) {
			to->kind = gate->broken ? BROKEN : HOLDS;
			to->rule = metric_rows[gate->gate->query.metric].name;
			to->about = gate->gate->text;
			to->site = grew ? rows[0] : NULL;
			diff_gate_words(gate, to->words, sizeof(to->words));
		} else {
			to->kind = GREW;
			to->rule = "site";
			to->site = rows[i - diff->gates_n];
			to->about = to->site->name;
			diff_holds_words(to->site, column, to->words, sizeof(to->words));
		}
	}
	if (!list)
		err("no memory left");
	return list;
}

static size_t broken_of(const struct diff *diff)
{
	size_t broken = 0;

	for (size_t i = 0; i < diff->gates_n; i++)
		broken += diff->gates[i].broken;
	return broken;
}

/* --- JUnit --- */

/* XML 1.0 has no way to write most controls: they are gone before this. */
static void put_xml(struct out *out, const char *text)
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

static void put_culprits(struct diff *diff, struct out *out, size_t limit)
{
	const struct diff_row **rows;
	enum column column;
	size_t count = diff_culprits(diff, &rows, &column);

	for (size_t i = 0; i < count && (!limit || i < limit); i++) {
		out_text(out, SAY_SIGNED(diff_change(rows[i], column), true));
		out_text(out, "  ");
		put_xml(out, rows[i]->name);
		out_char(out, '\n');
	}
}

static void put_case(struct diff *diff, struct out *out, const struct ci_finding *gate,
		     size_t limit)
{
	out_text(out, "    <testcase classname=\"memtrace\" name=\"");
	put_xml(out, gate->about);
	out_text(out, "\" time=\"0\"");
	if (gate->kind == HOLDS) {
		out_text(out, "/>\n");
		return;
	}
	out_text(out, ">\n      <failure type=\"");
	put_xml(out, gate->rule);
	out_text(out, "\" message=\"");
	put_xml(out, gate->words);
	out_text(out, "\">");
	put_culprits(diff, out, limit);
	out_text(out, "</failure>\n    </testcase>\n");
}

int diff_junit(struct diff *diff, struct out *out, const struct diff_options *options)
{
	size_t count;
	const struct ci_finding *list = find_all(diff, &count);
	char suite[200];
	char sentence[DIFF_SENTENCE];

	if (!list)
		return -ENOMEM;
	snprintf(suite, sizeof(suite), " name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\"",
		 diff->base.count ? "memtrace diff" : "memtrace check",
		 diff->gates_n ? diff->gates_n : 1, broken_of(diff));
	out_format(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites%s time=\"0\">\n"
		   "  <testsuite%s skipped=\"0\" time=\"0\">\n",
		   suite, suite);
	/* A suite without cases looks to its readers like one that did not run. */
	if (!diff->gates_n)
		out_text(out,
			 "    <testcase classname=\"memtrace\" name=\"no gate\" time=\"0\"/>\n");
	for (size_t i = 0; i < diff->gates_n; i++)
		put_case(diff, out, &list[i], options->limit);
	diff_sentence(diff, sentence, sizeof(sentence));
	out_text(out, "    <system-out>");
	put_xml(out, sentence);
	out_text(out, "</system-out>\n  </testsuite>\n</testsuites>\n");
	return 0;
}

/* --- GitHub --- */

/* As @actions/core (command.ts) does: % CR LF in data, also : and , in properties. */
static void put_command(struct out *out, const char *text, bool property)
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

/* "::error file=train.py,line=12,title=GPU memory::device 0 went ...", and a second line. */
static void annotate(const struct diff *diff, struct out *out, const char *level,
		     const struct diff_row *row, const char *words, const char *more)
{
	const char *file = row ? diff_file(diff, row->file) : NULL;

	out_format(out, "::%s ", level);
	if (file) {
		out_text(out, "file=");
		put_command(out, file, true);
		out_text(out, ",");
		if (row->line)
			out_format(out, "line=%u,", row->line);
	}
	out_text(out, "title=GPU memory::");
	put_command(out, words, false);
	if (more) {
		out_text(out, "%0A");
		put_command(out, more, false);
	}
	out_char(out, '\n');
}

int diff_github(struct diff *diff, struct out *out, const struct diff_options *options)
{
	size_t count;
	const struct ci_finding *list = find_all(diff, &count);
	size_t broken = 0;
	/* A broken gate stands at the line of the first site. */
	size_t sites = broken_of(diff) > 0;
	char sentence[DIFF_SENTENCE];

	(void)options;
	if (!list)
		return -ENOMEM;
	diff_sentence(diff, sentence, sizeof(sentence));
	if (!sites)
		annotate(diff, out, "notice", NULL, sentence, NULL);
	for (size_t i = 0; i < count; i++) {
		const struct ci_finding *finding = &list[i];

		if (finding->kind == BROKEN && broken++ < ANNOTATIONS)
			annotate(diff, out, "error", finding->site, finding->words,
				 diff->base.count ? sentence : NULL);
		else if (finding->kind == GREW && i - diff->gates_n >= sites &&
			 i - diff->gates_n < ANNOTATIONS)
			annotate(diff, out, "notice", finding->site, finding->words, NULL);
	}
	return 0;
}

/* --- SARIF --- */

/* A path as a URI reference (RFC 3986): a segment with a colon would look like a scheme. */
static void uri(struct out *out, const char *path)
{
	out_char(out, '"');
	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
		    strchr("-._~/", c))
			out_char(out, (char)c);
		else
			out_format(out, "%%%02X", c);
	}
	out_char(out, '"');
}

static void location(const struct diff *diff, struct out *out, const struct diff_row *row)
{
	const char *file = row ? diff_file(diff, row->file) : NULL;

	out_text(out, ",\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":");
	uri(out, file ? file : diff_head(diff)->trace.path);
	if (file)
		out_text(out, ",\"uriBaseId\":\"%SRCROOT%\"");
	out_format(out, "},\"region\":{\"startLine\":%u}}}]", file && row->line ? row->line : 1u);
}

static void fingerprint(struct out *out, const char *rule, const char *name)
{
	uint64_t hash = hash_mix(hash_bytes(rule, strlen(rule)), hash_bytes(name, strlen(name)));

	out_format(out, ",\"partialFingerprints\":{\"memtraceSite/v1\":\"%016llx\"}}",
		   (unsigned long long)hash);
}

static void rules(struct out *out)
{
	out_text(out, "\"rules\":[");
	for (size_t i = 0; i < METRIC_IDS; i++) {
		out_text(out, i ? ",\n{\"id\":" : "\n{\"id\":");
		out_json(out, metric_rows[i].name);
		out_text(out, ",\"shortDescription\":{\"text\":");
		out_json(out, metric_rows[i].what);
		out_text(out, "}}");
	}
	out_text(out, ",\n{\"id\":\"site\",\"shortDescription\":{\"text\":\"a call site that holds "
		      "more GPU memory\"}}]");
}

int diff_sarif(struct diff *diff, struct out *out, const struct diff_options *options)
{
	size_t count;
	const struct ci_finding *list = find_all(diff, &count);
	const char *comma = "\n";

	(void)options;
	if (!list)
		return -ENOMEM;
	out_text(out, "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
		      "\"version\":\"2.1.0\",\n\"runs\":[{\"tool\":{\"driver\":{\"name\":"
		      "\"memtrace\",\"version\":\"" MEMTRACE_VERSION "\",");
	rules(out);
	out_text(out, "}},\n\"columnKind\":\"unicodeCodePoints\",\n\"results\":[");
	for (size_t i = 0; i < count; i++) {
		if (list[i].kind == HOLDS)
			continue;
		out_text(out, comma);
		comma = ",\n";
		member_text(out, "{\"ruleId\":", list[i].rule);
		member_text(out, ",\"level\":", list[i].kind == BROKEN ? "error" : "note");
		member_text(out, ",\"message\":{\"text\":", list[i].words);
		out_char(out, '}');
		location(diff, out, list[i].site);
		fingerprint(out, list[i].rule, list[i].about);
	}
	out_text(out, "]}]}\n");
	return 0;
}
