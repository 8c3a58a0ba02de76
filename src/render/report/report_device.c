/* The report for people: one device, its sums, pools and owners, and who held its peak. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
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

/* A row of a device's sums, or of what was cached. */
struct sum_row {
	const char *name, *note;
	uint64_t peak, at, exit;
};

static const struct emit_column sum_cells[] = {
	EMIT_CELL("", -22, TEXT, struct sum_row, name),
	EMIT_CELL("peak", 12, BYTES, struct sum_row, peak),
	EMIT_CELL("at", 14, TIME, struct sum_row, at),
	EMIT_CELL("at exit", 14, BYTES, struct sum_row, exit),
	EMIT_END,
};

static const struct emit_column cached_cells[] = {
	EMIT_CELL("", -22, TEXT, struct sum_row, name),
	EMIT_CELL("", 12, BYTES, struct sum_row, peak),
	{ EMIT_KEYED(NULL, TEXT, struct sum_row, note), .heading = "", .gap = 2,
	  .flags = EMIT_DIM },
	EMIT_END,
};

static void add_sum(const struct report *report, struct sum_row *rows, size_t *count,
		    const char *name, const struct trace_sum *sum)
{
	if (sum->peak_bytes != TRACE_NONE)
		rows[(*count)++] = (struct sum_row){
			name,
			NULL,
			sum->peak_bytes,
			report_when(report, sum->peak_bytes, sum->peak_t),
			sum->exit_bytes,
		};
}

/* What lay unused when allocated was at its peak; TRACE_NONE when it is not known. */
static uint64_t cached_at_peak(const struct report *report, const struct trace_device *device)
{
	uint64_t reserved = report_reserved_at_peak(report->trace, device);
	uint64_t allocated = device->allocated.peak_bytes;

	return reserved == TRACE_NONE || allocated == TRACE_NONE || reserved < allocated
		       ? TRACE_NONE
		       : reserved - allocated;
}

static void cached_row(const struct report *report, const struct trace_device *device)
{
	uint64_t cached = cached_at_peak(report, device);
	struct sum_row row = { .name = "cached at that peak", .peak = cached };
	char share[SHOW_NUMBER];
	char text[100];

	if (cached == TRACE_NONE || !cached)
		return;
	snprintf(text, sizeof(text), "(%s of what was reserved)",
		 show_share(share, cached, cached + device->allocated.peak_bytes));
	row.note = text;
	emit_row(&report->show, cached_cells, &row, 2);
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
	const struct emit_column part_cells[] = {
		EMIT_CELL(what, -20, TEXT, struct trace_part, name),
		EMIT_CELL("allocated", 12, BYTES, struct trace_part, allocated.peak_bytes),
		EMIT_CELL("reserved", 13, BYTES, struct trace_part, reserved.peak_bytes),
		EMIT_CELL("at exit", 13, BYTES, struct trace_part, reserved.exit_bytes),
		EMIT_CELL("allocs", 10, COUNT, struct trace_part, allocations),
		EMIT_CELL("frees", 10, COUNT, struct trace_part, frees),
		EMIT_END,
	};
	const struct emit_rows rows = report_rows(report, parts, count);

	if (!count)
		return;
	out_char(report->show.out, '\n');
	report_table(report, part_cells, &rows, NULL);
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

struct held {
	struct report_site row;
	const struct report_group *group;
	size_t number;
};

/* The stacks of a site: all of them in full, the views of the first few sites else. */
static void held_below(const struct show *show, const void *row, const void *with)
{
	const struct held *held = row;
	const struct report *report = with;
	const struct report_group *group = held->group;
	char number[SHOW_NUMBER];
	char name[300];

	(void)show;
	if (!report->options->full && held->number < VIEWED) {
		report_line_text(report->trace, group->shares[0].stack, name, sizeof(name));
		view_rows(report, group, name);
	}
	for (size_t i = 0; report->options->full && i < group->shares_n; i++) {
		const struct trace_stack *stack = &report->trace->stacks[group->shares[i].stack];

		show_bytes(number, group->shares[i].bytes);
		stack_rows(report, stack, group->shares_n > 1 ? number : "");
	}
}

static struct report_site site_of(const struct report *report, const struct report_group *group,
				  uint64_t whole)
{
	char number[SHOW_NUMBER];
	char count[64];

	text_join(count, sizeof(count), show_count(number, group->count),
		  group->count == 1 ? " block" : " blocks");
	return (struct report_site){
		{ group->bytes, whole },
		group->name ? group->name : report_line(report, group->shares[0].stack),
		report_text_kept(report, count),
	};
}

int report_composition(const struct report *report, const struct trace_peak *peak,
		       const char *others)
{
	struct report_groups groups;
	struct emit_rows rows;
	struct held *list;
	uint64_t sum = 0;
	int error = report_groups_of(&groups, report->trace, peak);

	if (error)
		return error;
	list = report_room(report, (groups.count + 1) * sizeof(*list));
	for (size_t i = 0; list && i < groups.count; i++) {
		sum += groups.list[i].bytes;
		list[i] = (struct held){ site_of(report, &groups.list[i], peak->bytes),
					 &groups.list[i], i };
	}
	rows = report_rows(report, list, list ? groups.count : 0);
	emit_table(&report->show, &(struct emit_table){ .columns = report_site_cells,
							.rows = &rows,
							.headless = true,
							.summed = true,
							.indent = 2,
							.below = held_below,
							.with = report });
	if (list && sum < peak->bytes)
		report_site_row(report, others, peak->bytes - sum, peak->bytes, NULL);
	report_groups_clear(&groups);
	return list ? 0 : err("no memory left");
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
	struct sum_row list[3];
	struct emit_rows rows = EMIT_ROWS_OF(list, 0);
	char total[SHOW_NUMBER];
	char used[64] = "used";
	char text[300];

	snprintf(text, sizeof(text), "Device %d: %s, %s", device->device,
		 device->name ? device->name : "unnamed", show_bytes(total, device->total_bytes));
	if (device->used.source)
		snprintf(used, sizeof(used), "used (%s)", device->used.source);
	add_sum(report, list, &rows.count, "allocated", &device->allocated);
	add_sum(report, list, &rows.count, "reserved", &device->reserved);
	add_sum(report, list, &rows.count, used, &device->used);
	rows.shown = rows.count;
	report_table(report, sum_cells, &rows, text);
	cached_row(report, device);
	counts_row(report, device);
	parts_rows(report, "pool", device->pools, device->pools_n);
	parts_rows(report, "owner", device->owners, device->owners_n);
}

static const struct emit_column device_cells[] = {
	EMIT_CELL("device", -8, DEVICE, struct trace_device, device),
	EMIT_CELL("allocated", 13, BYTES, struct trace_device, allocated.peak_bytes),
	EMIT_CELL("reserved", 13, BYTES, struct trace_device, reserved.peak_bytes),
	EMIT_CELL("used", 13, BYTES, struct trace_device, used.peak_bytes),
	EMIT_CELL("at exit", 13, BYTES, struct trace_device, allocated.exit_bytes),
	EMIT_CELL("out of memory", 15, COUNT, struct trace_device, ooms),
	EMIT_END,
};

/* On the screen all of them, in a line each. */
static void devices_table(const struct report *report)
{
	const struct emit_rows rows =
		EMIT_ROWS_OF(report->trace->summary.devices, report->trace->summary.devices_n);

	report_table(report, device_cells, &rows, "Peaks of devices");
}

int report_text_devices(const struct report *report)
{
	if (report->screen && report->options->select.device == NO_DEVICE &&
	    report->trace->summary.devices_n > 1)
		devices_table(report);
	for (size_t i = 0; i < report->trace->summary.devices_n; i++) {
		if (report_wants(report, report->trace->summary.devices[i].device))
			device_table(report, &report->trace->summary.devices[i]);
	}
	return 0;
}

/* --- for programs --- */

struct device_sums {
	struct trace_device of;
	uint64_t cached;
};

static const struct emit_column device_members[] = {
	EMIT_MEMBER("device", INTEGER, struct device_sums, of.device),
	EMIT_MEMBER("name", TEXT, struct device_sums, of.name),
	EMIT_MEMBER("total_bytes", BYTES, struct device_sums, of.total_bytes),
	EMIT_NESTED("allocated", KNOWN, struct device_sums, of.allocated, report_sum_members),
	EMIT_NESTED("reserved", KNOWN, struct device_sums, of.reserved, report_sum_members),
	EMIT_NESTED("used", KNOWN, struct device_sums, of.used, report_sum_members),
	EMIT_MEMBER("cached_at_peak_bytes", BYTES, struct device_sums, cached),
	EMIT_MEMBER("allocations", COUNT, struct device_sums, of.allocations),
	EMIT_MEMBER("frees", COUNT, struct device_sums, of.frees),
	EMIT_MEMBER("ooms", COUNT, struct device_sums, of.ooms),
	EMIT_MEMBER("retries", COUNT, struct device_sums, of.retries),
	EMIT_END,
};

struct device_part {
	int device;
	struct trace_part of;
};

/* Of a pool, or an owner: `key` says which. */
#define PART_MEMBERS(key)                                                                      \
	{                                                                                      \
		EMIT_MEMBER("device", INTEGER, struct device_part, device),                    \
			EMIT_MEMBER(key, TEXT, struct device_part, of.name),                   \
			EMIT_NESTED("allocated", KNOWN, struct device_part, of.allocated,      \
				    report_sum_members),                                       \
			EMIT_NESTED("reserved", KNOWN, struct device_part, of.reserved,        \
				    report_sum_members),                                       \
			EMIT_MEMBER("allocations", COUNT, struct device_part, of.allocations), \
			EMIT_MEMBER("frees", COUNT, struct device_part, of.frees), EMIT_END,   \
	}

static const struct emit_column pool_members[] = PART_MEMBERS("pool");
static const struct emit_column owner_members[] = PART_MEMBERS("owner");

/* Pools of all devices in one list, or owners. */
static int parts_json(const struct report *report, const char *key, bool pools)
{
	const struct trace *trace = report->trace;
	struct emit_rows rows = { .size = sizeof(struct device_part) };
	struct device_part *list;
	size_t most = 0;

	for (size_t i = 0; i < trace->summary.devices_n; i++)
		most += pools ? trace->summary.devices[i].pools_n
			      : trace->summary.devices[i].owners_n;
	list = report_room(report, (most + 1) * sizeof(*list));
	if (!list)
		return err("no memory left");
	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		const struct trace_device *device = &trace->summary.devices[i];
		const struct trace_part *parts = pools ? device->pools : device->owners;
		size_t count = pools ? device->pools_n : device->owners_n;

		for (size_t k = 0; report_wants(report, device->device) && k < count; k++)
			list[rows.count++] = (struct device_part){ device->device, parts[k] };
	}
	rows.rows = list;
	rows.shown = rows.count;
	report_list(report, key, "\n", pools ? pool_members : owner_members, &rows);
	return 0;
}

int report_json_devices(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct device_sums *list =
		report_room(report, (trace->summary.devices_n + 1) * sizeof(*list));
	struct emit_rows rows = EMIT_ROWS_OF(list, 0);
	int error;

	if (!list)
		return err("no memory left");
	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		const struct trace_device *device = &trace->summary.devices[i];

		if (report_wants(report, device->device))
			list[rows.count++] =
				(struct device_sums){ *device, cached_at_peak(report, device) };
	}
	rows.shown = rows.count;
	report_list(report, "\ndevices", "\n", device_members, &rows);
	error = parts_json(report, "\npools", true);
	return error ? error : parts_json(report, "\nowners", false);
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
