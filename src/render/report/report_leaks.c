/* Two sections: the call sites that hold memory at the end, and those of leaked memory. */
#include <string.h>

#include "render/report/report_parts.h"

struct left {
	struct report_site row;
	const char *site, *space, *line;
	struct leak of;
	uint64_t number;
};

static const struct emit_column left_members[] = {
	EMIT_FIELD(TEXT, struct left, site),
	EMIT_FIELD(TEXT, struct left, space),
	EMIT_MEMBER("bytes", BYTES, struct left, row.part),
	EMIT_END,
};

static const struct emit_column leaked_members[] = {
	EMIT_FIELD(TEXT, struct left, site), EMIT_FIELD(TEXT, struct left, space),
	EMIT_FIELD(TEXT, struct left, line), EMIT_MEMBER("bytes", BYTES, struct left, row.part),
	EMIT_OF(COUNT, struct left, count),  EMIT_OF(COUNT, struct left, allocations),
	EMIT_OF(COUNT, struct left, frees),  EMIT_END,
};

static const struct sort_key left_order[] = {
	SORT_DOWN(struct left, row.part.bytes),
	SORT_UP(struct left, number),
	{ 0 },
};

static const struct emit_column unused_members[] = {
	EMIT_FIELD(POSITION, struct suppression, line),
	EMIT_FIELD(TEXT, struct suppression, pattern),
	EMIT_END,
};

struct lefts {
	uint64_t bytes;
	struct leaks of;
	struct emit_rows sites, unused;
};

static const struct emit_column lefts_members[] = {
	EMIT_FIELD(BYTES, struct lefts, bytes),
	EMIT_LIST("sites", "\n", struct lefts, sites, left_members),
	EMIT_MEMBER("other_sites", HIDDEN, struct lefts, sites),
	EMIT_NESTED("other_sites_bytes", REST, struct lefts, sites, report_site_cells),
	EMIT_END,
};

static const struct emit_column leaks_members[] = {
	EMIT_OF(BYTES, struct lefts, bytes),
	EMIT_MEMBER("count", COUNT, struct lefts, of.blocks),
	EMIT_MEMBER("held_bytes", BYTES, struct lefts, of.held),
	EMIT_MEMBER("suppressed_bytes", BYTES, struct lefts, of.suppressed),
	EMIT_LIST("sites", "\n", struct lefts, sites, leaked_members),
	EMIT_MEMBER("other_sites", HIDDEN, struct lefts, sites),
	EMIT_NESTED("other_sites_bytes", REST, struct lefts, sites, report_site_cells),
	EMIT_LIST("unused_suppressions", "", struct lefts, unused, unused_members),
	EMIT_END,
};

const char *report_in_space(const struct report *report, const char *name, const char *space)
{
	bool device = !strcmp(space, "device");

	return report_format(report, "%s%s%s%s", name, device ? "" : " [", device ? "" : space,
			     device ? "" : "]");
}

/* --- sites that hold memory at the end --- */

static const char *end_of(const struct report *report)
{
	if (report->options->select.to && report->selection->narrow)
		return "at the end of the selection";
	return report->trace->process.exit == TRACE_EXIT ? "at exit" : "when recording ended";
}

void report_tell_live(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct lefts lefts = { .sites = report_rows(report, struct left) };

	for (size_t i = 0; i < trace->sites_n; i++)
		lefts.bytes += trace->sites[i].live_bytes;
	for (size_t i = 0; i < trace->sites_n; i++) {
		const struct trace_site *site = &trace->sites[i];

		if (site->live_bytes)
			report_add(
				report, &lefts.sites,
				&(struct left){
					.row = { { site->live_bytes, lefts.bytes },
						 report_in_space(report, site->site, site->space),
						 "" },
					.site = site->site,
					.space = site->space,
					.number = i,
				});
	}
	emit_sort(&lefts.sites, left_order);
	report_member(report, "\nlive_at_exit", lefts_members, &lefts);
	if (!lefts.sites.count)
		return;
	report_say(report, SAID_HEADING, "Still allocated %s: %s, by %s", end_of(report),
		   SAY_BYTES(lefts.bytes), trace_by_title((enum trace_by)report->trace->by));
	report_say_estimated(report);
	report_site_rows(report, &lefts.sites);
}

/* --- leaks --- */

static struct left leaked_of(const struct report *report, const struct leak *leak)
{
	const struct trace_site *site = &report->trace->sites[leak->site];
	const char *line = report_line(report, leak->stack);
	const char *name = leak->stack == UINT32_MAX ? site->site : line;

	return (struct left){
		.row = { { leak->bytes, report->study->leaks.bytes },
			 report_in_space(report, name, site->space),
			 report_format(report, "%s%s%s", SAY_COUNT(leak->count),
				       leak->allocations ? " of " : "",
				       leak->allocations ? SAY_COUNT(leak->allocations) : "") },
		.site = site->site,
		.space = site->space,
		.line = line,
		.of = *leak,
	};
}

static struct lefts find_leaks(const struct report *report)
{
	const struct suppressions *all = &report->study->suppressions;
	struct lefts found = {
		.of = report->study->leaks,
		.sites = report_rows(report, struct left),
		.unused = EMIT_NONE_OF(struct suppression, SIZE_MAX),
	};

	foreach (leak, found.of.list, found.of.count) {
		const struct left left = leaked_of(report, leak);

		report_add(report, &found.sites, &left);
	}
	foreach (row, all->list, all->count) {
		if (!row->used)
			report_add(report, &found.unused, row);
	}
	return found;
}

void report_tell_leaks(const struct report *report)
{
	const struct leaks *leaks = &report->study->leaks;
	const struct lefts found = find_leaks(report);
	const struct suppression *unused = found.unused.rows;

	report_member(report, "\nleaks", leaks_members, &found);
	if (leaks->count)
		report_say(report, SAID_HEADING,
			   "Never freed: %s in %s (right column: never freed / allocated)",
			   SAY_BYTES(leaks->bytes), SAY_MANY(leaks->blocks, "block"));
	else if (report->options->show)
		report_say(report, SAID_HEADING, "Never freed: nothing");
	report_site_rows(report, &found.sites);
	if (leaks->held)
		report_note(report, leaks->held, "not listed: kept by libraries on purpose");
	if (leaks->suppressed)
		report_note(report, leaks->suppressed, "not listed: matched by suppressions");
	for (size_t i = 0; unused && i < found.unused.count; i++)
		report_say(report, 2, "%.150s:%u: this suppression matches nothing: %.150s",
			   report->options->suppressions, unused[i].line, unused[i].pattern);
}
