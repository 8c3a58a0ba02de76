/*
 * Writes a comparison for other programs, as a list of gates and of sites that hold more memory.
 *
 * JUnit XML has a test case for each gate, in the form that Jenkins' junit-10.xsd describes and
 * that GitLab, GitHub's reporters and Azure read. GitHub's annotations (workflow commands) and
 * SARIF 2.1.0 have an error for each broken gate, at the line of a site that broke it, and a
 * notice or note for each site that grew.
 *
 * GitHub's code scanning requires a file for every result: if no line of the program is known, the
 * file is the trace. A fingerprint is made of the gate's text or the site's name, not of the
 * line, so that a site that moves stays the same alert.
 */
#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/mem/hash.h"
#include "base/settings/version.h"
#include "render/compare/diff.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"

/* GitHub shows ten annotations of each level and drops the others. */
enum { ANNOTATIONS = 10 };
enum { NOTES = 100, LONGEST = 2048 }; /* limits: sites in the output, columns of a text */

struct ci_finding {
	enum { HOLDS, BROKEN, GREW } kind;
	const char *rule, *about; /* a gate's metric and text, or "site" and a site's name */
	const char *words;
	const char *file; /* the site's file as returned by diff_file(); NULL for none */
	uint64_t line;

	/* Members for SARIF only: */
	const char *level, *uri, *base, *print;
	struct emit_rows places; /* SARIF's list of locations: one row, this struct itself */
};

static void take_gate(struct diff *diff, struct ci_finding *to, const struct gate_result *gate)
{
	struct gate_site sites[GATE_SITES];
	size_t count = diff_gate_sites(diff, gate, sites);

	*to = (struct ci_finding){ .kind = gate->broken ? BROKEN : HOLDS,
				   .rule = metric_rows[gate->gate->query.metric].name,
				   .about = gate->gate->text,
				   .words = diff_gate_words(diff, gate) };
	for (size_t i = 0; i < count && !to->file; i++) {
		to->file = diff_file(diff, sites[i].file);
		to->line = to->file ? sites[i].line : 0;
	}
}

/* Returns all findings: the gates in their order, then the sites that grew, most growth first. */
static struct ci_finding *find_all(struct diff *diff, size_t *count)
{
	const struct diff_row **rows;
	enum column column;
	size_t growers = diff_growers(diff, &rows, &column);
	size_t grew = growers < NOTES ? growers : NOTES;
	struct ci_finding *list = NEED_ROOM(&diff->arena, list, diff->gates_n + grew);

	*count = diff->gates_n + grew;
	for (size_t i = 0; i < diff->gates_n; i++)
		take_gate(diff, &list[i], &diff->gates[i]);
	for (size_t i = 0; i < grew; i++) {
		const char *file = diff_file(diff, rows[i]->file);

		list[diff->gates_n + i] =
			(struct ci_finding){ .kind = GREW,
					     .rule = "site",
					     .about = rows[i]->name,
					     .words = diff_holds_words(diff, rows[i], column),
					     .file = file,
					     .line = file ? rows[i]->line : 0 };
	}
	return list;
}

/* --- JUnit --- */

/* Writes text as XML 1.0, which forbids most control characters; show_safe() replaces them. */
static void put_xml(struct out *out, const char *text)
{
	static const char marks[] = "&<>\"";
	static const char *const names[] = { "&amp;", "&lt;", "&gt;", "&quot;" };
	char safe[2 * LONGEST];

	show_safe(safe, sizeof(safe), text, LONGEST);
	for (const char *p = safe; *p; p++) {
		const char *mark = strchr(marks, *p);

		if (mark)
			out_text(out, names[mark - marks]);
		else
			out_char(out, *p);
	}
}

/* Writes a gate as a test case; if the gate is broken, lists sites[0] to sites[grew - 1]. */
static void put_case(struct out *out, const struct ci_finding *gate, const struct ci_finding *sites,
		     size_t grew)
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
	foreach (site, sites, grew) {
		put_xml(out, site->words);
		out_char(out, '\n');
	}
	out_text(out, "</failure>\n    </testcase>\n");
}

void diff_junit(struct diff *diff, struct out *out, const struct diff_options *options)
{
	size_t count;
	const struct ci_finding *list = find_all(diff, &count);
	size_t grew = count - diff->gates_n;
	const char *suite =
		show_kept(&diff->arena, " name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\"",
			  diff->base.count ? "memtrace diff" : "memtrace check",
			  diff->gates_n ? diff->gates_n : 1, diff_broken(diff));

	grew = options->limit && options->limit < grew ? options->limit : grew;
	out_format(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites%s time=\"0\">\n"
		   "  <testsuite%s skipped=\"0\" time=\"0\">\n",
		   suite, suite);
	/* A suite without cases would count as not run, so it gets a case that passes. */
	if (!diff->gates_n)
		out_text(out,
			 "    <testcase classname=\"memtrace\" name=\"no gate\" time=\"0\"/>\n");
	foreach (row, list, diff->gates_n)
		put_case(out, row, &list[diff->gates_n], grew);
	out_text(out, "    <system-out>");
	put_xml(out, diff_sentence(diff));
	out_text(out, "</system-out>\n  </testsuite>\n</testsuites>\n");
}

/* --- GitHub --- */

/* Writes text with '%' escaped, and in a property ':' and ',' too, as @actions/core does
 * (command.ts). CR and LF need no escape: show_safe() has replaced them. */
static void put_command(struct out *out, const char *text, bool property)
{
	char safe[2 * LONGEST];

	show_safe(safe, sizeof(safe), text, LONGEST);
	for (const char *p = safe; *p; p++) {
		if (*p == '%' || (property && (*p == ':' || *p == ',')))
			out_format(out, "%%%02X", *p);
		else
			out_char(out, *p);
	}
}

/* Writes a finding as "::error file=train.py,line=12,title=GPU memory::allocated.peak>2%25: ...".
 * `more`, unless it is NULL, becomes a second line of the message. */
static void annotate(struct out *out, const char *level, const struct ci_finding *finding,
		     const char *more)
{
	out_format(out, "::%s ", level);
	if (finding->file) {
		out_text(out, "file=");
		put_command(out, finding->file, true);
		out_text(out, ",");
		if (finding->line)
			out_format(out, "line=%llu,", (unsigned long long)finding->line);
	}
	out_text(out, "title=GPU memory::");
	put_command(out, finding->words, false);
	if (more) {
		out_text(out, "%0A");
		put_command(out, more, false);
	}
	out_char(out, '\n');
}

void diff_github(struct diff *diff, struct out *out, const struct diff_options *options)
{
	size_t count;
	const struct ci_finding *list = find_all(diff, &count);
	size_t broken = 0;
	/* If a gate is broken, its error is at the line of the first site, which gets no notice. */
	size_t sites = diff_broken(diff) > 0;
	const char *sentence = diff_sentence(diff);

	(void)options;
	if (!sites)
		annotate(out, "notice", &(struct ci_finding){ .words = sentence }, NULL);
	for (size_t i = 0; i < count; i++) {
		const struct ci_finding *finding = &list[i];

		if (finding->kind == BROKEN && broken++ < ANNOTATIONS)
			annotate(out, "error", finding, diff->base.count ? sentence : NULL);
		else if (finding->kind == GREW && i - diff->gates_n >= sites &&
			 i - diff->gates_n < ANNOTATIONS)
			annotate(out, "notice", finding, NULL);
	}
}

/* --- SARIF --- */

struct sarif {
	const char *schema, *version, *name, *tool_version, *unit;
	struct emit_rows rules, results, runs; /* `runs` has one row: this struct */
};

static const struct emit_column text_columns[] = { { .key = "text", .kind = EMIT_TEXT }, EMIT_END };

static const struct emit_column rule_columns[] = {
	EMIT_MEMBER("id", TEXT, struct metric_row, name),
	EMIT_NESTED("shortDescription", OBJECT, struct metric_row, what, text_columns),
	EMIT_END,
};

/* Columns for a SARIF result and the objects in it: all read the same struct ci_finding. */
static const struct emit_column artifact_columns[] = {
	EMIT_FIELD(TEXT, struct ci_finding, uri),
	EMIT_IF_KNOWN("uriBaseId", TEXT, struct ci_finding, base),
	EMIT_END,
};
static const struct emit_column region_columns[] = {
	EMIT_MEMBER("startLine", NUMBER, struct ci_finding, line),
	EMIT_END,
};
static const struct emit_column physical_columns[] = {
	{ .key = "artifactLocation", .kind = EMIT_OBJECT, .of = artifact_columns },
	{ .key = "region", .kind = EMIT_OBJECT, .of = region_columns },
	EMIT_END,
};
static const struct emit_column place_columns[] = {
	{ .key = "physicalLocation", .kind = EMIT_OBJECT, .of = physical_columns },
	EMIT_END,
};
static const struct emit_column print_columns[] = {
	EMIT_MEMBER("memtraceSite/v1", TEXT, struct ci_finding, print),
	EMIT_END,
};
static const struct emit_column result_columns[] = {
	EMIT_MEMBER("ruleId", TEXT, struct ci_finding, rule),
	EMIT_FIELD(TEXT, struct ci_finding, level),
	EMIT_NESTED("message", OBJECT, struct ci_finding, words, text_columns),
	EMIT_LIST("locations", "", struct ci_finding, places, place_columns),
	{ .key = "partialFingerprints", .kind = EMIT_OBJECT, .of = print_columns },
	EMIT_END,
};
static const struct emit_column driver_columns[] = {
	EMIT_FIELD(TEXT, struct sarif, name),
	EMIT_MEMBER("version", TEXT, struct sarif, tool_version),
	EMIT_LIST("rules", "\n", struct sarif, rules, rule_columns),
	EMIT_END,
};
static const struct emit_column tool_columns[] = {
	{ .key = "driver", .kind = EMIT_OBJECT, .of = driver_columns },
	EMIT_END,
};
static const struct emit_column sarif_run_columns[] = {
	{ .key = "tool", .kind = EMIT_OBJECT, .of = tool_columns },
	EMIT_MEMBER("\ncolumnKind", TEXT, struct sarif, unit),
	EMIT_LIST("\nresults", "\n", struct sarif, results, result_columns),
	EMIT_END,
};
static const struct emit_column sarif_columns[] = {
	EMIT_MEMBER("$schema", TEXT, struct sarif, schema),
	EMIT_FIELD(TEXT, struct sarif, version),
	EMIT_LIST("\nruns", "", struct sarif, runs, sarif_run_columns),
	EMIT_END,
};

/* Returns a path as a URI reference (RFC 3986). Escapes colons, which would end a scheme. */
static const char *uri_of(struct diff *diff, const char *path)
{
	char *uri = need(&diff->arena, 3 * strlen(path) + 1);

	for (char *to = uri; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
		    strchr("-._~/", c))
			*to++ = *path;
		else
			to += snprintf(to, 4, "%%%02X", c);
	}
	return uri;
}

static void take_result(struct diff *diff, struct ci_finding *to)
{
	uint64_t hash = hash_mix(hash_bytes(to->rule, strlen(to->rule)),
				 hash_bytes(to->about, strlen(to->about)));

	to->print = show_kept(&diff->arena, "%016llx", (unsigned long long)hash);
	to->level = to->kind == BROKEN ? "error" : "note";
	to->uri = uri_of(diff, to->file ? to->file : diff_head(diff)->trace.path);
	to->base = to->file ? "%SRCROOT%" : NULL;
	to->line = to->line ? to->line : 1;
	to->places = EMIT_ROWS_OF(to, 1);
}

void diff_sarif(struct diff *diff, struct out *out, const struct diff_options *options)
{
	size_t count;
	struct ci_finding *list = find_all(diff, &count);
	struct metric_row rules[METRIC_IDS + 1];
	struct sarif sarif = {
		.schema = "https://json.schemastore.org/sarif-2.1.0.json",
		.version = "2.1.0",
		.name = "memtrace",
		.tool_version = MEMTRACE_VERSION,
		.unit = "unicodeCodePoints",
		.rules = EMIT_ROWS_OF(rules, METRIC_IDS + 1),
		.results = EMIT_ROWS_OF(list, 0),
		.runs = EMIT_ROWS_OF(&sarif, 1),
	};

	(void)options;
	memcpy(rules, metric_rows, sizeof(rules));
	rules[METRIC_IDS].name = "site";
	rules[METRIC_IDS].what = "a call site that holds more GPU memory";
	foreach (row, list, count) {
		if (row->kind == HOLDS)
			continue;
		list[sarif.results.count] = *row;
		take_result(diff, &list[sarif.results.count++]);
	}
	emit_json(out, sarif_columns, &sarif);
	out_char(out, '\n');
}
