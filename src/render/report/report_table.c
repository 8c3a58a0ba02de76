/* Tables and rows of the report for people, and what is left without a table of its own. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_analysis.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

bool report_wants(const struct report *report, int device)
{
	const struct trace_device *worst;

	if (report->options->device != NO_DEVICE || !report->screen)
		return report->options->device == NO_DEVICE || report->options->device == device;
	worst = report_worst(report->trace, NO_DEVICE);
	return worst && worst->device == device;
}

void report_say_estimated(const struct report *report)
{
	uint64_t interval = report->trace->capture.sample_bytes;
	char number[SHOW_NUMBER];
	char text[100];

	if (!interval || report->selection->replayed)
		return;
	snprintf(text, sizeof(text), "  estimated from samples of %s",
		 show_bytes(number, interval));
	report_say(report, text);
}

size_t report_limit(const struct report *report, size_t count)
{
	size_t limit = report->options->full ? 0 : report->options->limit;

	return limit && limit < count ? limit : count;
}

void report_say(const struct report *report, const char *text)
{
	out_text(report->show.out, text);
	out_char(report->show.out, '\n');
}

void report_header(const struct report *report, const struct report_column *columns)
{
	out_text(report->show.out, "  ");
	show_left(&report->show, columns->name, columns->width);
	for (columns++; columns->name; columns++)
		show_right(&report->show, columns->name, columns->width);
	out_char(report->show.out, '\n');
}

void report_cell(const struct report *report, const struct report_column *column, const char *text)
{
	unsigned columns = show_columns(text);

	if (columns >= column->width) /* nothing touches its neighbour */
		out_char(report->show.out, ' ');
	show_right(&report->show, text, columns > column->width ? columns : column->width);
}

void report_first_cell(const struct report *report, const struct report_column *column,
		       const char *text)
{
	out_text(report->show.out, "  ");
	show_left(&report->show, text, column->width);
}

const char *report_when(const struct report *report, char to[SHOW_NUMBER], uint64_t bytes,
			uint64_t t)
{
	return show_time(to, bytes && !report->trace->capture.baseline ? t : TRACE_NONE);
}

void report_more(const struct report *report, size_t rows)
{
	char text[64];

	snprintf(text, sizeof(text), "  ... and %zu more", rows);
	report_say(report, text);
}

int report_say_unread(const struct report *report, const char *what)
{
	char text[200];

	if (report->trace->capture.baseline)
		snprintf(text, sizeof(text),
			 "%s: cannot be told of a baseline, which has no events.", what);
	else
		snprintf(text, sizeof(text), "%s: told of the whole run only%s.", what,
			 report->trace->with_events ? "" : ", from a trace with its events");
	show_wrapped(&report->show, text, 0, false);
	return 0;
}

bool report_has_all_events(const struct report *report)
{
	return !report->trace->capture.events_dropped && !report->study->survey.dropped;
}

/* "  68.00 MiB  100.0%  Net.forward (train.py)                        10 blocks" */
void report_site_row(const struct report *report, const char *name, uint64_t bytes, uint64_t whole,
		     const char *count)
{
	unsigned columns = count ? show_columns(count) + 2 : 0;
	char number[SHOW_NUMBER];
	char safe[512];

	out_text(report->show.out, "  ");
	show_right(&report->show, show_bytes(number, bytes), 11);
	show_right(&report->show, show_share(number, bytes, whole), 8);
	out_text(report->show.out, "   ");
	if (count) {
		show_left(&report->show, name, SHOW_COLUMNS - 24 - columns);
		out_text(report->show.out, "  ");
		report_say(report, count);
	} else {
		show_safe(safe, sizeof(safe), name, SHOW_COLUMNS - 24);
		report_say(report, safe);
	}
}

void report_rest_row(const struct report *report, size_t rows, uint64_t bytes, uint64_t whole)
{
	char text[100];

	snprintf(text, sizeof(text), "... and %zu more", rows);
	report_site_row(report, text, bytes, whole, NULL);
}

/* "at exit", or what else the end of what is told of is. */
static const char *end_of(const struct report *report)
{
	if (report->options->to && report->selection->narrow)
		return "at the end of it";
	return report->trace->process.exit == TRACE_EXIT ? "at exit" : "when recording ended";
}

int report_text_live(const struct report *report)
{
	const struct trace *trace = report->trace;
	uint64_t bytes, rest = 0;
	size_t count, shown;
	uint32_t *sites = report_live(trace, &count, &bytes);
	char number[SHOW_NUMBER];
	char text[300];

	if (!sites)
		return -ENOMEM;
	if (count) {
		snprintf(text, sizeof(text), "Still allocated %s: %s, by %s", end_of(report),
			 show_bytes(number, bytes), trace_by_title((enum trace_by)trace->by));
		show_heading(&report->show, text);
		report_say_estimated(report);
	}
	shown = report_limit(report, count);
	for (size_t i = 0; i < count; i++) {
		const struct trace_site *site = &trace->sites[sites[i]];

		if (i >= shown) {
			rest += site->live_bytes;
			continue;
		}
		snprintf(text, sizeof(text), "%.200s%s%.40s%s", site->site,
			 strcmp(site->space, "device") ? " [" : "",
			 strcmp(site->space, "device") ? site->space : "",
			 strcmp(site->space, "device") ? "]" : "");
		report_site_row(report, text, site->live_bytes, bytes, NULL);
	}
	if (shown < count)
		report_rest_row(report, count - shown, rest, bytes);
	free(sites);
	return 0;
}

static const struct report_column space_columns[] = {
	{ "space", 22 },   { "peak", 12 },   { "at", 14 },
	{ "at exit", 14 }, { "allocs", 11 }, { NULL, 0 },
};

/* On the first screen the four bytes that some copy pins are noise beside gigabytes of a device. */
static bool is_little(const struct report *report, const struct trace_space *space)
{
	const struct trace_device *device = report_worst(report->trace, report->options->device);

	return report->screen && device && device->allocated.peak_bytes != TRACE_NONE &&
	       space->allocated.peak_bytes < device->allocated.peak_bytes / 100;
}

int report_text_spaces(const struct report *report)
{
	const struct trace *trace = report->trace;
	char number[SHOW_NUMBER];
	bool any = false;

	for (size_t i = 0; i < trace->summary.spaces_n; i++) {
		const struct trace_space *space = &trace->summary.spaces[i];

		if (!space->allocated.peak_bytes || space->allocated.peak_bytes == TRACE_NONE ||
		    !space->space || !strcmp(space->space, "device") || is_little(report, space))
			continue;
		if (!any) {
			show_heading(&report->show, "Memory beside the devices' own");
			report_header(report, space_columns);
		}
		any = true;
		report_first_cell(report, &space_columns[0], space->space);
		report_cell(report, &space_columns[1],
			    show_bytes(number, space->allocated.peak_bytes));
		report_cell(report, &space_columns[2],
			    report_when(report, number, space->allocated.peak_bytes,
					space->allocated.peak_t));
		report_cell(report, &space_columns[3],
			    show_bytes(number, space->allocated.exit_bytes));
		report_cell(report, &space_columns[4], show_count(number, space->allocations));
		out_char(report->show.out, '\n');
	}
	return 0;
}
