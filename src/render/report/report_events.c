/* The sections that need the events: growth (sites whose live bytes rise step after step),
 * short-lived memory by site, and the sizes of allocations. */
#include <stdio.h>
#include <string.h>

#include "render/report/report_parts.h"

enum { BAR = 20 };

/* Writes that the section cannot be shown: for a baseline, which has no events, or a selection. */
static void say_unread(const struct report *report, const char *what)
{
	if (report->trace->capture.baseline)
		report_say(report, 0, "%s: not known, because a baseline has no events.", what);
	else
		report_say(report, 0, "%s: shown only in a report on the whole run.", what);
}

/* True if no event is missing; if one is, the memory that is live at the end is not known. */
static bool has_all_events(const struct report *report)
{
	return !report->trace->capture.events_dropped && !report->study->survey.gap_seq;
}

static const char *site_line(const struct report *report, uint32_t site)
{
	char line[300];

	trace_site_text(report->trace, site, line, sizeof(line));
	return report_format(report, "%s", line);
}

/* --- growth --- */

struct grown {
	const char *site, *space, *line;
	struct growth_trend of;
	uint64_t per_step;
};

/* Writes "12 of 13" if the live bytes rose in 12 of the 13 steps after the first. */
static const char *show_rose(char *to, const void *row)
{
	const struct grown *grown = row;

	snprintf(to, EMIT_CELL_MOST, "%s of %s", SAY_COUNT(grown->of.rose),
		 SAY_COUNT(grown->of.values - 1));
	return to;
}

/* Writes the probability that such growth is chance, "1e-12", or "<1e-99" if it is smaller. */
static const char *show_chance(char *to, const void *row)
{
	double p = ((const struct grown *)row)->of.p;

	snprintf(to, EMIT_CELL_MOST, p < 1e-99 ? "<1e-99" : "%.0e", p);
	return to;
}

static const struct emit_column grown_columns[] = {
	EMIT_FIELD(TEXT, struct grown, site),
	EMIT_FIELD(TEXT, struct grown, space),
	EMIT_FIELD(TEXT, struct grown, line),
	EMIT_COLUMN("bytes_per_step", "per step", 11, BYTES, struct grown, per_step),
	EMIT_COLUMN("bytes", "total", 12, BYTES, struct grown, of.bytes),
	EMIT_COLUMN("rose", "grew in", 11, COUNT, struct grown, of.rose, .show = show_rose),
	EMIT_OF(COUNT, struct grown, values),
	EMIT_OF(REAL, struct grown, tau),
	EMIT_COLUMN("p", "p-value", 8, REAL, struct grown, of.p, .show = show_chance),
	EMIT_CELL("site", 0, TEXT, struct grown, line, .gap = 3),
	EMIT_END,
};

struct growths {
	const char *phase;
	uint64_t steps, values;
	struct emit_rows sites;
};

static const struct emit_column growth_members[] = {
	EMIT_FIELD(TEXT, struct growths, phase),
	EMIT_FIELD(COUNT, struct growths, steps),
	EMIT_FIELD(COUNT, struct growths, values),
	EMIT_LIST("sites", "\n", struct growths, sites, grown_columns),
	EMIT_MEMBER("other_sites", HIDDEN, struct growths, sites),
	EMIT_END,
};

static struct growths find_growths(const struct report *report)
{
	const struct event_scan *survey = &report->study->survey;
	const struct event_scan_steps *steps = &survey->steps;
	struct emit_rows rows = report_rows(report, struct grown);

	foreach (grown, survey->growth) {
		const struct growth_trend *trend = &grown->trend;
		uint32_t site = grown->site;

		report_add(report, &rows,
			   &(struct grown){
				   report->trace->sites[site].site,
				   report->trace->sites[site].space,
				   site_line(report, site),
				   *trend,
				   (uint64_t)(trend->slope + 0.5),
			   });
	}
	return (struct growths){ steps->name, steps->count, steps->taken - steps->first, rows };
}

static const char *steps_text(const struct report *report)
{
	const struct event_scan_steps *steps = &report->study->survey.steps;

	if (!steps->name)
		return report_format(report, "%s windows with equal numbers of events",
				     SAY_COUNT(steps->count));
	return report_format(report, "%s phases `%.60s`", SAY_COUNT(steps->count), steps->name);
}

/* Writes why the section is empty if --show names it, else how to search for growth. */
static void say_nothing(const struct report *report)
{
	const struct event_scan *survey = &report->study->survey;

	if (!report->options->show && !report->study->surveyed && !report->selection->replayed &&
	    !report->trace->capture.baseline) {
		report_say(report, SAID_LINE, "%s", "");
		report_say(report, 0,
			   "Growth was not checked (%s events to read); --show growth checks it.",
			   SAY_COUNT(report->trace->capture.events_recorded));
	}
	if (!report->options->show)
		return;
	if (!report->study->surveyed)
		say_unread(report, "Growth");
	else if (survey->steps.taken - survey->steps.first < GROWTH_LEAST)
		report_say(report, 0,
			   "Growth: not enough data (needs %d repetitions of a phase or about "
			   "1,000 events).",
			   GROWTH_LEAST);
	else
		report_say(report, 0, "Growth: no call site grew during %s.", steps_text(report));
}

void report_tell_growth(const struct report *report)
{
	const struct growths growths = find_growths(report);

	report_member(report, "\ngrowth", growth_members,
		      report->study->surveyed ? &growths : NULL);
	if (growths.sites.count)
		report_table(report, grown_columns, &growths.sites,
			     report_format(report, "Growth over %s, without the warm-up",
					   steps_text(report)));
	else
		say_nothing(report);
}

/* --- short-lived memory --- */

struct churn {
	const char *site, *line;
	struct event_scan_short_lived of;
	uint64_t number; /* the site's number, or trace->sites_n for the row without a site */
};

/* The call sites of short-lived blocks, those with most bytes at the peak first. */
struct churns {
	struct churn total;
	struct emit_rows rows;
};

static const struct emit_column churn_figures[] = {
	EMIT_OF(COUNT, struct churn, count),
	EMIT_OF(BYTES, struct churn, bytes),
	EMIT_MEMBER("lifetime_sum_ns", TIME, struct churn, of.sum_ns),
	EMIT_MEMBER("at_peak_bytes", BYTES, struct churn, of.at_peak),
	EMIT_END,
};

static const char *lived(char *to, const void *row)
{
	const struct churn *churn = row;

	return show_time(to, churn->of.count ? churn->of.sum_ns / churn->of.count : 0);
}

static const struct emit_column churn_columns[] = {
	EMIT_FIELD(TEXT, struct churn, site),
	EMIT_COLUMN("line", "", -30, TEXT, struct churn, line),
	EMIT_MEMBER("lifetime_min_ns", TIME, struct churn, of.min_ns),
	EMIT_NESTED(NULL, INLINED, struct churn, site, churn_figures),
	EMIT_CELL("bytes", 11, BYTES, struct churn, of.bytes),
	EMIT_CELL("blocks", 10, COUNT, struct churn, of.count),
	EMIT_SHOWN("mean life", 10, TIME, struct churn, of.sum_ns, lived),
	EMIT_CELL("at peak", 11, BYTES, struct churn, of.at_peak),
	EMIT_END,
};

static const struct emit_column churns_all[] = {
	EMIT_NESTED(NULL, INLINED, struct churns, total, churn_figures),
	EMIT_LIST("sites", "\n", struct churns, rows, churn_columns),
	EMIT_MEMBER("other_sites", HIDDEN, struct churns, rows),
	EMIT_NESTED("other", OTHER, struct churns, rows, churn_figures),
	EMIT_END,
};

static const struct sort_key churn_order[] = {
	SORT_DOWN(struct churn, of.at_peak),
	SORT_DOWN(struct churn, of.bytes),
	SORT_UP(struct churn, number),
	{ 0 },
};

static struct churns find_churns(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct churns churns = { .rows = report_rows(report, struct churn) };

	for (uint32_t i = 0; report->study->surveyed && i <= trace->sites_n; i++) {
		const struct event_scan_short_lived *of = &report->study->survey.short_lived[i];
		bool known = i < trace->sites_n;

		if (!of->count)
			continue;
		report_add(report, &churns.rows,
			   &(struct churn){
				   known ? trace->sites[i].site : NULL,
				   known ? site_line(report, i) : "[no call site]",
				   *of,
				   i,
			   });
	}
	emit_sort(&churns.rows, churn_order);
	emit_sum(churn_figures, &churns.rows, 0, &churns.total);
	return churns;
}

static void say_churns(const struct report *report, const struct churns *churns)
{
	bool whole = has_all_events(report);
	const char *heading = whole ? "Short-lived blocks: none"
				    : "Short-lived blocks: none in the events that were kept";

	if (churns->rows.count)
		heading = report_format(
			report, "Short-lived blocks%s: freed within the next %d allocations",
			whole ? "" : " in the events that were kept", SURVEY_SHORT_LIVED);
	report_put(report, (struct emit_table){ .columns = churn_columns,
						.rows = &churns->rows,
						.heading = heading,
						.summed = true,
						.totalled = true });
}

void report_tell_short_lived(const struct report *report)
{
	const struct churns churns = find_churns(report);

	report_member(report, "\nshort_lived", churns_all,
		      report->study->surveyed ? &churns : NULL);
	if (report->study->surveyed)
		say_churns(report, &churns);
	else
		say_unread(report, "Short-lived blocks");
}

/* --- sizes --- */

struct sizes {
	uint64_t from, least; /* the smallest size in the bucket, in bytes; `least`, for JSON, is 0
			       * in the first bucket, where `from`, for people, is 1 */
	struct event_scan_bucket of;
	uint64_t most; /* the highest count of a bucket: its bar has the full length */
};

static const char *show_bar(char *to, const void *row)
{
	const struct sizes *sizes = row;
	unsigned length =
		(unsigned)((double)sizes->of.count / (double)sizes->most * (BAR - 1) + 0.999);

	memset(to, '#', length);
	to[length] = '\0';
	return to;
}

static const struct emit_column size_columns[] = {
	EMIT_MEMBER("from_bytes", BYTES, struct sizes, least),
	EMIT_CELL("from size", -12, BYTES, struct sizes, from),
	EMIT_COLUMN("count", "allocs", 11, COUNT, struct sizes, of.count),
	EMIT_COLUMN("bytes", "bytes", 12, BYTES, struct sizes, of.bytes),
	EMIT_COLUMN("live_count", "live", 9, COUNT, struct sizes, of.live_count),
	EMIT_COLUMN("live_bytes", "live bytes", 12, BYTES, struct sizes, of.live_bytes),
	{ .heading = "", .gap = 2, .kind = EMIT_COUNT, .show = show_bar },
	EMIT_END,
};

/* Returns the buckets with allocations. Live bytes are TRACE_NONE if an event is missing. */
static struct emit_rows find_sizes(const struct report *report)
{
	const struct event_scan_bucket *buckets = report->study->survey.buckets;
	struct emit_rows rows = EMIT_NONE_OF(struct sizes, SIZE_MAX);
	bool whole = has_all_events(report);
	uint64_t most = 0;

	for (unsigned i = 0; i < SURVEY_BUCKETS; i++)
		most = buckets[i].count > most ? buckets[i].count : most;
	for (unsigned i = 0; i < SURVEY_BUCKETS; i++) {
		struct event_scan_bucket bucket = buckets[i];

		if (!whole)
			bucket.live_count = bucket.live_bytes = TRACE_NONE;
		if (bucket.count)
			report_add(report, &rows,
				   &(struct sizes){ 1ull << i, i ? 1ull << i : 0, bucket, most });
	}
	return rows;
}

void report_tell_histogram(const struct report *report)
{
	static const char *const headings[2][2] = {
		{ "Sizes of allocations: not known, because no allocation event was kept",
		  "Sizes of allocations whose events were kept" },
		{ "Sizes of allocations: there were none",
		  "Sizes of allocations, and how much is live at the end" },
	};
	bool known = report->study->surveyed;
	struct emit_rows rows = find_sizes(report);

	if (!known)
		rows.size = 0;
	report_list(report, "\nhistogram", size_columns, &rows);
	if (known)
		report_table(report, size_columns, &rows,
			     headings[has_all_events(report)][rows.count > 0]);
	else
		say_unread(report, "Sizes of allocations");
}
