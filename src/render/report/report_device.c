/* The report for people: one device, its sums, pools and owners, and who held its peak. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

enum {
	FRAMES = 3, /* of a stack, unless all are wanted */
	VIEWS = 2,  /* of a site, likewise */
	VIEWED = 3, /* sites whose stacks are shown, likewise */
};

/* --- a device's sums --- */

static const struct report_column sum_columns[] = {
	{ "", 22 }, { "peak", 12 }, { "at", 14 }, { "at exit", 14 }, { NULL, 0 },
};

static void sum_row(const struct report *report, const char *name, const struct trace_sum *sum)
{
	char number[SHOW_NUMBER];

	if (sum->peak_bytes == TRACE_NONE)
		return;
	report_first_cell(report, &sum_columns[0], name);
	report_cell(report, &sum_columns[1], show_bytes(number, sum->peak_bytes));
	report_cell(report, &sum_columns[2],
		    report_when(report, number, sum->peak_bytes, sum->peak_t));
	report_cell(report, &sum_columns[3], show_bytes(number, sum->exit_bytes));
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
	report_first_cell(report, &sum_columns[0], "cached at that peak");
	report_cell(report, &sum_columns[1], show_bytes(number, reserved - allocated));
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
	report_say(report, text);
}

static void parts_rows(const struct report *report, const char *what,
		       const struct trace_part *parts, size_t count)
{
	const struct report_column columns[] = {
		{ what, 20 },     { "allocated", 12 }, { "reserved", 13 }, { "at exit", 13 },
		{ "allocs", 10 }, { "frees", 10 },     { NULL, 0 },
	};
	size_t shown = report_limit(report, count);
	char number[SHOW_NUMBER];

	if (!count)
		return;
	out_char(report->show.out, '\n');
	report_header(report, columns);
	for (size_t i = 0; i < shown; i++) {
		const struct trace_part *part = &parts[i];

		report_first_cell(report, &columns[0], part->name ? part->name : "?");
		report_cell(report, &columns[1], show_bytes(number, part->allocated.peak_bytes));
		report_cell(report, &columns[2], show_bytes(number, part->reserved.peak_bytes));
		report_cell(report, &columns[3], show_bytes(number, part->reserved.exit_bytes));
		report_cell(report, &columns[4], show_count(number, part->allocations));
		report_cell(report, &columns[5], show_count(number, part->frees));
		out_char(report->show.out, '\n');
	}
	if (shown < count)
		report_more(report, count - shown);
}

/* --- who holds it --- */

/* Stacks that show the same frames are one view of their site. */
struct view {
	uint32_t frames[FRAMES];
	size_t frames_n;
	uint64_t bytes;
};

static void frame_row(const struct report *report, uint32_t frame, const char *bytes)
{
	char text[300];
	char safe[400];

	trace_frame_text(report->trace, frame, text, sizeof(text));
	show_safe(safe, sizeof(safe), text, SHOW_COLUMNS - 24);
	out_text(report->show.out, "  ");
	show_right(&report->show, bytes, 11);
	out_text(report->show.out, "           ");
	show_dim(&report->show, safe);
	out_char(report->show.out, '\n');
}

/* Frames below one another; `bytes` is their part of the site, "" when it is all of it. */
static void frame_rows(const struct report *report, const uint32_t *frames, size_t count,
		       const char *bytes)
{
	for (size_t i = 0; i < count; i++)
		frame_row(report, frames[i], i ? "" : bytes);
}

static int by_bytes(const void *a, const void *b)
{
	const struct view *x = a;
	const struct view *y = b;

	return x->bytes == y->bytes ? 0 : x->bytes > y->bytes ? -1 : 1;
}

/* The views of a site's largest stacks; what they leave out goes to `rest`. */
static size_t find_views(const struct report *report, const struct report_group *group,
			 struct view *views, uint64_t *rest)
{
	size_t count = 0;

	*rest = 0;
	for (size_t i = 0; i < group->shares_n; i++) {
		const struct trace_share *share = &group->shares[i];
		struct view view = { .bytes = share->bytes };
		size_t k = 0;

		view.frames_n = trace_lines(report->trace, share->stack, view.frames, FRAMES);
		while (k < count &&
		       (views[k].frames_n != view.frames_n ||
			memcmp(views[k].frames, view.frames, sizeof(view.frames)) != 0))
			k++;
		if (k < count)
			views[k].bytes += view.bytes;
		else if (count < VIEWS)
			views[count++] = view;
		else
			*rest += view.bytes;
	}
	qsort(views, count, sizeof(*views), by_bytes);
	return count;
}

static void view_rows(const struct report *report, const struct report_group *group,
		      const char *line)
{
	struct view views[VIEWS];
	char number[SHOW_NUMBER];
	char text[120];
	uint64_t rest;
	size_t count = find_views(report, group, views, &rest);

	/* One frame, and the site's name has said it. */
	if (count == 1 && views[0].frames_n == 1 && group->name && !strcmp(group->name, line))
		return;
	for (size_t i = 0; i < count; i++)
		frame_rows(report, views[i].frames, views[i].frames_n,
			   count > 1 ? show_bytes(number, views[i].bytes) : "");
	if (rest) {
		snprintf(text, sizeof(text), "  %11s           by other ways to this site",
			 show_bytes(number, rest));
		show_dim(&report->show, text);
		out_char(report->show.out, '\n');
	}
}

/* All of a stack. Where C code called Python, its frames are not known: the place is marked. */
static void stack_rows(const struct report *report, const struct trace_stack *stack,
		       const char *bytes)
{
	size_t entry = 0;

	for (size_t i = 0; i < stack->frames_n; i++) {
		frame_row(report, stack->frames[i], i ? "" : bytes);
		if (entry == stack->entries_n || stack->entries[entry] != i)
			continue;
		entry++;
		if (i + 1 == stack->frames_n)
			continue;
		out_text(report->show.out, "                        ");
		show_dim(&report->show, "(called by C code)");
		out_char(report->show.out, '\n');
	}
}

static void group_rows(const struct report *report, const struct report_group *group,
		       uint64_t whole, bool viewed)
{
	const struct trace *trace = report->trace;
	char number[SHOW_NUMBER];
	char count[64];
	char name[300];

	report_line_text(trace, group->shares[0].stack, name, sizeof(name));
	snprintf(count, sizeof(count), "%s %s", show_count(number, group->count),
		 group->count == 1 ? "block" : "blocks");
	report_site_row(report, group->name ? group->name : name, group->bytes, whole, count);
	if (!report->options->full && viewed)
		view_rows(report, group, name);
	for (size_t i = 0; report->options->full && i < group->shares_n; i++) {
		const struct trace_stack *stack = &trace->stacks[group->shares[i].stack];

		show_bytes(number, group->shares[i].bytes);
		stack_rows(report, stack, group->shares_n > 1 ? number : "");
	}
}

int report_composition(const struct report *report, const struct trace_peak *peak,
		       const char *others)
{
	struct report_groups groups;
	uint64_t sum = 0;
	uint64_t rest = 0;
	size_t shown;
	int error = report_groups_of(&groups, report->trace, peak);

	if (error)
		return error;
	shown = report_limit(report, groups.count);
	for (size_t i = 0; i < groups.count; i++) {
		sum += groups.list[i].bytes;
		if (i < shown)
			group_rows(report, &groups.list[i], peak->bytes, i < VIEWED);
		else
			rest += groups.list[i].bytes;
	}
	if (shown < groups.count)
		report_rest_row(report, groups.count - shown, rest, peak->bytes);
	if (sum < peak->bytes)
		report_site_row(report, others, peak->bytes - sum, peak->bytes, NULL);
	report_groups_clear(&groups);
	return 0;
}

static int peak_table(const struct report *report, const struct trace_peak *peak, const char *what)
{
	const char *of = report->selection->narrow ? report->selection->what : "";
	bool timed = !report->trace->capture.baseline;
	char bytes[SHOW_NUMBER];
	char when[SHOW_NUMBER];
	char device[40] = "";
	char text[600];

	if (!peak || !peak->bytes)
		return 0;
	if (!report->selection->narrow)
		snprintf(device, sizeof(device), " on device %d", peak->device);
	snprintf(text, sizeof(text), "%s%s%s%s: %s%s%s, by %s", what, device,
		 report->selection->window ? " "
		 : of[0]                   ? " of "
					   : "",
		 of, show_bytes(bytes, peak->bytes), timed ? " at " : "",
		 timed ? show_time(when, peak->t) : "",
		 trace_by_title((enum trace_by)report->trace->by));
	show_heading(&report->show, text);
	report_say_estimated(report);
	return report_composition(report, peak, "[other stacks]");
}

static void device_table(const struct report *report, const struct trace_device *device)
{
	char total[SHOW_NUMBER];
	char used[64] = "used";
	char text[300];

	snprintf(text, sizeof(text), "Device %d: %s, %s", device->device,
		 device->name ? device->name : "unnamed", show_bytes(total, device->total_bytes));
	show_heading(&report->show, text);
	report_header(report, sum_columns);
	sum_row(report, "allocated", &device->allocated);
	sum_row(report, "reserved", &device->reserved);
	if (device->used.source)
		snprintf(used, sizeof(used), "used (%s)", device->used.source);
	sum_row(report, used, &device->used);
	cached_row(report, device);
	counts_row(report, device);
	parts_rows(report, "pool", device->pools, device->pools_n);
	parts_rows(report, "owner", device->owners, device->owners_n);
}

static const struct report_column device_columns[] = {
	{ "device", 8 },   { "allocated", 13 },     { "reserved", 13 }, { "used", 13 },
	{ "at exit", 13 }, { "out of memory", 15 }, { NULL, 0 },
};

/* On the screen all of them, in a line each. */
static void devices_table(const struct report *report)
{
	const struct trace *trace = report->trace;
	char text[SHOW_NUMBER];

	show_heading(&report->show, "Peaks of devices");
	report_header(report, device_columns);
	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		const struct trace_device *device = &trace->summary.devices[i];

		snprintf(text, sizeof(text), "%d", device->device);
		report_first_cell(report, &device_columns[0], text);
		report_cell(report, &device_columns[1],
			    show_bytes(text, device->allocated.peak_bytes));
		report_cell(report, &device_columns[2],
			    show_bytes(text, device->reserved.peak_bytes));
		report_cell(report, &device_columns[3], show_bytes(text, device->used.peak_bytes));
		report_cell(report, &device_columns[4],
			    show_bytes(text, device->allocated.exit_bytes));
		report_cell(report, &device_columns[5], show_count(text, device->ooms));
		out_char(report->show.out, '\n');
	}
}

int report_text_devices(const struct report *report)
{
	if (report->screen && report->options->device == NO_DEVICE &&
	    report->trace->summary.devices_n > 1)
		devices_table(report);
	for (size_t i = 0; i < report->trace->summary.devices_n; i++) {
		if (report_wants(report, report->trace->summary.devices[i].device))
			device_table(report, &report->trace->summary.devices[i]);
	}
	return 0;
}

int report_text_peaks(const struct report *report)
{
	const struct trace *trace = report->trace;
	int error = 0;

	if (report->selection->narrow)
		return trace->peaks_n ? peak_table(report, trace->peaks, "Highest sum") : 0;
	for (size_t i = 0; !error && i < trace->summary.devices_n; i++) {
		int device = trace->summary.devices[i].device;

		if (!report_wants(report, device))
			continue;
		error = peak_table(report, trace_peak(trace, device, NULL, TRACE_ALLOCATED),
				   "Peak of allocated memory");
		if (!error && report->options->full)
			error = peak_table(report, trace_peak(trace, device, NULL, TRACE_RESERVED),
					   "Peak of reserved memory");
	}
	return error;
}
