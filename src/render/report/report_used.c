/*
 * The memory that nvidia-smi shows, part by part: the reasons why it is more than PyTorch reports.
 *
 * The parts are exact and sum to the whole. A pool's bytes are not counted again for the library
 * that reserved its segments.
 */
#include <string.h>

#include "render/report/report_parts.h"

struct used_part {
	const char *what, *text; /* for programs, for people */
	const char *name;        /* NULL where there is only one such part */
	int64_t bytes;
	uint64_t order; /* rises with the bytes, which may be negative */
};

static const struct emit_column part_members[] = {
	EMIT_FIELD(TEXT, struct used_part, what),
	EMIT_FIELD(TEXT, struct used_part, name),
	EMIT_FIELD(CHANGE, struct used_part, bytes),
	EMIT_END,
};

static const struct sort_key part_order[] = {
	SORT_DOWN(struct used_part, order),
	{ 0 },
};

static void add_part(const struct report *report, struct emit_rows *parts, const char *what,
		     const char *text, const char *name, int64_t bytes)
{
	if (bytes)
		report_add(report, parts,
			   &(struct used_part){ what, text, name, bytes,
						(uint64_t)bytes + (1ull << 63) });
}

static void add_named(const struct report *report, struct emit_rows *parts, const char *what,
		      const char *before, const char *name, int64_t bytes)
{
	add_part(report, parts, what, report_format(report, "%s%.200s", before, name ? name : "?"),
		 name, bytes);
}

static void sort_from(const struct emit_rows *parts, size_t first)
{
	const struct used_part *list = parts->rows;

	if (first < parts->count)
		emit_sort(&EMIT_ROWS_OF(list + first, parts->count - first), part_order);
}

static struct emit_rows find_parts(const struct report *report, const struct trace_device *device)
{
	const struct trace_explained *then = &device->used.at_peak;
	struct emit_rows parts = EMIT_NONE_OF(struct used_part, SIZE_MAX);
	uint64_t left = then->reserved_bytes;
	size_t first;

	for (size_t i = 0; i < device->pools_n; i++) {
		const struct trace_part *pool = &device->pools[i];
		const struct trace_at_used *at = &pool->at_used_peak;

		add_named(report, &parts, "allocated", "allocated in pool ", pool->name,
			  (int64_t)at->allocated_bytes);
		add_named(report, &parts, "cached", "cached in pool ", pool->name,
			  (int64_t)(at->reserved_bytes - at->allocated_bytes));
		left -= at->reserved_bytes;
	}
	/* An owner's allocations lie outside of pools: it only reserves the segments of pools. */
	first = parts.count;
	for (size_t i = 0; i < device->owners_n; i++) {
		uint64_t bytes = device->owners[i].at_used_peak.allocated_bytes;

		add_named(report, &parts, "owner", "allocated by ", device->owners[i].name,
			  (int64_t)bytes);
		left -= bytes;
	}
	sort_from(&parts, first);
	add_part(report, &parts, "others", "other allocations", NULL, (int64_t)left);
	add_part(report, &parts, "rounding", "rounding to granules of 2 MiB", NULL,
		 then->rounding_bytes);
	first = parts.count;
	for (size_t i = 0; i < device->named_n; i++)
		add_named(report, &parts, "named", "", device->named[i].name,
			  device->named[i].at_used_peak_bytes);
	sort_from(&parts, first);
	add_part(report, &parts, "residual", "residual: nothing explains it", NULL,
		 then->residual_bytes);
	return parts;
}

/* Named parts beyond the limit share one row, for a program may load many libraries. */
static void part_rows(const struct report *report, const struct emit_rows *parts, uint64_t whole)
{
	const struct used_part *list = parts->rows;
	size_t limit = report_limit(report);
	size_t names = 0;
	uint64_t rest = 0;

	for (size_t i = 0; i < parts->count; i++) {
		uint64_t bytes = (uint64_t)list[i].bytes;

		if (list[i].bytes < 0) /* less is occupied than memtrace knows of */
			report_say(report, SAID_LINE, " -%11s           %s", SAY_BYTES(0 - bytes),
				   list[i].text);
		else if (!strcmp(list[i].what, "named") && ++names > limit)
			rest += bytes;
		else
			report_site_row(report, list[i].text, bytes, whole);
	}
	if (names > limit)
		report_site_row(report, report_format(report, "... and %zu more", names - limit),
				rest, whole);
}

static void device_table(const struct report *report, const struct trace_device *device,
			 const struct emit_rows *parts)
{
	const struct trace_sum *used = &device->used;
	bool own = used->source && !strcmp(used->source, "nvml");

	report_say(report, SAID_HEADING, "%s of device %d: %s at most, at %s",
		   own ? "What nvidia-smi shows" : "What all processes occupy", device->device,
		   SAY_BYTES(used->peak_bytes), SAY_TIME(used->peak_t));
	part_rows(report, parts, used->peak_bytes);
}

struct used_then {
	int device;
	struct trace_sum of;
	struct emit_rows parts;
};

static const struct emit_column used_members[] = {
	EMIT_FIELD(INTEGER, struct used_then, device),
	EMIT_MEMBER("t", TIME, struct used_then, of.peak_t),
	EMIT_MEMBER("bytes", BYTES, struct used_then, of.peak_bytes),
	EMIT_MEMBER("source", TEXT, struct used_then, of.source),
	EMIT_MEMBER("residual_min_bytes", CHANGE, struct used_then, of.residual_min_bytes),
	EMIT_MEMBER("residual_max_bytes", CHANGE, struct used_then, of.residual_max_bytes),
	EMIT_LIST("\n parts", "\n  ", struct used_then, parts, part_members),
	EMIT_END,
};

void report_tell_used(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct emit_rows rows = EMIT_NONE_OF(struct used_then, SIZE_MAX);

	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		const struct trace_device *device = &trace->summary.devices[i];
		struct used_then then = { .device = device->device, .of = device->used };

		if (!report_wants(report, then.device) || then.of.peak_bytes == TRACE_NONE ||
		    then.of.at_peak.reserved_bytes == TRACE_NONE)
			continue;
		then.parts = find_parts(report, device);
		device_table(report, device, &then.parts);
		report_add(report, &rows, &then);
	}
	report_list(report, "\nused", used_members, &rows);
}
