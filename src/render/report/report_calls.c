/* Where the program waited for CUDA: the calls that took longest, and what that says. */
#include <stdio.h>

#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "render/report/report_analysis.h"
#include "render/report/report_parts.h"

static const struct report_column columns[] = {
	{ "call", 32 },    { "calls", 12 }, { "time", 10 },
	{ "longest", 10 }, { "failed", 8 }, { NULL, 0 },
};

/* What allocating and freeing cost, together: no single row says it. */
static void say_driver(const struct report *report)
{
	const struct facts *facts = &report->study->facts;
	char calls[SHOW_NUMBER];
	char time[SHOW_NUMBER];
	char longest[SHOW_NUMBER];
	char line[200];

	if (!facts->driver_calls)
		return;
	snprintf(line, sizeof(line),
		 "Allocating and freeing in the driver: %s calls, %s; longest %s.",
		 show_count(calls, facts->driver_calls), show_time(time, facts->driver_time),
		 show_time(longest, facts->driver_long));
	report_say(report, line);
}

int report_text_calls(const struct report *report)
{
	const struct trace *trace = report->trace;
	size_t rows = report_limit(report, trace->calls_n);
	char text[SHOW_NUMBER];

	if (!trace->calls_n)
		return 0;
	if (!report->options->full && rows > 5)
		rows = 5;
	show_heading(&report->show, "Time inside CUDA calls, as the program made them");
	report_header(report, columns);
	for (size_t i = 0; i < rows; i++) {
		const struct trace_call *call = &trace->calls[i];

		report_first_cell(report, &columns[0], call->api ? call->api : "?");
		report_cell(report, &columns[1], show_count(text, call->calls));
		report_cell(report, &columns[2], show_time(text, call->total_ns));
		report_cell(report, &columns[3], show_time(text, call->max_ns));
		report_cell(report, &columns[4], show_count(text, call->failed));
		out_char(report->show.out, '\n');
	}
	if (rows < trace->calls_n)
		report_more(report, trace->calls_n - rows);
	say_driver(report);
	return 0;
}

int report_json_calls(const struct report *report)
{
	const struct facts *facts = &report->study->facts;
	const struct trace *trace = report->trace;

	out_text(report->show.out, ",\n\"calls\":[");
	for (size_t i = 0; i < trace->calls_n; i++) {
		const struct trace_call *call = &trace->calls[i];

		report_json_text(report, i ? ",\n{\"api\":" : "\n{\"api\":", call->api);
		report_json_number(report, ",\"calls\":", call->calls);
		report_json_number(report, ",\"failed\":", call->failed);
		report_json_number(report, ",\"total_ns\":", call->total_ns);
		report_json_number(report, ",\"max_ns\":", call->max_ns);
		out_char(report->show.out, '}');
	}
	out_char(report->show.out, ']');
	report_json_number(report, ",\n\"driver\":{\"calls\":", facts->driver_calls);
	report_json_number(report, ",\"total_ns\":", facts->driver_time);
	report_json_number(report, ",\"max_ns\":", facts->driver_long);
	out_char(report->show.out, '}');
	return 0;
}
