/* Where the program waited for CUDA: the calls that took longest, and what that says. */
#include <stdio.h>

#include "analyse/trace/trace.h"
#include "render/report/report_analysis.h"
#include "render/report/report_parts.h"

static const struct emit_column call_cells[] = {
	EMIT_CELL("call", -32, TEXT, struct trace_call, api),
	EMIT_CELL("calls", 12, COUNT, struct trace_call, calls),
	EMIT_CELL("time", 10, TIME, struct trace_call, total_ns),
	EMIT_CELL("longest", 10, TIME, struct trace_call, max_ns),
	EMIT_CELL("failed", 8, COUNT, struct trace_call, failed),
	EMIT_END,
};

static const struct emit_column call_members[] = {
	EMIT_MEMBER("api", TEXT, struct trace_call, api),
	EMIT_MEMBER("calls", COUNT, struct trace_call, calls),
	EMIT_MEMBER("failed", COUNT, struct trace_call, failed),
	EMIT_MEMBER("total_ns", TIME, struct trace_call, total_ns),
	EMIT_MEMBER("max_ns", TIME, struct trace_call, max_ns),
	EMIT_END,
};

static const struct emit_column driver_members[] = {
	EMIT_MEMBER("calls", COUNT, struct facts, driver_calls),
	EMIT_MEMBER("total_ns", TIME, struct facts, driver_time),
	EMIT_MEMBER("max_ns", TIME, struct facts, driver_long),
	EMIT_END,
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
	struct emit_rows rows = report_rows(report, trace->calls, trace->calls_n);

	if (!trace->calls_n)
		return 0;
	if (!report->options->full && rows.shown > 5)
		rows.shown = 5;
	report_table(report, call_cells, &rows, "Time inside CUDA calls, as the program made them");
	say_driver(report);
	return 0;
}

int report_json_calls(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct emit_rows rows = EMIT_ROWS_OF(trace->calls, trace->calls_n);

	report_list(report, "\ncalls", "\n", call_members, &rows);
	report_member(report, "\ndriver", driver_members, &report->study->facts);
	return 0;
}
