/*
 * The report for programs: memtrace-report/1, exact bytes, keys always there, null for the unknown.
 *
 * The same facts as the text, from the same functions; lists are cut by the same limit, and what is
 * left out is summed beside them.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyse/error.h"
#include "analyse/trace.h"
#include "base/out.h"
#include "render/report.h"
#include "render/report_facts.h"
#include "render/show.h"

enum {
	FRAMES = 4,
	FAILURES = 100,
	SENTENCE = 4096,
};

struct report {
	struct trace *trace;
	struct out *out;
	const struct report_options *options;
};

static bool wanted(const struct report *report, int device)
{
	return report->options->device == NO_DEVICE || report->options->device == device;
}

static size_t limit_of(const struct report *report, size_t count)
{
	size_t limit = report->options->full ? 0 : report->options->limit;

	return limit && limit < count ? limit : count;
}

static void number(const struct report *report, const char *key, uint64_t value)
{
	out_text(report->out, key);
	if (value == TRACE_NONE)
		out_text(report->out, "null");
	else
		out_u64(report->out, value);
}

static void text(const struct report *report, const char *key, const char *value)
{
	out_text(report->out, key);
	out_json(report->out, value);
}

static void sum(const struct report *report, const char *key, const struct trace_sum *value)
{
	out_text(report->out, key);
	if (value->peak_bytes == TRACE_NONE) {
		out_text(report->out, "null");
		return;
	}
	number(report, "{\"peak_bytes\":", value->peak_bytes);
	number(report, ",\"peak_t\":", value->peak_t);
	number(report, ",\"exit_bytes\":", value->exit_bytes);
	if (value->source)
		text(report, ",\"source\":", value->source);
	out_char(report->out, '}');
}

static void devices(const struct report *report)
{
	const char *comma = "\n";

	out_text(report->out, ",\n\"devices\":[");
	for (size_t i = 0; i < report->trace->summary.devices_n; i++) {
		const struct trace_device *device = &report->trace->summary.devices[i];
		uint64_t reserved = report_reserved_at_peak(report->trace, device);
		uint64_t allocated = device->allocated.peak_bytes;

		if (!wanted(report, device->device))
			continue;
		out_text(report->out, comma);
		comma = ",\n";
		out_text(report->out, "{\"device\":");
		out_i64(report->out, device->device);
		text(report, ",\"name\":", device->name);
		number(report, ",\"total_bytes\":", device->total_bytes);
		sum(report, ",\"allocated\":", &device->allocated);
		sum(report, ",\"reserved\":", &device->reserved);
		sum(report, ",\"used\":", &device->used);
		number(report, ",\"cached_at_peak_bytes\":",
		       reserved == TRACE_NONE || allocated == TRACE_NONE || reserved < allocated
			       ? TRACE_NONE
			       : reserved - allocated);
		number(report, ",\"allocations\":", device->allocations);
		number(report, ",\"frees\":", device->frees);
		number(report, ",\"ooms\":", device->ooms);
		number(report, ",\"retries\":", device->retries);
		out_char(report->out, '}');
	}
	out_char(report->out, ']');
}

/* Pools of all devices in one list, or owners. */
static void parts(const struct report *report, const char *list, const char *key, bool pools)
{
	const char *comma = "\n";

	out_text(report->out, list);
	for (size_t i = 0; i < report->trace->summary.devices_n; i++) {
		const struct trace_device *device = &report->trace->summary.devices[i];
		const struct trace_part *part = pools ? device->pools : device->owners;
		size_t count = pools ? device->pools_n : device->owners_n;

		for (size_t k = 0; wanted(report, device->device) && k < count; k++) {
			out_text(report->out, comma);
			comma = ",\n";
			out_text(report->out, "{\"device\":");
			out_i64(report->out, device->device);
			text(report, key, part[k].name);
			sum(report, ",\"allocated\":", &part[k].allocated);
			sum(report, ",\"reserved\":", &part[k].reserved);
			number(report, ",\"allocations\":", part[k].allocations);
			number(report, ",\"frees\":", part[k].frees);
			out_char(report->out, '}');
		}
	}
	out_char(report->out, ']');
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

	out_text(report->out, ",\"frames\":[");
	for (size_t i = 0; i < count; i++) {
		trace_frame_text(trace, list[i], frame, sizeof(frame));
		if (i)
			out_char(report->out, ',');
		out_json(report->out, frame);
	}
	out_char(report->out, ']');
}

static void shares(const struct report *report, const struct trace_peak *peak)
{
	size_t shown = limit_of(report, peak->stacks_n);
	uint64_t rest = 0;

	out_text(report->out, ",\n \"stacks\":[");
	for (size_t i = 0; i < peak->stacks_n; i++) {
		const struct trace_share *share = &peak->stacks[i];

		if (i >= shown) {
			rest += share->bytes;
			continue;
		}
		out_text(report->out, i ? ",\n  " : "\n  ");
		number(report, "{\"stack\":", share->stack);
		number(report, ",\"bytes\":", share->bytes);
		number(report, ",\"count\":", share->count);
		frames(report, share->stack);
		out_char(report->out, '}');
	}
	number(report, "],\"other_stacks\":", peak->stacks_n - shown);
	number(report, ",\"other_stacks_bytes\":", rest);
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
	shown = limit_of(report, groups.count);
	out_text(report->out, ",\n \"sites\":[");
	for (size_t i = 0; i < groups.count; i++) {
		const struct report_group *group = &groups.list[i];

		if (i >= shown) {
			rest += group->bytes;
			continue;
		}
		report_line_text(report->trace, group->shares[0].stack, line, sizeof(line));
		out_text(report->out, i ? ",\n  " : "\n  ");
		text(report, "{\"site\":", group->name);
		text(report, ",\"line\":", line);
		number(report, ",\"bytes\":", group->bytes);
		number(report, ",\"count\":", group->count);
		number(report, ",\"stacks\":", group->shares_n);
		out_char(report->out, '}');
	}
	number(report, "],\"other_sites\":", groups.count - shown);
	number(report, ",\"other_sites_bytes\":", rest);
	report_groups_clear(&groups);
	return 0;
}

static int peaks(const struct report *report)
{
	static const char *const metrics[] = { "allocated", "reserved", "used" };
	const char *comma = "\n";
	int error = 0;

	out_text(report->out, ",\n\"peaks\":[");
	for (size_t i = 0; !error && i < report->trace->peaks_n; i++) {
		const struct trace_peak *peak = &report->trace->peaks[i];

		if (!wanted(report, peak->device))
			continue;
		out_text(report->out, comma);
		comma = ",\n";
		out_text(report->out, "{\"device\":");
		out_i64(report->out, peak->device);
		text(report, ",\"pool\":", peak->pool);
		text(report, ",\"metric\":", metrics[peak->metric]);
		number(report, ",\"t\":", peak->t);
		number(report, ",\"bytes\":", peak->bytes);
		error = sites(report, peak);
		shares(report, peak);
		out_char(report->out, '}');
	}
	out_char(report->out, ']');
	return error;
}

/* --- the rest --- */

static int live(const struct report *report)
{
	uint64_t bytes, rest = 0;
	size_t count, shown;
	uint32_t *list = report_live(report->trace, &count, &bytes);

	if (!list)
		return -ENOMEM;
	shown = limit_of(report, count);
	number(report, ",\n\"live_at_exit\":{\"bytes\":", bytes);
	out_text(report->out, ",\"sites\":[");
	for (size_t i = 0; i < count; i++) {
		const struct trace_site *site = &report->trace->sites[list[i]];

		if (i >= shown) {
			rest += site->live_bytes;
			continue;
		}
		out_text(report->out, i ? ",\n" : "\n");
		text(report, "{\"site\":", site->site);
		text(report, ",\"space\":", site->space);
		number(report, ",\"bytes\":", site->live_bytes);
		out_char(report->out, '}');
	}
	number(report, "],\"other_sites\":", count - shown);
	number(report, ",\"other_sites_bytes\":", rest);
	out_char(report->out, '}');
	free(list);
	return 0;
}

static void spaces(const struct report *report)
{
	out_text(report->out, ",\n\"spaces\":[");
	for (size_t i = 0; i < report->trace->summary.spaces_n; i++) {
		const struct trace_space *space = &report->trace->summary.spaces[i];

		text(report, i ? ",\n{\"space\":" : "\n{\"space\":", space->space);
		sum(report, ",\"allocated\":", &space->allocated);
		number(report, ",\"allocations\":", space->allocations);
		number(report, ",\"frees\":", space->frees);
		out_char(report->out, '}');
	}
	out_char(report->out, ']');
}

static int phases(const struct report *report)
{
	size_t count;
	struct report_phase *list = report_phases(report->trace, &count);
	size_t shown = limit_of(report, count);

	if (!list)
		return -ENOMEM;
	out_text(report->out, ",\n\"phases\":[");
	for (size_t i = 0; i < shown; i++) {
		text(report, i ? ",\n{\"name\":" : "\n{\"name\":", list[i].name);
		text(report, ",\"domain\":", list[i].domain);
		number(report, ",\"times\":", list[i].count);
		number(report, ",\"total_ns\":", list[i].total_ns);
		number(report, ",\"allocated_peak_bytes\":", list[i].peak_bytes);
		number(report, ",\"reserved_peak_bytes\":", list[i].peak_reserved);
		out_text(report->out, ",\"growth_bytes\":");
		out_i64(report->out, list[i].growth);
		out_char(report->out, '}');
	}
	number(report, "],\"other_phases\":", count - shown);
	free(list);
	return 0;
}

static int failures(const struct report *report)
{
	struct trace_event events[FAILURES];
	char line[512];
	int count = 0;

	if (report_ooms(report->trace, report->options->device))
		count = report_failures(report->trace, report->options->device, events, FAILURES);
	if (count < 0)
		return count;
	out_text(report->out, ",\n\"failures\":[");
	for (int i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];

		number(report, i ? ",\n{\"seq\":" : "\n{\"seq\":", event->seq);
		number(report, ",\"t\":", event->t);
		number(report, ",\"device\":",
		       event->device == NO_DEVICE ? TRACE_NONE : (uint64_t)event->device);
		number(report, ",\"bytes\":", event->size);
		number(report, ",\"allocated\":", event->allocated);
		number(report, ",\"reserved\":", event->reserved);
		text(report, ",\"api\":", trace_text(report->trace, event->api));
		text(report, ",\"error\":", trace_text(report->trace, event->error));
		report_line_text(report->trace, event->stack, line, sizeof(line));
		text(report, ",\"line\":", line);
		number(report,
		       ",\"stack\":", event->stack == UINT32_MAX ? TRACE_NONE : event->stack);
		out_char(report->out, '}');
	}
	out_char(report->out, ']');
	return 0;
}

static void notes(const struct report *report)
{
	const struct trace_capture *capture = &report->trace->capture;

	number(report, ",\n\"events_recorded\":", capture->events_recorded);
	number(report, ",\"events_dropped\":", capture->events_dropped);
	out_text(report->out, capture->truncated ? ",\"truncated\":true" : ",\"truncated\":false");
	out_text(report->out, ",\n\"notes\":[");
	for (size_t i = 0; i < capture->notes_n; i++)
		text(report, i ? "," : "", capture->notes[i]);
	out_text(report->out, "]}\n");
}

static void process(const struct report *report)
{
	static const char *const exits[] = { "exit", "running", "unfinished" };
	const struct trace_process *value = &report->trace->process;

	number(report, ",\n\"process\":{\"pid\":", value->pid);
	text(report, ",\"host\":", value->host);
	number(report, ",\"rank\":", value->rank);
	out_text(report->out, ",\"command\":[");
	for (size_t i = 0; i < value->command_n; i++)
		text(report, i ? "," : "", value->command[i]);
	text(report, "],\"start_time\":", value->start_time);
	number(report, ",\"duration_ns\":", value->duration_ns);
	text(report, ",\"exit\":", exits[value->exit]);
	number(report, ",\"status\":", value->status);
	number(report, ",\"signal\":", value->signal);
	out_char(report->out, '}');
}

int report_json(struct trace *trace, struct out *out, const struct report_options *options)
{
	struct report report = { trace, out, options };
	char answer[SENTENCE];
	int error;

	if (options->device != NO_DEVICE && !trace_device(trace, options->device))
		return err("%s: has no device %d", trace->path, options->device);
	error = report_answer(trace, options->device, answer, sizeof(answer));
	if (error)
		return error;
	text(&report, "{\"schema\":\"memtrace-report/1\",\n\"trace\":", trace->path);
	text(&report, ",\n\"answer\":", answer);
	process(&report);
	devices(&report);
	parts(&report, ",\n\"pools\":[", ",\"pool\":", true);
	parts(&report, ",\n\"owners\":[", ",\"owner\":", false);
	error = peaks(&report);
	if (!error)
		error = live(&report);
	spaces(&report);
	if (!error)
		error = phases(&report);
	if (!error)
		error = failures(&report);
	notes(&report);
	return error;
}
