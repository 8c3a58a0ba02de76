/* The report: how large allocations are. */
#include <stdio.h>

#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_analysis.h"
#include "render/report/report_parts.h"

enum { BAR = 20 };

static const struct report_column columns[] = {
	{ "size from", 12 }, { "times", 11 }, { "bytes", 12 },
	{ "live", 9 },       { "bytes", 12 }, { NULL, 0 },
};

static void bucket_row(const struct report *report, unsigned i, uint64_t most)
{
	const struct survey_bucket *bucket = &report->study->survey.buckets[i];
	bool whole = report_has_all_events(report);
	char bar[BAR + 1];
	char number[SHOW_NUMBER];
	unsigned length = (unsigned)((double)bucket->count / (double)most * (BAR - 1) + 0.999);

	report_first_cell(report, &columns[0], show_bytes(number, 1ull << i));
	report_cell(report, &columns[1], show_count(number, bucket->count));
	report_cell(report, &columns[2], show_bytes(number, bucket->bytes));
	report_cell(report, &columns[3],
		    show_count(number, whole ? bucket->live_count : TRACE_NONE));
	report_cell(report, &columns[4],
		    show_bytes(number, whole ? bucket->live_bytes : TRACE_NONE));
	for (unsigned k = 0; k < length; k++)
		bar[k] = '#';
	bar[length] = '\0';
	out_text(report->show.out, length ? "  " : "");
	report_say(report, bar);
}

int report_text_histogram(const struct report *report)
{
	const struct survey_bucket *buckets = report->study->survey.buckets;
	uint64_t most = 0;

	if (!report->study->surveyed)
		return report_say_unread(report, "Sizes");
	for (unsigned i = 0; i < SURVEY_BUCKETS; i++) {
		most = buckets[i].count > most ? buckets[i].count : most;
	}
	if (report_has_all_events(report))
		show_heading(&report->show,
			     most ? "Sizes of allocations, and what of them is live at the end"
				  : "Sizes: there were no allocations");
	else
		show_heading(&report->show,
			     most ? "Sizes of those allocations whose events are left"
				  : "Sizes: no event of an allocation is left");
	if (most)
		report_header(report, columns);
	for (unsigned i = 0; i < SURVEY_BUCKETS; i++) {
		if (buckets[i].count)
			bucket_row(report, i, most);
	}
	return 0;
}

int report_json_histogram(const struct report *report)
{
	const char *comma = "\n";

	if (!report->study->surveyed) {
		out_text(report->show.out, ",\n\"histogram\":null");
		return 0;
	}
	out_text(report->show.out, ",\n\"histogram\":[");
	for (unsigned i = 0; i < SURVEY_BUCKETS; i++) {
		const struct survey_bucket *bucket = &report->study->survey.buckets[i];
		bool whole = report_has_all_events(report);

		if (!bucket->count)
			continue;
		out_text(report->show.out, comma);
		comma = ",\n";
		report_json_number(report, "{\"from_bytes\":", i ? 1ull << i : 0);
		report_json_number(report, ",\"count\":", bucket->count);
		report_json_number(report, ",\"bytes\":", bucket->bytes);
		report_json_number(report,
				   ",\"live_count\":", whole ? bucket->live_count : TRACE_NONE);
		report_json_number(report,
				   ",\"live_bytes\":", whole ? bucket->live_bytes : TRACE_NONE);
		out_char(report->show.out, '}');
	}
	out_char(report->show.out, ']');
	return 0;
}
