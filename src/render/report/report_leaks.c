/* The report: what was never given back, and suppressions. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_analysis.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"

struct leaked {
	struct report_site row;
	const char *site, *space, *line;
	uint64_t count, allocations, frees;
};

static const struct emit_column leaked_members[] = {
	EMIT_MEMBER("site", TEXT, struct leaked, site),
	EMIT_MEMBER("space", TEXT, struct leaked, space),
	EMIT_MEMBER("line", TEXT, struct leaked, line),
	EMIT_MEMBER("bytes", BYTES, struct leaked, row.part),
	EMIT_MEMBER("count", COUNT, struct leaked, count),
	EMIT_MEMBER("allocations", COUNT, struct leaked, allocations),
	EMIT_MEMBER("frees", COUNT, struct leaked, frees),
	EMIT_END,
};

struct unused {
	uint64_t line;
	const char *pattern;
};

static const struct emit_column unused_members[] = {
	EMIT_MEMBER("line", NUMBER, struct unused, line),
	EMIT_MEMBER("pattern", TEXT, struct unused, pattern),
	EMIT_END,
};

struct leaks_found {
	uint64_t bytes, count, held, suppressed;
	struct emit_rows sites, unused;
};

static const struct emit_column leaks_members[] = {
	EMIT_MEMBER("bytes", BYTES, struct leaks_found, bytes),
	EMIT_MEMBER("count", COUNT, struct leaks_found, count),
	EMIT_MEMBER("held_bytes", BYTES, struct leaks_found, held),
	EMIT_MEMBER("suppressed_bytes", BYTES, struct leaks_found, suppressed),
	EMIT_LIST("sites", "\n", struct leaks_found, sites, leaked_members),
	EMIT_MEMBER("other_sites", HIDDEN, struct leaks_found, sites),
	EMIT_NESTED("other_sites_bytes", REST, struct leaks_found, sites, report_site_cells),
	EMIT_LIST("unused_suppressions", "", struct leaks_found, unused, unused_members),
	EMIT_END,
};

static struct leaked leaked_of(const struct report *report, const struct leak *leak)
{
	const struct trace_site *site = &report->trace->sites[leak->site];
	const char *line = report_line(report, leak->stack);
	char count[80];
	char name[300];

	text_join(count, sizeof(count), SAY_COUNT(leak->count), leak->allocations ? " of " : "");
	if (leak->allocations)
		text_append(count, sizeof(count), SAY_COUNT(leak->allocations));
	text_copy(name, sizeof(name), leak->stack == UINT32_MAX ? site->site : line);
	if (strcmp(site->space, "device") != 0 &&
	    strlen(name) + strlen(site->space) + 4 < sizeof(name))
		snprintf(name + strlen(name), sizeof(name) - strlen(name), " [%s]", site->space);
	return (struct leaked){
		{ { leak->bytes, report->study->leaks.bytes },
		  report_text_kept(report, name),
		  report_text_kept(report, count) },
		site->site,
		site->space,
		line,
		leak->count,
		leak->allocations,
		leak->frees,
	};
}

/* A suppression that fits nothing hides nothing: it is out of date, or has a slip. */
static int find_leaks(const struct report *report, struct leaks_found *found)
{
	const struct suppressions *all = &report->study->suppressions;
	const struct leaks *leaks = &report->study->leaks;
	struct leaked *list = report_room(report, (leaks->count + 1) * sizeof(*list));
	struct unused *unused = report_room(report, (all->count + 1) * sizeof(*unused));
	size_t unused_n = 0;

	if (!list || !unused)
		return err("no memory left");
	for (size_t i = 0; i < leaks->count; i++)
		list[i] = leaked_of(report, &leaks->list[i]);
	for (size_t i = 0; i < all->count; i++) {
		if (!all->list[i].used)
			unused[unused_n++] =
				(struct unused){ all->list[i].line, all->list[i].pattern };
	}
	*found = (struct leaks_found){
		leaks->bytes,
		leaks->blocks,
		leaks->held,
		leaks->suppressed,
		report_rows(report, list, leaks->count),
		EMIT_ROWS_OF(unused, unused_n),
	};
	return 0;
}

static void left_out(const struct report *report, uint64_t bytes, const char *what)
{
	if (bytes)
		report_note(report, SAY_BYTES(bytes), what);
}

int report_tell_leaks(const struct report *report)
{
	const struct leaks *leaks = &report->study->leaks;
	struct leaks_found found;
	int error = find_leaks(report, &found);

	if (!error && report->json)
		report_member(report, "\nleaks", leaks_members, &found);
	if (error || report->json)
		return error;
	if (leaks->count)
		report_say(report, SAID_HEADING,
			   "Never freed: %s in %s %s, with how many of the site's",
			   SAY_BYTES(leaks->bytes), SAY_COUNT(leaks->blocks),
			   leaks->blocks == 1 ? "block" : "blocks");
	else if (report->options->show)
		report_say(report, SAID_HEADING, "Never freed: nothing");
	report_site_rows(report, &found.sites);
	left_out(report, leaks->held, "left out: libraries hold it on purpose");
	left_out(report, leaks->suppressed, "left out: suppressed");
	for (size_t i = 0; i < found.unused.count; i++) {
		const struct unused *unused = (const struct unused *)found.unused.rows + i;

		report_say(report, 2, "%.150s:%u: this suppression fits nothing: %.150s",
			   report->options->suppressions, (unsigned)unused->line, unused->pattern);
	}
	return 0;
}
