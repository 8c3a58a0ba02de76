/*
 * What nvidia-smi shows, part by part: why it is more than PyTorch says.
 *
 * The parts are exact and sum to the whole; a pool's are apart from those of the library that
 * reserved its segments, so nothing is told twice.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "render/report/report_parts.h"

struct used_part {
	const char *what; /* as in the report for programs */
	const char *name; /* NULL for the one that there is of it */
	int64_t bytes;
};

struct parts {
	struct used_part *list;
	size_t count;
};

static void add_part(struct parts *parts, const char *what, const char *name, int64_t bytes)
{
	if (bytes)
		parts->list[parts->count++] = (struct used_part){ what, name, bytes };
}

static int compare_parts(const void *a, const void *b)
{
	const struct used_part *x = a;
	const struct used_part *y = b;

	return x->bytes == y->bytes ? 0 : x->bytes > y->bytes ? -1 : 1;
}

static void add_pools(struct parts *parts, const struct trace_device *device, uint64_t *left)
{
	for (size_t i = 0; i < device->pools_n; i++) {
		const struct trace_at_used *then = &device->pools[i].at_used_peak;

		add_part(parts, "allocated", device->pools[i].name, (int64_t)then->allocated_bytes);
		add_part(parts, "cached", device->pools[i].name,
			 (int64_t)(then->reserved_bytes - then->allocated_bytes));
		*left -= then->reserved_bytes;
	}
}

static void add_owners(struct parts *parts, const struct trace_device *device, uint64_t *left)
{
	size_t first = parts->count;

	/* What an owner has allocated is outside of pools; their segments are only reserved. */
	for (size_t i = 0; i < device->owners_n; i++) {
		uint64_t bytes = device->owners[i].at_used_peak.allocated_bytes;

		add_part(parts, "owner", device->owners[i].name, (int64_t)bytes);
		*left -= bytes;
	}
	qsort(parts->list + first, parts->count - first, sizeof(*parts->list), compare_parts);
}

static void add_names(struct parts *parts, const struct trace_device *device)
{
	size_t first = parts->count;

	for (size_t i = 0; i < device->named_n; i++)
		add_part(parts, "named", device->named[i].name,
			 device->named[i].at_used_peak_bytes);
	qsort(parts->list + first, parts->count - first, sizeof(*parts->list), compare_parts);
}

/* 0 or -ENOMEM. */
static int find_parts(const struct report *report, struct parts *parts,
		      const struct trace_device *device)
{
	const struct trace_explained *then = &device->used.at_peak;
	uint64_t left = then->reserved_bytes;

	*parts = (struct parts){ .list = NULL };
	parts->list =
		report_room(report, (2 * device->pools_n + device->owners_n + device->named_n + 3) *
					    sizeof(*parts->list));
	if (!parts->list)
		return -ENOMEM;
	add_pools(parts, device, &left);
	add_owners(parts, device, &left);
	add_part(parts, "others", NULL, (int64_t)left);
	add_part(parts, "rounding", NULL, then->rounding_bytes);
	add_names(parts, device);
	add_part(parts, "residual", NULL, then->residual_bytes);
	return 0;
}

static bool is_told(const struct report *report, const struct trace_device *device)
{
	return report_wants(report, device->device) && device->used.peak_bytes != TRACE_NONE &&
	       device->used.at_peak.reserved_bytes != TRACE_NONE;
}

/* --- for people --- */

static const struct {
	const char *what, *before;
	const char *alone; /* without a name */
} words[] = {
	{ "allocated", "allocated in pool ", NULL },
	{ "cached", "cached in pool ", NULL },
	{ "owner", "allocated by ", NULL },
	{ "others", "", "other allocations" },
	{ "rounding", "", "rounding to granules of 2 MiB" },
	{ "named", "", NULL },
	{ "residual", "", "residual: nothing explains it" },
};

static void part_row(const struct report *report, const struct used_part *part, uint64_t whole)
{
	char text[300] = "?";

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(words[i].what, part->what))
			snprintf(text, sizeof(text), "%s%.200s", words[i].before,
				 part->name       ? part->name
				 : words[i].alone ? words[i].alone
						  : "?");
	}
	if (part->bytes >= 0) {
		report_site_row(report, text, (uint64_t)part->bytes, whole, NULL);
		return;
	}
	/* Less is occupied than is known of. */
	out_text(report->show.out, " -");
	show_right(&report->show, SAY_BYTES(0 - (uint64_t)part->bytes), 11);
	out_text(report->show.out, "           ");
	report_say(report, SAID_LINE, "%s", text);
}

/* Names beyond the limit are one row: a program may load many libraries. */
static void part_rows(const struct report *report, const struct parts *parts, uint64_t whole)
{
	size_t limit = report_limit(report, parts->count);
	size_t names = 0;
	uint64_t rest = 0;
	char text[64];

	for (size_t i = 0; i < parts->count; i++) {
		const struct used_part *part = &parts->list[i];
		bool named = !strcmp(part->what, "named") && part->bytes > 0;

		if (named && ++names > limit)
			rest += (uint64_t)part->bytes;
		else
			part_row(report, part, whole);
	}
	if (names > limit) {
		snprintf(text, sizeof(text), "... and %zu more", names - limit);
		report_site_row(report, text, rest, whole, NULL);
	}
}

static void device_table(const struct report *report, const struct trace_device *device,
			 const struct parts *parts)
{
	const struct trace_sum *used = &device->used;
	bool own = used->source && !strcmp(used->source, "nvml");

	report_say(report, SAID_HEADING, "%s of device %d: %s at most, at %s",
		   own ? "What nvidia-smi shows" : "What all processes occupy", device->device,
		   SAY_BYTES(used->peak_bytes), SAY_TIME(used->peak_t));
	part_rows(report, parts, used->peak_bytes);
}

/* --- for programs --- */

static const struct emit_column part_members[] = {
	EMIT_MEMBER("what", TEXT, struct used_part, what),
	EMIT_MEMBER("name", TEXT, struct used_part, name),
	EMIT_MEMBER("bytes", CHANGE, struct used_part, bytes),
	EMIT_END,
};

struct used_then {
	int device;
	struct trace_sum of;
	struct emit_rows parts;
};

static const struct emit_column used_members[] = {
	EMIT_MEMBER("device", INTEGER, struct used_then, device),
	EMIT_MEMBER("t", TIME, struct used_then, of.peak_t),
	EMIT_MEMBER("bytes", BYTES, struct used_then, of.peak_bytes),
	EMIT_MEMBER("source", TEXT, struct used_then, of.source),
	EMIT_MEMBER("residual_min_bytes", CHANGE, struct used_then, of.residual_min_bytes),
	EMIT_MEMBER("residual_max_bytes", CHANGE, struct used_then, of.residual_max_bytes),
	EMIT_LIST("\n parts", "\n  ", struct used_then, parts, part_members),
	EMIT_END,
};

int report_tell_used(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct used_then *list =
		report_room(report, (trace->summary.devices_n + 1) * sizeof(*list));
	struct emit_rows rows = EMIT_ROWS_OF(list, 0);
	int error = list ? 0 : -ENOMEM;

	for (size_t i = 0; !error && i < trace->summary.devices_n; i++) {
		const struct trace_device *device = &trace->summary.devices[i];
		struct parts parts;

		if (!is_told(report, device))
			continue;
		error = find_parts(report, &parts, device);
		if (!report->json && !error)
			device_table(report, device, &parts);
		list[rows.count++] = (struct used_then){ device->device, device->used,
							 EMIT_ROWS_OF(parts.list, parts.count) };
	}
	if (!error && report->json)
		report_list(report, "\nused", "\n", used_members, &rows);
	return error;
}
