/* The report: short-lived churn by site, and the histogram of sizes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_analysis.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"

/* --- temporaries --- */

static const struct report_column columns[] = {
	{ "", 30 },      { "bytes", 11 },   { "times", 10 },
	{ "lived", 10 }, { "at peak", 11 }, { NULL, 0 },
};

/* For qsort, which has no room for it otherwise. */
static const struct survey *sorting;

static int by_bytes(const void *a, const void *b)
{
	uint32_t i = *(const uint32_t *)a;
	uint32_t k = *(const uint32_t *)b;
	const struct survey_temporaries *x = &sorting->temporaries[i];
	const struct survey_temporaries *y = &sorting->temporaries[k];

	if (x->at_peak != y->at_peak)
		return x->at_peak > y->at_peak ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return i < k ? -1 : i > k;
}

/* Sites with temporaries, and the row for none, the worst first. NULL without memory. */
static uint32_t *sorted(const struct report *report, size_t *count,
			struct survey_temporaries *total)
{
	const struct survey *survey = &report->study->survey;
	uint32_t *list = calloc(report->trace->sites_n + 1, sizeof(*list));

	*count = 0;
	*total = (struct survey_temporaries){ 0 };
	if (!list) {
		err_no_memory(report->trace->path);
		return NULL;
	}
	for (uint32_t i = 0; i <= report->trace->sites_n; i++) {
		if (!survey->temporaries[i].count)
			continue;
		list[(*count)++] = i;
		total->count += survey->temporaries[i].count;
		total->bytes += survey->temporaries[i].bytes;
		total->sum_ns += survey->temporaries[i].sum_ns;
		total->at_peak += survey->temporaries[i].at_peak;
	}
	sorting = survey;
	qsort(list, *count, sizeof(*list), by_bytes);
	return list;
}

static void temporaries_row(const struct report *report, const char *name,
			    const struct survey_temporaries *row)
{
	char number[SHOW_NUMBER];

	report_first_cell(report, &columns[0], name);
	report_cell(report, &columns[1], show_bytes(number, row->bytes));
	report_cell(report, &columns[2], show_count(number, row->count));
	report_cell(report, &columns[3],
		    show_time(number, row->count ? row->sum_ns / row->count : 0));
	report_cell(report, &columns[4], show_bytes(number, row->at_peak));
	out_char(report->show.out, '\n');
}

static void add(struct survey_temporaries *to, const struct survey_temporaries *from)
{
	to->count += from->count;
	to->bytes += from->bytes;
	to->sum_ns += from->sum_ns;
	to->at_peak += from->at_peak;
}

static void site_name(const struct report *report, uint32_t site, char *to, size_t size)
{
	if (site < report->trace->sites_n)
		trace_site_text(report->trace, site, to, size);
	else
		text_copy(to, size, "[no call site]");
}

int report_text_temporaries(const struct report *report)
{
	struct survey_temporaries total, rest = { 0 };
	char text[300];
	uint32_t *list;
	size_t count, shown;
	bool whole;

	if (!report->study->surveyed)
		return report_say_unread(report, "Temporaries");
	whole = report_has_all_events(report);
	list = sorted(report, &count, &total);
	if (!list)
		return -ENOMEM;
	shown = report_limit(report, count);
	snprintf(text, sizeof(text),
		 "Temporaries%s: freed before their device made %d allocations more",
		 whole ? "" : " of the events that are left", SURVEY_TEMPORARY);
	show_heading(&report->show, count   ? text
				    : whole ? "Temporaries: none"
					    : "Temporaries: none in the events that are left");
	if (count)
		report_header(report, columns);
	for (size_t i = 0; i < count; i++) {
		const struct survey_temporaries *row = &report->study->survey.temporaries[list[i]];

		if (i >= shown) {
			add(&rest, row);
			continue;
		}
		site_name(report, list[i], text, sizeof(text));
		temporaries_row(report, text, row);
	}
	if (shown < count) {
		snprintf(text, sizeof(text), "... and %zu more", count - shown);
		temporaries_row(report, text, &rest);
	}
	if (count > 1)
		temporaries_row(report, "all", &total);
	free(list);
	return 0;
}

static void temporaries_json(const struct report *report, const struct survey_temporaries *row)
{
	report_json_number(report, "\"count\":", row->count);
	report_json_number(report, ",\"bytes\":", row->bytes);
	report_json_number(report, ",\"lifetime_sum_ns\":", row->sum_ns);
	report_json_number(report, ",\"at_peak_bytes\":", row->at_peak);
}

int report_json_temporaries(const struct report *report)
{
	struct survey_temporaries total, rest = { 0 };
	char line[300];
	uint32_t *list;
	size_t count, shown;

	if (!report->study->surveyed) {
		out_text(report->show.out, ",\n\"temporaries\":null");
		return 0;
	}
	list = sorted(report, &count, &total);
	if (!list)
		return -ENOMEM;
	shown = report_limit(report, count);
	out_text(report->show.out, ",\n\"temporaries\":{");
	temporaries_json(report, &total);
	out_text(report->show.out, ",\"sites\":[");
	for (size_t i = 0; i < count; i++) {
		const struct survey_temporaries *row = &report->study->survey.temporaries[list[i]];
		bool known = list[i] < report->trace->sites_n;

		if (i >= shown) {
			add(&rest, row);
			continue;
		}
		site_name(report, list[i], line, sizeof(line));
		report_json_text(report, i ? ",\n{\"site\":" : "\n{\"site\":",
				 known ? report->trace->sites[list[i]].site : NULL);
		report_json_text(report, ",\"line\":", line);
		report_json_number(report, ",\"lifetime_min_ns\":", row->min_ns);
		out_char(report->show.out, ',');
		temporaries_json(report, row);
		out_char(report->show.out, '}');
	}
	report_json_number(report, "],\"other_sites\":", count - shown);
	out_text(report->show.out, ",\"other\":{");
	temporaries_json(report, &rest);
	out_text(report->show.out, "}}");
	free(list);
	return 0;
}
