/*
 * The report for programs: memtrace-report/1, exact bytes, keys always there, null for the unknown.
 *
 * The same facts as the text, from the same functions; lists are cut by the same limit, and what is
 * left out is summed beside them.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "facts/trace_rows.h"
#include "render/emit/members.h"
#include "render/report/report.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

enum {
	FRAMES = 4,
	FAILURES = 100,
};

void report_json_number(const struct report *report, const char *key, uint64_t value)
{
	member_number(report->show.out, key, value);
}

void report_json_text(const struct report *report, const char *key, const char *value)
{
	member_text(report->show.out, key, value);
}

/* --- peaks --- */

static void frames(const struct report *report, uint32_t stack)
{
	const struct trace *trace = report->trace;
	const struct trace_stack *all = &trace->stacks[stack];
	uint32_t some[FRAMES];
	const uint32_t *list = report->options->full ? all->frames : some;
	size_t count =
		report->options->full ? all->frames_n : trace_lines(trace, stack, some, FRAMES);
	char frame[512];

	out_text(report->show.out, ",\"frames\":[");
	for (size_t i = 0; i < count; i++) {
		trace_frame_text(trace, list[i], frame, sizeof(frame));
		if (i)
			out_char(report->show.out, ',');
		out_json(report->show.out, frame);
	}
	out_char(report->show.out, ']');
	for (size_t i = 0; report->options->full && i < all->entries_n; i++)
		report_json_number(report, i ? "," : ",\"entries\":[", all->entries[i]);
	if (report->options->full && all->entries_n)
		out_char(report->show.out, ']');
}

/* Of stacks that a filter left out, or that dropped events would tell of. */
static uint64_t unknown_bytes(const struct trace_peak *peak)
{
	uint64_t bytes = peak->bytes;

	for (size_t i = 0; i < peak->stacks_n; i++)
		bytes -= peak->stacks[i].bytes;
	return bytes;
}

static void shares(const struct report *report, const struct trace_peak *peak)
{
	size_t shown = report_limit(report, peak->stacks_n);
	uint64_t rest = 0;

	out_text(report->show.out, ",\n \"stacks\":[");
	for (size_t i = 0; i < peak->stacks_n; i++) {
		const struct trace_share *share = &peak->stacks[i];

		if (i >= shown) {
			rest += share->bytes;
			continue;
		}
		out_text(report->show.out, i ? ",\n  " : "\n  ");
		report_json_number(report,
				   "{\"stack\":", report->trace->stacks[share->stack].number);
		report_json_number(report, ",\"bytes\":", share->bytes);
		report_json_number(report, ",\"count\":", share->count);
		frames(report, share->stack);
		out_char(report->show.out, '}');
	}
	report_json_number(report, "],\"other_stacks\":", peak->stacks_n - shown);
	report_json_number(report, ",\"other_stacks_bytes\":", rest);
}

static int sites(const struct report *report, const struct trace_peak *peak)
{
	struct report_groups groups;
	uint64_t rest = 0;
	char line[512];
	size_t shown;
	int error = report_groups_of(&groups, report->trace, peak);

	if (error)
		return error;
	shown = report_limit(report, groups.count);
	out_text(report->show.out, ",\n \"sites\":[");
	for (size_t i = 0; i < groups.count; i++) {
		const struct report_group *group = &groups.list[i];

		if (i >= shown) {
			rest += group->bytes;
			continue;
		}
		report_line_text(report->trace, group->shares[0].stack, line, sizeof(line));
		out_text(report->show.out, i ? ",\n  " : "\n  ");
		report_json_text(report, "{\"site\":", group->name);
		report_json_text(report, ",\"line\":", line);
		report_json_number(report, ",\"bytes\":", group->bytes);
		report_json_number(report, ",\"count\":", group->count);
		report_json_number(report, ",\"stacks\":", group->shares_n);
		out_char(report->show.out, '}');
	}
	report_json_number(report, "],\"other_sites\":", groups.count - shown);
	report_json_number(report, ",\"other_sites_bytes\":", rest);
	report_groups_clear(&groups);
	return 0;
}

int report_json_composition(const struct report *report, const struct trace_peak *peak)
{
	int error;

	if (peak->device < 0)
		report_json_number(report, "{\"device\":", TRACE_NONE);
	else
		report_json_number(report, "{\"device\":", (uint64_t)peak->device);
	report_json_text(report, ",\"pool\":", peak->pool);
	report_json_text(report, ",\"metric\":", rows_word(WORDS_METRICS, peak->metric));
	report_json_number(report, ",\"t\":", peak->t);
	report_json_number(report, ",\"bytes\":", peak->bytes);
	report_json_number(report, ",\"unknown_bytes\":", unknown_bytes(peak));
	report_json_category_sums(report, peak);
	error = sites(report, peak);
	shares(report, peak);
	out_char(report->show.out, '}');
	return error;
}

int report_json_peaks(const struct report *report)
{
	const char *comma = "\n";
	int error = 0;

	out_text(report->show.out, ",\n\"peaks\":[");
	for (size_t i = 0; !error && i < report->trace->peaks_n; i++) {
		const struct trace_peak *peak = &report->trace->peaks[i];

		if (!report->selection->narrow && !report_wants(report, peak->device))
			continue;
		out_text(report->show.out, comma);
		comma = ",\n";
		error = report_json_composition(report, peak);
	}
	out_char(report->show.out, ']');
	return error;
}

/* --- the rest --- */

static const char *thread_name(const struct trace *trace, uint64_t number)
{
	const struct trace_thread *thread = trace_thread(trace, number);

	return thread ? thread->name : NULL;
}

int report_json_failures(const struct report *report)
{
	struct trace_event events[FAILURES];
	char line[512];
	int count = 0;

	if (report_ooms(report->trace, report->options->device))
		count = report_find_failures(report, events, FAILURES);
	if (count < 0)
		return count;
	out_text(report->show.out, ",\n\"failures\":[");
	for (int i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];

		report_json_number(report, i ? ",\n{\"seq\":" : "\n{\"seq\":", event->seq);
		report_json_number(report, ",\"t\":", event->t);
		report_json_number(report, ",\"device\":",
				   event->device == NO_DEVICE ? TRACE_NONE
							      : (uint64_t)event->device);
		report_json_number(report, ",\"bytes\":", event->size);
		report_json_number(report, ",\"allocated\":", event->allocated);
		report_json_number(report, ",\"reserved\":", event->reserved);
		report_json_text(report, ",\"api\":", trace_text(report->trace, event->api));
		report_json_text(report, ",\"error\":", trace_text(report->trace, event->error));
		report_line_text(report->trace, event->stack, line, sizeof(line));
		report_json_text(report, ",\"line\":", line);
		report_json_number(report, ",\"thread\":", event->thread);
		report_json_text(report,
				 ",\"thread_name\":", thread_name(report->trace, event->thread));
		report_json_number(report, ",\"stack\":",
				   event->stack == UINT32_MAX ? TRACE_NONE : event->stack);
		out_char(report->show.out, '}');
	}
	out_char(report->show.out, ']');
	return 0;
}

int report_json_notes(const struct report *report)
{
	const struct trace_capture *capture = &report->trace->capture;

	report_json_number(report, ",\n\"events_recorded\":", capture->events_recorded);
	report_json_number(report, ",\"events_dropped\":", capture->events_dropped);
	report_json_number(report, ",\"events_since\":", capture->events_since);
	if (capture->events_filtered)
		report_json_number(report, ",\"events_filtered\":", capture->events_filtered);
	if (capture->sample_bytes)
		report_json_number(report, ",\"sample_bytes\":", capture->sample_bytes);
	out_text(report->show.out,
		 capture->truncated ? ",\"truncated\":true" : ",\"truncated\":false");
	out_text(report->show.out, ",\n\"notes\":[");
	for (size_t i = 0; i < capture->notes_n; i++)
		report_json_text(report, i ? "," : "", capture->notes[i]);
	out_text(report->show.out, "]");
	return 0;
}

int report_json_process(const struct report *report)
{
	static const char *const exits[] = { "exit", "running", "unfinished" };
	const struct trace_process *value = &report->trace->process;

	report_json_number(report, ",\n\"process\":{\"pid\":", value->pid);
	report_json_text(report, ",\"host\":", value->host);
	report_json_number(report, ",\"rank\":", value->rank);
	out_text(report->show.out, ",\"command\":[");
	for (size_t i = 0; i < value->command_n; i++)
		report_json_text(report, i ? "," : "", value->command[i]);
	report_json_text(report, "],\"start_time\":", value->start_time);
	report_json_number(report, ",\"duration_ns\":", value->duration_ns);
	report_json_text(report, ",\"exit\":", exits[value->exit]);
	report_json_number(report, ",\"status\":", value->status);
	report_json_number(report, ",\"signal\":", value->signal);
	out_char(report->show.out, '}');
	return 0;
}
