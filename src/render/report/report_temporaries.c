/* The report: short-lived churn by site. */
#include <stdio.h>
#include <stdlib.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "render/report/report_analysis.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"

struct churn {
	const char *site, *line;
	uint64_t count, bytes, sum_ns, min_ns, at_peak;
	uint32_t number; /* of the site */
};

/* Sites with temporaries, and the row for none, the worst first. */
struct churns {
	struct churn total;
	struct emit_rows rows;
};

static const struct emit_column churn_figures[] = {
	EMIT_MEMBER("count", COUNT, struct churn, count),
	EMIT_MEMBER("bytes", BYTES, struct churn, bytes),
	EMIT_MEMBER("lifetime_sum_ns", TIME, struct churn, sum_ns),
	EMIT_MEMBER("at_peak_bytes", BYTES, struct churn, at_peak),
	EMIT_END,
};

static const char *lived(char *to, const void *row)
{
	const struct churn *churn = row;

	return show_time(to, churn->count ? churn->sum_ns / churn->count : 0);
}

static const struct emit_column churn_columns[] = {
	EMIT_MEMBER("site", TEXT, struct churn, site),
	EMIT_COLUMN("line", "", -30, TEXT, struct churn, line),
	EMIT_MEMBER("lifetime_min_ns", TIME, struct churn, min_ns),
	EMIT_NESTED(NULL, INLINED, struct churn, site, churn_figures),
	EMIT_CELL("bytes", 11, BYTES, struct churn, bytes),
	EMIT_CELL("times", 10, COUNT, struct churn, count),
	EMIT_SHOWN("lived", 10, TIME, struct churn, sum_ns, lived),
	EMIT_CELL("at peak", 11, BYTES, struct churn, at_peak),
	EMIT_END,
};

static const struct emit_column churns_all[] = {
	EMIT_NESTED(NULL, INLINED, struct churns, total, churn_figures),
	EMIT_LIST("sites", "\n", struct churns, rows, churn_columns),
	EMIT_MEMBER("other_sites", HIDDEN, struct churns, rows),
	EMIT_NESTED("other", OTHER, struct churns, rows, churn_figures),
	EMIT_END,
};

static int churn_order(const void *a, const void *b)
{
	const struct churn *x = a;
	const struct churn *y = b;

	if (x->at_peak != y->at_peak)
		return x->at_peak > y->at_peak ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int churns_find(const struct report *report, struct churns *churns)
{
	const struct event_scan *survey = &report->study->survey;
	const struct trace *trace = report->trace;
	struct churn *list = report_room(report, (trace->sites_n + 1) * sizeof(*list));
	size_t count = 0;
	char line[300];

	if (!list)
		return err_no_memory(trace->path);
	for (uint32_t i = 0; i <= trace->sites_n; i++) {
		const struct event_scan_temporaries *of = &survey->temporaries[i];
		bool known = i < trace->sites_n;

		if (!of->count)
			continue;
		if (known)
			trace_site_text(trace, i, line, sizeof(line));
		list[count++] = (struct churn){
			known ? trace->sites[i].site : NULL,
			known ? report_text_kept(report, line) : "[no call site]",
			of->count,
			of->bytes,
			of->sum_ns,
			of->min_ns,
			of->at_peak,
			i,
		};
	}
	qsort(list, count, sizeof(*list), churn_order);
	*churns = (struct churns){ .rows = report_rows(report, list, count) };
	emit_sum(churn_figures, &churns->rows, 0, &churns->total);
	return 0;
}

int report_tell_temporaries(const struct report *report)
{
	bool whole = report_has_all_events(report);
	struct churns churns = { .rows = { .rows = NULL } };
	char text[300];
	int error = report->study->surveyed ? churns_find(report, &churns) : 0;

	if (!error && report->json)
		report_member(report, "\ntemporaries", churns_all,
			      report->study->surveyed ? &churns : NULL);
	if (error || report->json)
		return error;
	if (!report->study->surveyed)
		return report_say_unread(report, "Temporaries");
	snprintf(text, sizeof(text),
		 "Temporaries%s: freed before their device made %d allocations more",
		 whole ? "" : " of the events that are left", SURVEY_TEMPORARY);
	emit_table(&report->show, &(struct emit_table){
					  .columns = churn_columns,
					  .rows = &churns.rows,
					  .heading = churns.rows.count ? text
						     : whole           ? "Temporaries: none"
							     : "Temporaries: none in the events "
							       "that are left",
					  .indent = 2,
					  .summed = true,
					  .totalled = true,
				  });
	return 0;
}
