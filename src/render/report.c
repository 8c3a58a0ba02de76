/*
 * The report for people: the answer in one sentence, then what supports it.
 *
 * Sums stay exact: rows that are left out are summed in a row of their own.
 */
#include "render/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/error.h"
#include "analyse/trace.h"
#include "base/out.h"
#include "base/text.h"
#include "render/report_facts.h"
#include "render/show.h"

enum {
	FRAMES = 4, /* of a stack, unless all are wanted */
	MOST_FRAMES = 256,
	FAILURES = 3,
	SENTENCE = 4096,
};

struct report {
	struct trace *trace;
	struct show show;
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

static void line(const struct report *report, const char *text)
{
	out_text(report->show.out, text);
	out_char(report->show.out, '\n');
}

static void more_line(const struct report *report, size_t rows)
{
	char text[64];

	snprintf(text, sizeof(text), "  ... and %zu more", rows);
	line(report, text);
}

/* --- a device's sums --- */

static void sum_row(const struct report *report, const char *name, const struct trace_sum *sum)
{
	char number[SHOW_NUMBER];

	if (sum->peak_bytes == TRACE_NONE)
		return;
	out_text(report->show.out, "  ");
	show_left(&report->show, name, 22);
	show_right(&report->show, show_bytes(number, sum->peak_bytes), 12);
	show_right(&report->show, show_time(number, sum->peak_t), 14);
	show_right(&report->show, show_bytes(number, sum->exit_bytes), 14);
	out_char(report->show.out, '\n');
}

static void cached_row(const struct report *report, const struct trace_device *device)
{
	uint64_t reserved = report_reserved_at_peak(report->trace, device);
	uint64_t allocated = device->allocated.peak_bytes;
	char number[SHOW_NUMBER];
	char share[SHOW_NUMBER];
	char text[100];

	if (reserved == TRACE_NONE || allocated == TRACE_NONE || reserved <= allocated)
		return;
	snprintf(text, sizeof(text), "  (%s of what was reserved)",
		 show_share(share, reserved - allocated, reserved));
	out_text(report->show.out, "  ");
	show_left(&report->show, "cached at that peak", 22);
	show_right(&report->show, show_bytes(number, reserved - allocated), 12);
	show_dim(&report->show, text);
	out_char(report->show.out, '\n');
}

static void add_count(char *to, size_t size, uint64_t count, const char *one, const char *many)
{
	char number[SHOW_NUMBER];

	if (to[0])
		text_append(to, size, ", ");
	text_append(to, size, show_count(number, count));
	text_append(to, size, " ");
	text_append(to, size, count == 1 ? one : many);
}

static void counts_row(const struct report *report, const struct trace_device *device)
{
	char text[200] = "";

	add_count(text, sizeof(text), device->allocations, "allocation", "allocations");
	add_count(text, sizeof(text), device->frees, "free", "frees");
	if (device->ooms)
		add_count(text, sizeof(text), device->ooms, "out of memory", "out of memory");
	if (device->retries)
		add_count(text, sizeof(text), device->retries, "retry", "retries");
	out_text(report->show.out, "  ");
	line(report, text);
}

static void parts_rows(const struct report *report, const char *what, const struct trace_part *parts,
		       size_t count)
{
	size_t shown = limit_of(report, count);
	char number[SHOW_NUMBER];

	if (!count)
		return;
	out_text(report->show.out, "\n  ");
	show_left(&report->show, what, 22);
	line(report, "   allocated      reserved        at exit     allocs      frees");
	for (size_t i = 0; i < shown; i++) {
		const struct trace_part *part = &parts[i];

		out_text(report->show.out, "  ");
		show_left(&report->show, part->name ? part->name : "?", 22);
		show_right(&report->show, show_bytes(number, part->allocated.peak_bytes), 12);
		show_right(&report->show, show_bytes(number, part->reserved.peak_bytes), 14);
		show_right(&report->show,
			   show_bytes(number, part->reserved.exit_bytes), 15);
		out_char(report->show.out, ' ');
		show_right(&report->show, show_count(number, part->allocations), 7);
		show_right(&report->show, show_count(number, part->frees), 8);
		out_char(report->show.out, '\n');
	}
	if (shown < count)
		more_line(report, count - shown);
}

/* --- who holds it --- */

static void stack_rows(const struct report *report, uint32_t stack, size_t most)
{
	const struct trace *trace = report->trace;
	uint32_t frames[MOST_FRAMES];
	char text[300];
	char safe[400];
	size_t count;

	if (report->options->full) {
		count = trace->stacks[stack].frames_n < MOST_FRAMES ? trace->stacks[stack].frames_n
								    : MOST_FRAMES;
		memcpy(frames, trace->stacks[stack].frames, count * sizeof(*frames));
	} else {
		count = trace_lines(trace, stack, frames, most);
	}
	for (size_t i = 0; i < count; i++) {
		trace_frame_text(trace, frames[i], text, sizeof(text));
		show_safe(safe, sizeof(safe), text, SHOW_COLUMNS - 24);
		out_text(report->show.out, "                        ");
		show_dim(&report->show, safe);
		out_char(report->show.out, '\n');
	}
}

/* "  68.00 MiB  100.0%  Net.forward (train.py)                        10 blocks" */
static void site_row(const struct report *report, const char *name, uint64_t bytes, uint64_t whole,
		     const char *count)
{
	char number[SHOW_NUMBER];
	unsigned columns = count ? show_columns(count) : 0;

	out_text(report->show.out, "  ");
	show_right(&report->show, show_bytes(number, bytes), 11);
	show_right(&report->show, show_share(number, bytes, whole), 8);
	out_text(report->show.out, "   ");
	show_left(&report->show, name, SHOW_COLUMNS - 26 - columns);
	out_text(report->show.out, "  ");
	line(report, count ? count : "");
}

static void rest_row(const struct report *report, size_t rows, uint64_t bytes, uint64_t whole)
{
	char text[100];

	snprintf(text, sizeof(text), "... and %zu more", rows);
	site_row(report, text, bytes, whole, "");
}

static void group_rows(const struct report *report, const struct report_group *group, uint64_t whole)
{
	size_t stacks = report->options->full ? group->shares_n : 1;
	char number[SHOW_NUMBER];
	char count[120];
	char name[300];

	report_line_text(report->trace, group->shares[0].stack, name, sizeof(name));
	snprintf(count, sizeof(count), "%s %s", show_count(number, group->count),
		 group->count == 1 ? "block" : "blocks");
	site_row(report, group->name ? group->name : name, group->bytes, whole, count);
	for (size_t i = 0; i < stacks; i++) {
		if (report->options->full && stacks > 1) {
			snprintf(count, sizeof(count), "%30s in stack %u",
				 show_bytes(number, group->shares[i].bytes), group->shares[i].stack);
			line(report, count);
		}
		stack_rows(report, group->shares[i].stack, FRAMES);
	}
	if (stacks < group->shares_n) {
		snprintf(count, sizeof(count), "%24sand %zu more %s of this site", "",
			 group->shares_n - stacks, group->shares_n - stacks == 1 ? "stack" : "stacks");
		show_dim(&report->show, count);
		out_char(report->show.out, '\n');
	}
}

static int peak_rows(const struct report *report, int device, enum trace_metric metric,
		     const char *what)
{
	const struct trace_peak *peak = trace_peak(report->trace, device, NULL, metric);
	struct report_groups groups;
	char bytes[SHOW_NUMBER];
	char when[SHOW_NUMBER];
	char text[200];
	uint64_t rest = 0;
	size_t shown;
	int error;

	if (!peak || !peak->bytes)
		return 0;
	error = report_groups_of(&groups, report->trace, peak);
	if (error)
		return error;
	snprintf(text, sizeof(text), "%s on device %d: %s at %s, by call site", what, device,
		 show_bytes(bytes, peak->bytes), show_time(when, peak->t));
	show_heading(&report->show, text);
	shown = limit_of(report, groups.count);
	for (size_t i = 0; i < groups.count; i++) {
		if (i < shown)
			group_rows(report, &groups.list[i], peak->bytes);
		else
			rest += groups.list[i].bytes;
	}
	if (shown < groups.count)
		rest_row(report, groups.count - shown, rest, peak->bytes);
	report_groups_clear(&groups);
	return 0;
}

static int device_part(const struct report *report, const struct trace_device *device)
{
	char total[SHOW_NUMBER];
	char used[64] = "used";
	char text[300];
	int error;

	snprintf(text, sizeof(text), "Device %d: %s, %s", device->device,
		 device->name ? device->name : "unnamed", show_bytes(total, device->total_bytes));
	show_heading(&report->show, text);
	line(report, "                                peak            at       at exit");
	sum_row(report, "allocated", &device->allocated);
	sum_row(report, "reserved", &device->reserved);
	if (device->used.source)
		snprintf(used, sizeof(used), "used (%s)", device->used.source);
	sum_row(report, used, &device->used);
	cached_row(report, device);
	counts_row(report, device);
	parts_rows(report, "pool", device->pools, device->pools_n);
	parts_rows(report, "owner", device->owners, device->owners_n);
	error = peak_rows(report, device->device, TRACE_ALLOCATED, "Peak of allocated memory");
	if (!error && report->options->full)
		error = peak_rows(report, device->device, TRACE_RESERVED, "Peak of reserved memory");
	return error;
}

static int live_part(const struct report *report)
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
		snprintf(text, sizeof(text), "Still allocated %s: %s, by call site",
			 trace->process.exit == TRACE_EXIT ? "at exit" : "when recording ended",
			 show_bytes(number, bytes));
		show_heading(&report->show, text);
	}
	shown = limit_of(report, count);
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
		site_row(report, text, site->live_bytes, bytes, NULL);
	}
	if (shown < count)
		rest_row(report, count - shown, rest, bytes);
	free(sites);
	return 0;
}

/* --- the rest --- */

static void spaces_part(const struct report *report)
{
	const struct trace *trace = report->trace;
	char number[SHOW_NUMBER];
	bool any = false;

	for (size_t i = 0; i < trace->summary.spaces_n; i++) {
		const struct trace_space *space = &trace->summary.spaces[i];

		if (!space->allocated.peak_bytes || space->allocated.peak_bytes == TRACE_NONE ||
		    !space->space || !strcmp(space->space, "device"))
			continue;
		if (!any) {
			show_heading(&report->show, "Memory beside the devices' own");
			line(report, "  space                         peak            at       at exit"
				     "     allocs");
		}
		any = true;
		out_text(report->show.out, "  ");
		show_left(&report->show, space->space, 22);
		show_right(&report->show, show_bytes(number, space->allocated.peak_bytes), 12);
		show_right(&report->show, show_time(number, space->allocated.peak_t), 14);
		show_right(&report->show, show_bytes(number, space->allocated.exit_bytes), 14);
		show_right(&report->show, show_count(number, space->allocations), 11);
		out_char(report->show.out, '\n');
	}
}

static void phase_row(const struct report *report, const struct report_phase *phase)
{
	uint64_t growth = phase->growth < 0 ? 0 - (uint64_t)phase->growth : (uint64_t)phase->growth;
	char number[SHOW_NUMBER];
	char signed_number[SHOW_NUMBER + 1];

	out_text(report->show.out, "  ");
	show_left(&report->show, phase->name, 26);
	show_right(&report->show, show_count(number, phase->count), 9);
	show_right(&report->show, phase->open && !phase->total_ns ? "open" : show_time(number, phase->total_ns),
		   13);
	show_right(&report->show, show_bytes(number, phase->peak_bytes), 14);
	text_join(signed_number, sizeof(signed_number), phase->growth < 0 ? "-" : growth ? "+" : "",
		  show_bytes(number, growth));
	show_right(&report->show, signed_number, 14);
	out_char(report->show.out, '\n');
}

static int phases_part(const struct report *report)
{
	size_t count, shown;
	struct report_phase *phases = report_phases(report->trace, &count);

	if (!phases)
		return -ENOMEM;
	if (count) {
		show_heading(&report->show, "Phases, by peak of allocated memory");
		line(report, "  phase                         times         time          peak        growth");
	}
	shown = limit_of(report, count);
	for (size_t i = 0; i < shown; i++)
		phase_row(report, &phases[i]);
	if (shown < count)
		more_line(report, count - shown);
	free(phases);
	return 0;
}

/* What failed stands in the events, of which only those lines are read. */
static int failures_part(const struct report *report)
{
	uint64_t ooms = report_ooms(report->trace, report->options->device);
	struct trace_event events[FAILURES];
	char number[SHOW_NUMBER];
	char text[SENTENCE];
	int count;

	if (!ooms)
		return 0;
	count = report_failures(report->trace, report->options->device, events, FAILURES);
	if (count < 0)
		return count;
	snprintf(text, sizeof(text), "Out of memory: %s %s", show_count(number, ooms),
		 ooms == 1 ? "allocation failed" : "allocations failed");
	show_heading(&report->show, text);
	for (int i = 0; i < count; i++) {
		text_copy(text, sizeof(text), "- ");
		report_failure_text(report->trace, &events[i], text + 2, sizeof(text) - 2);
		show_wrapped(&report->show, text, 2, false);
	}
	if ((uint64_t)count < ooms && count) {
		snprintf(text, sizeof(text), "... and %s more",
			 show_count(number, ooms - (uint64_t)count));
		line(report, text);
	}
	return 0;
}

static void notes_part(const struct report *report)
{
	const struct trace_capture *capture = &report->trace->capture;
	const struct trace_process *process = &report->trace->process;
	char number[SHOW_NUMBER];
	char text[SENTENCE];

	if (process->exit == TRACE_EXIT && !capture->events_dropped && !capture->notes_n)
		return;
	show_heading(&report->show, "Notes");
	if (process->signal != TRACE_NONE) {
		snprintf(text, sizeof(text), "- the process was killed by signal %llu; this is what was "
			 "recorded until then", (unsigned long long)process->signal);
		show_wrapped(&report->show, text, 2, false);
	} else if (process->exit != TRACE_EXIT) {
		show_wrapped(&report->show,
			     process->exit == TRACE_RUNNING
				     ? "- the process was still running when this was read"
				     : "- the process ended without finishing its trace (killed, crashed or "
				       "_exit); this is what was recorded until then",
			     2, false);
	}
	if (capture->events_dropped) {
		snprintf(text, sizeof(text), "- %s of the events were dropped for newer ones; sums, peaks and "
			 "sites count them all the same", show_count(number, capture->events_dropped));
		show_wrapped(&report->show, text, 2, false);
	}
	for (size_t i = 0; i < capture->notes_n; i++) {
		text_join(text, sizeof(text), "- ", capture->notes[i]);
		show_wrapped(&report->show, text, 2, false);
	}
}

static void process_line(const struct report *report)
{
	const struct trace_process *process = &report->trace->process;
	char duration[SHOW_NUMBER];
	char text[SENTENCE];
	size_t used;

	used = text_copy(text, sizeof(text), "Of `");
	for (size_t i = 0; i < process->command_n; i++) {
		used = text_append(text, sizeof(text) - 300, i ? " " : "");
		used = text_append(text, sizeof(text) - 300, process->command[i]);
	}
	if (used > 200) /* a long command says little at its end */
		used = 197 + text_copy(text + 197, sizeof(text) - 197, "...");
	snprintf(text + used, sizeof(text) - used, "`, pid %llu on %.60s, %s%.200s, rank %llu.",
		 (unsigned long long)process->pid, process->host ? process->host : "?",
		 process->start_time ? "started " : "", process->start_time ? process->start_time : "",
		 (unsigned long long)process->rank);
	show_wrapped(&report->show, text, 0, false);
	snprintf(text, sizeof(text), "It ran for %s.", show_time(duration, process->duration_ns));
	show_wrapped(&report->show, text, 0, false);
}

int report_text(struct trace *trace, struct out *out, const struct report_options *options)
{
	struct report report = { trace, { out, options->colour }, options };
	char answer[SENTENCE];
	int error;

	if (options->device != NO_DEVICE && !trace_device(trace, options->device))
		return err("%s: has no device %d", trace->path, options->device);
	error = report_answer(trace, options->device, answer, sizeof(answer));
	if (error)
		return error;
	show_wrapped(&report.show, answer, 0, true);
	process_line(&report);
	error = failures_part(&report);
	for (size_t i = 0; !error && i < trace->summary.devices_n; i++) {
		if (wanted(&report, trace->summary.devices[i].device))
			error = device_part(&report, &trace->summary.devices[i]);
	}
	if (!error)
		error = live_part(&report);
	if (!error)
		spaces_part(&report);
	if (!error)
		error = phases_part(&report);
	if (!error)
		notes_part(&report);
	return error;
}
