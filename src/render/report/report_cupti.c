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
	char records[SHOW_NUMBER];
	char rest[SHOW_NUMBER];
	char line[300];

	show_count(records, witness->records);
	if (missing(witness))
		snprintf(line, sizeof(line),
			 "%s of CUPTI's %s records have no event: calls that were missed, which is "
			 "a bug of memtrace's; please report it.",
			 show_count(rest, missing(witness)), records);
	else
		snprintf(line, sizeof(line), "Each of CUPTI's %s records has its event.",
			 show_count(records, witness->matched));
	report_say(report, line);
	if (witness->unjudged) {
		snprintf(line, sizeof(line), "%s of them are of a time whose events were dropped.",
			 show_count(rest, witness->unjudged));
		report_say(report, line);
	}
	if (witness->lost) {
		snprintf(line, sizeof(line), "%s records found no room and were not compared.",
			 show_count(rest, witness->lost));
		report_say(report, line);
	}
}

static void show_record(const struct report *report, const struct trace_record *record)
{
	static const struct report_column columns[] = { { "call", 20 },
							{ "t", 12 },
							{ "size", 14 } };
	char text[SHOW_NUMBER];
	char name[80];

	snprintf(name, sizeof(name), "%s %.20s%s", record->op ? record->op : "?",
		 record->memory ? record->memory : "?", record->mapping ? " mapping" : "");
	report_first_cell(report, &columns[0], name);
	report_cell(report, &columns[1], show_time(text, record->t));
	report_cell(report, &columns[2], show_bytes(text, record->size));
	out_text(report->show.out, "  at ");
	out_hex(report->show.out, record->ptr);
	out_char(report->show.out, '\n');
}

int report_text_witness(const struct report *report)
{
	const struct trace_witness *witness = &report->trace->witness;
	size_t rows = report_limit(report, witness->unmatched_n);

	if (!witness->cupti)
		return 0;
	show_heading(&report->show, "CUPTI as a witness");
	say_verdict(report, witness);
	for (size_t i = 0; i < rows; i++)
		show_record(report, &witness->unmatched[i]);
	if (rows < witness->unmatched_n)
		report_more(report, witness->unmatched_n - rows);
	return 0;
}

static void json_record(const struct report *report, const struct trace_record *record)
{
	report_json_number(report, "{\"t\":", record->t);
	report_json_text(report, ",\"op\":", record->op);
	report_json_text(report, ",\"memory\":", record->memory);
	report_json_number(report, ",\"size\":", record->size);
	out_text(report->show.out, ",\"ptr\":\"");
	out_hex(report->show.out, record->ptr);
	out_text(report->show.out, "\"}");
}

int report_json_witness(const struct report *report)
{
	const struct trace_witness *witness = &report->trace->witness;

	if (!witness->cupti)
		return 0;
	report_json_number(report, ",\n\"witness\":{\"records\":", witness->records);
	report_json_number(report, ",\"matched\":", witness->matched);
	report_json_number(report, ",\"missing\":", missing(witness));
	report_json_number(report, ",\"unjudged\":", witness->unjudged);
	report_json_number(report, ",\"lost\":", witness->lost);
	out_text(report->show.out, ",\"unmatched\":[");
	for (size_t i = 0; i < witness->unmatched_n; i++) {
		out_text(report->show.out, i ? ",\n" : "\n");
		json_record(report, &witness->unmatched[i]);
	}
	out_text(report->show.out, "]}");
	return 0;
}

/* --- what ran --- */

static int by_time(const void *a, const void *b)
{
	const struct trace_action *const *x = a;
	const struct trace_action *const *y = b;

	if ((*x)->total_ns != (*y)->total_ns)
		return (*x)->total_ns > (*y)->total_ns ? -1 : 1;
	return strcmp((*x)->name, (*y)->name);
}

/* The longest first; to be freed. NULL without memory, or without actions. */
static const struct trace_action **sorted_actions(const struct trace *trace)
{
	const struct trace_action **sorted;

	if (!trace->actions_n)
		return NULL;
	sorted = calloc(trace->actions_n, sizeof(const struct trace_action *));
	for (size_t i = 0; sorted && i < trace->actions_n; i++)
		sorted[i] = &trace->actions[i];
	if (sorted)
		qsort(sorted, trace->actions_n, sizeof(const struct trace_action *), by_time);
	return sorted;
}

static void show_action(const struct report *report, const struct report_column *columns,
			const struct trace_action *action)
{
	char text[SHOW_NUMBER];

	report_first_cell(report, &columns[0], action->name);
	report_cell(report, &columns[1], action->kind);
	report_cell(report, &columns[2], show_count(text, action->count));
	report_cell(report, &columns[3], show_time(text, action->total_ns));
	report_cell(report, &columns[4], show_time(text, action->max_ns));
	out_char(report->show.out, '\n');
}

/* What of it pages and exports show one by one. */
static void say_timeline(const struct report *report)
{
	const struct trace *trace = report->trace;
	char kept[SHOW_NUMBER];
	char dropped[SHOW_NUMBER];
	char line[200];

	if (!trace->spans_dropped)
		return;
	snprintf(line, sizeof(line),
		 "The latest %s are on the timeline; %s before them found no room there.",
		 show_count(kept, trace->spans_n), show_count(dropped, trace->spans_dropped));
	report_say(report, line);
}

/* CUPTI cannot tell whose they are. */
static void say_whose(const struct report *report)
{
	for (size_t i = 0; i < report->trace->actions_n; i++) {
		if (strcmp(report->trace->actions[i].kind, "driver") != 0)
			continue;
		report_say(report, "Among the driver's calls are those by which memtrace asks for "
				   "contexts, devices and what is used.");
		return;
	}
}

int report_text_actions(const struct report *report)
{
	static const struct report_column columns[] = {
		{ "kernel, copy or call", 36 },
		{ "kind", 10 },
		{ "times", 10 },
		{ "time", 11 },
		{ "longest", 11 },
		{ NULL, 0 },
	};
	const struct trace_action **sorted = sorted_actions(report->trace);
	size_t rows = report_limit(report, report->trace->actions_n);

	if (!sorted)
		return 0;
	if (!report->options->full && !report->options->show && rows > FEW)
		rows = FEW;
	show_heading(&report->show, "What ran, as CUPTI saw it");
	report_header(report, columns);
	for (size_t i = 0; i < rows; i++)
		show_action(report, columns, sorted[i]);
	if (rows < report->trace->actions_n)
		report_more(report, report->trace->actions_n - rows);
	say_whose(report);
	say_timeline(report);
	free(sorted);
	return 0;
}

int report_json_actions(const struct report *report)
{
	const struct trace_action **sorted = sorted_actions(report->trace);

	if (!sorted)
		return 0;
	out_text(report->show.out, ",\n\"actions\":[");
	for (size_t i = 0; i < report->trace->actions_n; i++) {
		report_json_text(report, i ? ",\n{\"kind\":" : "\n{\"kind\":", sorted[i]->kind);
		report_json_text(report, ",\"name\":", sorted[i]->name);
		report_json_number(report, ",\"count\":", sorted[i]->count);
		report_json_number(report, ",\"total_ns\":", sorted[i]->total_ns);
		report_json_number(report, ",\"max_ns\":", sorted[i]->max_ns);
		report_json_number(report, ",\"bytes\":", sorted[i]->bytes);
		out_char(report->show.out, '}');
	}
	out_char(report->show.out, ']');
	report_json_number(report, ",\n\"spans\":{\"count\":", report->trace->spans_n);
	report_json_number(report, ",\"dropped\":", report->trace->spans_dropped);
	out_char(report->show.out, '}');
	free(sorted);
	return 0;
}
