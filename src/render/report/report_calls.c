/* Where the program waited for CUDA: the calls that took longest, and what that says. */
#include <stdio.h>

#include "analyse/trace/trace.h"
#include "render/report/report_analysis.h"
#include "render/report/report_parts.h"

static const struct emit_column call_columns[] = {
	EMIT_COLUMN("api", "call", -32, TEXT, struct trace_call, api),
	EMIT_COLUMN("calls", "calls", 12, COUNT, struct trace_call, calls),
	EMIT_MEMBER("failed", COUNT, struct trace_call, failed),
	EMIT_COLUMN("total_ns", "time", 10, TIME, struct trace_call, total_ns),
	EMIT_COLUMN("max_ns", "longest", 10, TIME, struct trace_call, max_ns),
	EMIT_CELL("failed", 8, COUNT, struct trace_call, failed),
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

	if (!facts->driver_calls)
		return;
	report_say(report, SAID_LINE,
		   "Allocating and freeing in the driver: %s calls, %s; longest %s.",
		   SAY_COUNT(facts->driver_calls), SAY_TIME(facts->driver_time),
		   SAY_TIME(facts->driver_long));
}

int report_tell_calls(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct emit_rows rows = EMIT_ROWS_OF(trace->calls, trace->calls_n);

	if (!report->json)
		rows.shown = report_limit(report, trace->calls_n);
	if (!report->json && !report->options->full && rows.shown > 5)
		rows.shown = 5;
	report_tell_rows(report, "\ncalls", call_columns, rows,
			 "Time inside CUDA calls, as the program made them");
	if (report->json)
		report_member(report, "\ndriver", driver_members, &report->study->facts);
	else if (trace->calls_n)
		say_driver(report);
	return 0;
}
