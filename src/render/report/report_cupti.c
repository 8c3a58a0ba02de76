/* The report of what CUPTI told: does each record have its event, and what ran beside the memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_parts.h"

enum { FEW = 8 };

/* --- the witness --- */

static uint64_t missing(const struct trace_witness *witness)
{
	uint64_t known = witness->matched + witness->unjudged;

	return witness->records > known ? witness->records - known : 0;
}

static void say_verdict(const struct report *report, const struct trace_witness *witness)
{
	if (missing(witness))
		report_say(
			report, SAID_LINE,
			"%s of CUPTI's %s records have no event: calls that were missed, which is "
			"a bug of memtrace's; please report it.",
			SAY_COUNT(missing(witness)), SAY_COUNT(witness->records));
	else
		report_say(report, SAID_LINE, "Each of CUPTI's %s records has its event.",
			   SAY_COUNT(witness->matched));
	if (witness->unjudged) {
		report_say(report, SAID_LINE, "%s of them are of a time whose events were dropped.",
			   SAY_COUNT(witness->unjudged));
	}
	if (witness->lost) {
		report_say(report, SAID_LINE, "%s records found no room and were not compared.",
			   SAY_COUNT(witness->lost));
	}
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
	uint64_t records, matched, missing, unjudged, lost;
	struct emit_rows unmatched;
};

static const struct emit_column record_columns[] = {
	EMIT_SHOWN("call", -20, TEXT, struct trace_record, op, show_name),
	EMIT_COLUMN("t", "t", 12, TIME, struct trace_record, t),
	EMIT_MEMBER("op", TEXT, struct trace_record, op),
	EMIT_MEMBER("memory", TEXT, struct trace_record, memory),
	EMIT_COLUMN("size", "size", 14, BYTES, struct trace_record, size),
	{ EMIT_KEYED("ptr", ADDRESS, struct trace_record, ptr), .heading = "", .gap = 2,
	  .show = show_address },
	EMIT_END,
};

static const struct emit_column verdict_members[] = {
	EMIT_MEMBER("records", COUNT, struct verdict, records),
	EMIT_MEMBER("matched", COUNT, struct verdict, matched),
	EMIT_MEMBER("missing", COUNT, struct verdict, missing),
	EMIT_MEMBER("unjudged", COUNT, struct verdict, unjudged),
	EMIT_MEMBER("lost", COUNT, struct verdict, lost),
	EMIT_LIST("unmatched", "\n", struct verdict, unmatched, record_columns),
	EMIT_END,
};

int report_tell_witness(const struct report *report)
{
	const struct trace_witness *witness = &report->trace->witness;
	const struct verdict verdict = {
		witness->records, witness->matched,
		missing(witness), witness->unjudged,
		witness->lost,    EMIT_ROWS_OF(witness->unmatched, witness->unmatched_n),
	};
	struct emit_rows rows = report_rows(report, witness->unmatched, witness->unmatched_n);

	if (!witness->cupti)
		return 0;
	if (report->json) {
		report_member(report, "\nwitness", verdict_members, &verdict);
		return 0;
	}
	report_say(report, SAID_HEADING, "CUPTI as a witness");
	say_verdict(report, witness);
	emit_table(&report->show, &(struct emit_table){ .columns = record_columns,
							.rows = &rows,
							.headless = true,
							.indent = 2 });
	return 0;
}

/* --- what ran --- */

static int compare_starts(const void *a, const void *b)
{
	const struct trace_action *x = a;
	const struct trace_action *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The longest first. NULL without memory, or without actions. */
static const struct trace_action *sorted_actions(const struct report *report)
{
	const struct trace *trace = report->trace;
	size_t size = trace->actions_n * sizeof(*trace->actions);
	struct trace_action *sorted = size ? report_room(report, size) : NULL;

	if (sorted) {
		memcpy(sorted, trace->actions, size);
		qsort(sorted, trace->actions_n, sizeof(*sorted), compare_starts);
	}
	return sorted;
}

static const struct emit_column action_columns[] = {
	EMIT_CELL("kernel, copy or call", -36, TEXT, struct trace_action, name),
	EMIT_COLUMN("kind", "kind", 10, TEXT, struct trace_action, kind),
	EMIT_MEMBER("name", TEXT, struct trace_action, name),
	EMIT_COLUMN("count", "times", 10, COUNT, struct trace_action, count),
	EMIT_COLUMN("total_ns", "time", 11, TIME, struct trace_action, total_ns),
	EMIT_COLUMN("max_ns", "longest", 11, TIME, struct trace_action, max_ns),
	EMIT_MEMBER("bytes", BYTES, struct trace_action, bytes),
	EMIT_END,
};

static const struct emit_column span_members[] = {
	EMIT_MEMBER("count", COUNT, struct trace, spans_n),
	EMIT_MEMBER("dropped", COUNT, struct trace, spans_dropped),
	EMIT_END,
};

/* What of it pages and exports show one by one. */
static void say_timeline(const struct report *report)
{
	const struct trace *trace = report->trace;

	if (!trace->spans_dropped)
		return;
	report_say(report, SAID_LINE,
		   "The latest %s are on the timeline; %s before them found no room there.",
		   SAY_COUNT(trace->spans_n), SAY_COUNT(trace->spans_dropped));
}

/* CUPTI cannot tell whose they are. */
static void say_whose(const struct report *report)
{
	for (size_t i = 0; i < report->trace->actions_n; i++) {
		if (strcmp(report->trace->actions[i].kind, "driver") != 0)
			continue;
		report_say(report, SAID_LINE,
			   "Among the driver's calls are those by which memtrace asks for "
			   "contexts, devices and what is used.");
		return;
	}
}

int report_tell_actions(const struct report *report)
{
	const struct trace_action *sorted = sorted_actions(report);
	struct emit_rows rows = EMIT_ROWS_OF(sorted, report->trace->actions_n);

	if (!sorted)
		return 0;
	if (!report->json)
		rows.shown = report_limit(report, rows.count);
	if (!report->json && !report->options->full && !report->options->show && rows.shown > FEW)
		rows.shown = FEW;
	report_tell_rows(report, "\nactions", action_columns, rows, "What ran, as CUPTI saw it");
	if (report->json) {
		report_member(report, "\nspans", span_members, report->trace);
		return 0;
	}
	say_whose(report);
	say_timeline(report);
	return 0;
}
