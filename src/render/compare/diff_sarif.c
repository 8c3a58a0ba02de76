/*
 * The comparison as SARIF 2.1.0: an error a broken gate, a note a site that grew.
 *
 * GitHub's code scanning wants a place for every result: where no line of the program is to blame
 * it is the trace. Fingerprints are of the site's name, so that a site that moves stays one alert.
 */
#include <string.h>

#include "base/mem/hash.h"
#include "base/settings/version.h"
#include "base/text/out.h"
#include "render/compare/diff.h"

enum { MOST = 100 };

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

static void result(struct out *out, const char **comma, const char *rule, const char *level,
		   const char *text)
{
	out_text(out, *comma);
	*comma = ",\n";
	out_text(out, "{\"ruleId\":");
	out_json(out, rule);
	out_format(out, ",\"level\":\"%s\",\"message\":{\"text\":", level);
	out_json(out, text);
	out_char(out, '}');
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

static void sites(struct diff *diff, struct out *out, const char **comma)
{
	const struct diff_row **rows;
	enum column column;
	size_t count = diff_growers(diff, &rows, &column);

	for (size_t i = 0; i < count && i < MOST; i++) {
		char text[DIFF_SENTENCE];

		diff_holds_words(rows[i], column, text, sizeof(text));
		result(out, comma, "site", "note", text);
		location(diff, out, rows[i]);
		fingerprint(out, "site", rows[i]->name);
	}
}

int diff_sarif(struct diff *diff, struct out *out, const struct diff_options *options)
{
	const struct diff_row **rows;
	enum column column;
	size_t count = diff_growers(diff, &rows, &column);
	const struct diff_row *first = count ? rows[0] : NULL;
	const char *comma = "\n";

	(void)options;
	out_text(out, "{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
		      "\"version\":\"2.1.0\",\n\"runs\":[{\"tool\":{\"driver\":{\"name\":"
		      "\"memtrace\",\"version\":\"" MEMTRACE_VERSION "\",");
	rules(out);
	out_text(out, "}},\n\"columnKind\":\"unicodeCodePoints\",\n\"results\":[");
	for (size_t i = 0; i < diff->gates_n; i++) {
		const struct gate_result *gate = &diff->gates[i];
		const char *rule = metric_rows[gate->gate->query.metric].name;
		char words[DIFF_SENTENCE];

		if (!gate->broken)
			continue;
		diff_gate_words(gate, words, sizeof(words));
		result(out, &comma, rule, "error", words);
		location(diff, out, first);
		fingerprint(out, rule, gate->gate->text);
	}
	sites(diff, out, &comma);
	out_text(out, "]}]}\n");
	return 0;
}
