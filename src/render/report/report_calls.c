/* Three sections: the time that the program spent in each CUDA call; the kernels and copies that
 * CUPTI recorded; and whether the trace has an event for each memory record of CUPTI. */
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "render/report/report_parts.h"

enum { FEW_CALLS = 5, FEW_ACTIONS = 8 };

static size_t few_of(const struct report *report, size_t few)
{
	if (report->json)
		return SIZE_MAX;
	return report->options->full || report_limit(report) < few ? report_limit(report) : few;
}

/* --- calls --- */

static const struct emit_column call_columns[] = {
	EMIT_COLUMN("api", "call", -32, TEXT, struct trace_call, api),
	EMIT_COLUMN("calls", "calls", 12, COUNT, struct trace_call, calls),
	EMIT_FIELD(COUNT, struct trace_call, failed),
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

void report_tell_calls(const struct report *report)
{
	const struct trace *trace = report->trace;
	const struct facts *facts = &report->study->facts;

	report_tell_rows(report, "\ncalls", call_columns,
			 EMIT_SOME_OF(trace->calls, trace->calls_n, few_of(report, FEW_CALLS)),
			 "Time inside CUDA calls made by the program");
	report_member(report, "\ndriver", driver_members, facts);
	if (trace->calls_n && facts->driver_calls)
		report_say(report, SAID_LINE,
			   "Allocating and freeing in the driver: %s calls in %s, longest %s.",
			   SAY_COUNT(facts->driver_calls), SAY_TIME(facts->driver_time),
			   SAY_TIME(facts->driver_long));
}

/* --- the cross-check with CUPTI --- */

static uint64_t missing(const struct trace_cupti_check *witness)
{
	uint64_t known = witness->matched + witness->unjudged;

	return witness->records > known ? witness->records - known : 0;
}

static void say_verdict(const struct report *report, const struct trace_cupti_check *witness)
{
	if (missing(witness))
		report_say(report, SAID_LINE,
			   "%s of CUPTI's %s records have no event: memtrace missed these calls, "
			   "which is a bug in memtrace; please report it.",
			   SAY_COUNT(missing(witness)), SAY_COUNT(witness->records));
	else
		report_say(report, SAID_LINE,
			   "The trace has all %s allocations and frees that CUPTI recorded.",
			   SAY_COUNT(witness->matched));
	if (witness->unjudged)
		report_say(report, SAID_LINE,
			   "%s CUPTI records were not compared with the trace, which may lack "
			   "their events: some were dropped or filtered out, or recording was off.",
			   SAY_COUNT(witness->unjudged));
	if (witness->lost)
		report_say(report, SAID_LINE,
			   "%s CUPTI records were lost, so they were not compared with the trace.",
			   SAY_COUNT(witness->lost));
}

static const char *show_name(char *to, const void *row)
{
	const struct trace_record *record = row;

	snprintf(to, EMIT_CELL_MOST, "%s %.20s%s", record->op ? record->op : "?",
		 record->memory ? record->memory : "?", record->mapping ? " mapping" : "");
	return to;
}

static const char *show_address(char *to, const void *row)
{
	text_copy(to, EMIT_CELL_MOST, "at ");
	text_hex(to + strlen(to), ((const struct trace_record *)row)->ptr);
	return to;
}

struct verdict {
	struct trace_cupti_check of;
	uint64_t missing;
};

static const struct emit_column record_columns[] = {
	EMIT_SHOWN("call", -20, TEXT, struct trace_record, op, show_name),
	EMIT_COLUMN("t", "t", 12, TIME, struct trace_record, t),
	EMIT_FIELD(TEXT, struct trace_record, op),
	EMIT_FIELD(TEXT, struct trace_record, memory),
	EMIT_COLUMN("size", "size", 14, BYTES, struct trace_record, size),
	EMIT_COLUMN("ptr", "", 0, ADDRESS, struct trace_record, ptr, .gap = 2,
		    .show = show_address),
	EMIT_END,
};

static const struct emit_column verdict_members[] = {
	EMIT_OF(COUNT, struct verdict, records),
	EMIT_OF(COUNT, struct verdict, matched),
	EMIT_FIELD(COUNT, struct verdict, missing),
	EMIT_OF(COUNT, struct verdict, unjudged),
	EMIT_OF(COUNT, struct verdict, lost),
	EMIT_ITEMS("unmatched", "\n", struct verdict, of.unmatched, of.unmatched_n, record_columns),
	EMIT_END,
};

void report_tell_cupti_check(const struct report *report)
{
	const struct trace_cupti_check *witness = &report->trace->cupti_check;
	const struct verdict verdict = { *witness, missing(witness) };
	const struct emit_rows rows =
		EMIT_SOME_OF(witness->unmatched, witness->unmatched_n, report_limit(report));

	if (!witness->cupti)
		return;
	report_member(report, "\ncupti_check", verdict_members, &verdict);
	report_say(report, SAID_HEADING, "Comparison of the trace with CUPTI's memory records");
	say_verdict(report, witness);
	report_put(report, (struct emit_table){
				   .columns = record_columns, .rows = &rows, .headless = true });
}

/* --- kernels and copies --- */

static const struct sort_key action_order[] = {
	SORT_DOWN(struct trace_action, total_ns),
	SORT_TEXT(struct trace_action, name),
	{ 0 },
};

static const struct emit_column action_columns[] = {
	EMIT_CELL("kernel, copy or call", -36, TEXT, struct trace_action, name),
	EMIT_COLUMN("kind", "kind", 10, TEXT, struct trace_action, kind),
	EMIT_FIELD(TEXT, struct trace_action, name),
	EMIT_COLUMN("count", "times", 10, COUNT, struct trace_action, count),
	EMIT_COLUMN("total_ns", "time", 11, TIME, struct trace_action, total_ns),
	EMIT_COLUMN("max_ns", "longest", 11, TIME, struct trace_action, max_ns),
	EMIT_FIELD(BYTES, struct trace_action, bytes),
	EMIT_END,
};

static const struct emit_column span_members[] = {
	EMIT_MEMBER("count", COUNT, struct trace, spans_n),
	EMIT_MEMBER("dropped", COUNT, struct trace, spans_dropped),
	EMIT_END,
};

/* If there are driver calls, writes that memtrace made some of them, which CUPTI counts as well. */
static void say_whose(const struct report *report)
{
	foreach (action, report->trace->actions) {
		if (strcmp(action->kind, "driver") != 0)
			continue;
		report_say(report, SAID_LINE,
			   "Driver calls include those that memtrace itself makes to query "
			   "contexts, devices and used memory.");
		return;
	}
}

void report_tell_actions(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct emit_rows rows = EMIT_NONE_OF(
		struct trace_action,
		few_of(report, report->options->show ? SIZE_MAX : (size_t)FEW_ACTIONS));

	if (!trace->actions_n)
		return;
	foreach (action, trace->actions)
		report_add(report, &rows, action);
	emit_sort(&rows, action_order);
	report_tell_rows(report, "\nactions", action_columns, rows,
			 "Kernels, copies and calls that CUPTI recorded");
	report_member(report, "\nspans", span_members, trace);
	say_whose(report);
	if (trace->spans_dropped)
		report_say(report, SAID_LINE,
			   "memtrace html shows the latest %s kernels, copies and long calls; %s "
			   "earlier ones were dropped.",
			   SAY_COUNT(trace->spans_n), SAY_COUNT(trace->spans_dropped));
}
