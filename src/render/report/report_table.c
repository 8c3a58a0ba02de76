/* Tables and rows of the report for people, and what is left without a table of its own. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/mem/arena.h"
#include "base/text/text.h"
#include "render/emit/term.h"
#include "render/report/report_analysis.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

enum { SENTENCE = 4096 };

bool report_wants(const struct report *report, int device)
{
	const struct trace_device *worst;

	if (report->options->select.device != NO_DEVICE || !report->screen)
		return report->options->select.device == NO_DEVICE ||
		       report->options->select.device == device;
	worst = report_worst(report->trace, NO_DEVICE);
	return worst && worst->device == device;
}

void report_say_estimated(const struct report *report)
{
	uint64_t interval = report->trace->capture.sample_bytes;

	if (!interval || report->selection->replayed)
		return;
	report_say(report, SAID_LINE, "  estimated from samples of %s", SAY_BYTES(interval));
}

size_t report_limit(const struct report *report, size_t count)
{
	size_t limit = report->options->full ? 0 : report->options->limit;

	return limit && limit < count ? limit : count;
}

void *report_room(const struct report *report, size_t size)
{
	return arena_alloc(report->arena, size);
}

const char *report_text_kept(const struct report *report, const char *text)
{
	const char *kept = arena_text(report->arena, text, strlen(text));

	return kept ? kept : "";
}

const char *report_line(const struct report *report, uint32_t stack)
{
	char line[512];

	report_line_text(report->trace, stack, line, sizeof(line));
	return report_text_kept(report, line);
}

void report_table(const struct report *report, const struct emit_column *columns,
		  const struct emit_rows *rows, const char *heading)
{
	emit_table(&report->show,
		   &(struct emit_table){
			   .columns = columns, .rows = rows, .heading = heading, .indent = 2 });
}

int report_tell_rows(const struct report *report, const char *key,
		     const struct emit_column *columns, struct emit_rows rows, const char *heading)
{
	if (report->json)
		report_list(report, key, "\n", columns, &rows);
	else if (rows.count)
		report_table(report, columns, &rows, heading);
	return 0;
}

void report_member(const struct report *report, const char *key, const struct emit_column *columns,
		   const void *row)
{
	const struct emit_column member[] = { { .key = key, .kind = EMIT_POINTED, .of = columns },
					      EMIT_END };

	emit_members(report->show.out, member, &row);
}

void report_list(const struct report *report, const char *key, const char *between,
		 const struct emit_column *columns, const struct emit_rows *rows)
{
	const struct emit_column member[] = {
		{ .key = key, .kind = EMIT_ROWS, .of = columns, .between = between }, EMIT_END
	};

	emit_members(report->show.out, member, rows);
}

void report_say(const struct report *report, int how, const char *format, ...)
{
	char text[SENTENCE];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (how == SAID_HEADING)
		show_heading(&report->show, text);
	else if (how == SAID_LINE)
		out_format(report->show.out, "%s\n", text);
	else
		show_wrapped(&report->show, text, (unsigned)how, false);
}

uint64_t report_when(const struct report *report, uint64_t bytes, uint64_t t)
{
	return bytes && !report->trace->capture.baseline ? t : TRACE_NONE;
}

int report_say_unread(const struct report *report, const char *what)
{
	if (report->trace->capture.baseline)
		report_say(report, 0, "%s: cannot be told of a baseline, which has no events.",
			   what);
	else
		report_say(report, 0, "%s: told of the whole run only.", what);
	return 0;
}

bool report_has_all_events(const struct report *report)
{
	return !report->trace->capture.events_dropped && !report->study->survey.gap_seq;
}

/* "  68.00 MiB  100.0%  Net.forward (train.py)                        10 blocks" */
const struct emit_column report_site_cells[] = {
	EMIT_CELL("", 11, BYTES, struct report_site, part),
	EMIT_CELL("", 8, SHARE, struct report_site, part),
	{ EMIT_KEYED(NULL, TEXT, struct report_site, name), .heading = "", .gap = 3 },
	{ EMIT_KEYED(NULL, TEXT, struct report_site, count), .heading = "", .gap = 2 },
	EMIT_END,
};

void report_site_row(const struct report *report, const char *name, uint64_t bytes, uint64_t whole,
		     const char *count)
{
	const struct report_site site = { { bytes, whole }, name, count ? count : "" };

	emit_row(&report->show, report_site_cells, &site, 2);
}

struct note {
	const char *bytes, *text;
};

static const struct emit_column note_cells[] = {
	EMIT_CELL("", 11, TEXT, struct note, bytes),
	{ EMIT_KEYED(NULL, TEXT, struct note, text), .heading = "", .gap = 11, .flags = EMIT_DIM },
	EMIT_END,
};

void report_note(const struct report *report, const char *bytes, const char *text)
{
	emit_row(&report->show, note_cells, &(struct note){ bytes, text }, 2);
}

void report_site_rows(const struct report *report, const struct emit_rows *rows)
{
	emit_table(&report->show, &(struct emit_table){ .columns = report_site_cells,
							.rows = rows,
							.headless = true,
							.summed = true,
							.indent = 2 });
}

/* "at exit", or what else the end of what is told of is. */
static const char *end_of(const struct report *report)
{
	if (report->options->select.to && report->selection->narrow)
		return "at the end of it";
	return report->trace->process.exit == TRACE_EXIT ? "at exit" : "when recording ended";
}

struct left {
	struct report_site row;
	const char *site, *space;
};

struct lefts {
	uint64_t bytes;
	struct emit_rows sites;
};

static const struct emit_column left_members[] = {
	EMIT_MEMBER("site", TEXT, struct left, site),
	EMIT_MEMBER("space", TEXT, struct left, space),
	EMIT_MEMBER("bytes", BYTES, struct left, row.part),
	EMIT_END,
};

static const struct emit_column lefts_members[] = {
	EMIT_MEMBER("bytes", BYTES, struct lefts, bytes),
	EMIT_LIST("sites", "\n", struct lefts, sites, left_members),
	EMIT_MEMBER("other_sites", HIDDEN, struct lefts, sites),
	EMIT_NESTED("other_sites_bytes", REST, struct lefts, sites, report_site_cells),
	EMIT_END,
};

/* Sites that still hold memory, the largest first. */
static int find_lefts(const struct report *report, struct lefts *lefts)
{
	const struct trace *trace = report->trace;
	size_t count;
	uint32_t *sites = report_live(trace, &count, &lefts->bytes);
	struct left *list = sites ? report_room(report, (count + 1) * sizeof(*list)) : NULL;

	for (size_t i = 0; list && i < count; i++) {
		const struct trace_site *site = &trace->sites[sites[i]];
		bool device = !strcmp(site->space, "device");
		char text[300];

		snprintf(text, sizeof(text), "%.200s%s%.40s%s", site->site, device ? "" : " [",
			 device ? "" : site->space, device ? "" : "]");
		list[i] = (struct left){
			{ { site->live_bytes, lefts->bytes }, report_text_kept(report, text), "" },
			site->site,
			site->space,
		};
	}
	free(sites);
	lefts->sites = report_rows(report, list, count);
	return list ? 0 : err("no memory left");
}

int report_tell_live(const struct report *report)
{
	struct lefts lefts;
	int error = find_lefts(report, &lefts);

	if (!error && report->json)
		report_member(report, "\nlive_at_exit", lefts_members, &lefts);
	if (error || report->json || !lefts.sites.count)
		return error;
	report_say(report, SAID_HEADING, "Still allocated %s: %s, by %s", end_of(report),
		   SAY_BYTES(lefts.bytes), trace_by_title((enum trace_by)report->trace->by));
	report_say_estimated(report);
	report_site_rows(report, &lefts.sites);
	return 0;
}

/* On the first screen the four bytes that some copy pins are noise beside gigabytes of a device. */
static bool is_little(const struct report *report, const struct trace_space *space)
{
	const struct trace_device *device =
		report_worst(report->trace, report->options->select.device);

	return report->screen && device && device->allocated.peak_bytes != TRACE_NONE &&
	       space->allocated.peak_bytes < device->allocated.peak_bytes / 100;
}

/* --- sums --- */

const struct emit_column report_sum_members[] = {
	EMIT_MEMBER("peak_bytes", BYTES, struct trace_sum, peak_bytes),
	EMIT_MEMBER("peak_t", TIME, struct trace_sum, peak_t),
	EMIT_MEMBER("exit_bytes", BYTES, struct trace_sum, exit_bytes),
	{ EMIT_KEYED("source", TEXT, struct trace_sum, source), .flags = EMIT_OPTIONAL },
	EMIT_END,
};

static const struct emit_column space_columns[] = {
	EMIT_COLUMN("space", "space", -22, TEXT, struct trace_space, space),
	EMIT_NESTED("allocated", KNOWN, struct trace_space, allocated, report_sum_members),
	EMIT_CELL("peak", 12, BYTES, struct trace_space, allocated.peak_bytes),
	EMIT_CELL("at", 14, TIME, struct trace_space, allocated.peak_t),
	EMIT_CELL("at exit", 14, BYTES, struct trace_space, allocated.exit_bytes),
	EMIT_COLUMN("allocations", "allocs", 11, COUNT, struct trace_space, allocations),
	EMIT_MEMBER("frees", COUNT, struct trace_space, frees),
	EMIT_END,
};

/* Those that people are told of. */
static bool is_beside(const struct report *report, const struct trace_space *space)
{
	return space->allocated.peak_bytes && space->allocated.peak_bytes != TRACE_NONE &&
	       space->space && strcmp(space->space, "device") != 0 && !is_little(report, space);
}

int report_tell_spaces(const struct report *report)
{
	const struct trace_summary *summary = &report->trace->summary;
	struct trace_space *list = report_room(report, (summary->spaces_n + 1) * sizeof(*list));
	size_t count = 0;

	if (!list)
		return err("no memory left");
	for (size_t i = 0; i < summary->spaces_n; i++) {
		if (!report->json && !is_beside(report, &summary->spaces[i]))
			continue;
		list[count] = summary->spaces[i];
		if (!report->json && report->trace->capture.baseline)
			list[count].allocated.peak_t = TRACE_NONE;
		count++;
	}
	return report_tell_rows(report, "\nspaces", space_columns, EMIT_ROWS_OF(list, count),
				"Memory beside the devices' own");
}
