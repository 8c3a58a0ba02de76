/* Devices: their sums, pools and owners. */
#include <stdio.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"

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
	char text[100];

	if (cached == TRACE_NONE || !cached)
		return;
	snprintf(text, sizeof(text), "(%s of what was reserved)",
		 SAY_SHARE(cached, cached + device->allocated.peak_bytes));
	row.note = text;
	emit_row(&report->show, cached_cells, &row, 2);
}

static void add_count(char *to, size_t size, uint64_t count, const char *one, const char *many)
{
	if (to[0])
		text_append(to, size, ", ");
	text_append(to, size, SAY_COUNT(count));
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
	report_say(report, SAID_LINE, "%s", text);
}

/* --- pools and owners --- */

struct device_part {
	int device;
	struct trace_part of;
};

/* Of a pool, or an owner: `key` says which. */
#define PART_COLUMNS(key)                                                                       \
	{                                                                                       \
		EMIT_MEMBER("device", INTEGER, struct device_part, device),                     \
			EMIT_COLUMN(key, key, -20, TEXT, struct device_part, of.name),          \
			EMIT_NESTED("allocated", KNOWN, struct device_part, of.allocated,       \
				    report_sum_members),                                        \
			EMIT_NESTED("reserved", KNOWN, struct device_part, of.reserved,         \
				    report_sum_members),                                        \
			EMIT_CELL("allocated", 12, BYTES, struct device_part,                   \
				  of.allocated.peak_bytes),                                     \
			EMIT_CELL("reserved", 13, BYTES, struct device_part,                    \
				  of.reserved.peak_bytes),                                      \
			EMIT_CELL("at exit", 13, BYTES, struct device_part,                     \
				  of.reserved.exit_bytes),                                      \
			EMIT_COLUMN("allocations", "allocs", 10, COUNT, struct device_part,     \
				    of.allocations),                                            \
			EMIT_COLUMN("frees", "frees", 10, COUNT, struct device_part, of.frees), \
			EMIT_END,                                                               \
	}

static const struct emit_column pool_columns[] = PART_COLUMNS("pool");
static const struct emit_column owner_columns[] = PART_COLUMNS("owner");

/* Pools of these devices in one list, or owners. */
static int tell_parts(const struct report *report, const struct trace_device *devices,
		      size_t devices_n, bool pools)
{
	const struct emit_column *columns = pools ? pool_columns : owner_columns;
	struct emit_rows rows = { .size = sizeof(struct device_part) };
	struct device_part *list;
	size_t most = 0;

	for (size_t i = 0; i < devices_n; i++)
		most += pools ? devices[i].pools_n : devices[i].owners_n;
	list = report_room(report, (most + 1) * sizeof(*list));
	if (!list)
		return err("no memory left");
	for (size_t i = 0; i < devices_n; i++) {
		const struct trace_part *parts = pools ? devices[i].pools : devices[i].owners;
		size_t count = pools ? devices[i].pools_n : devices[i].owners_n;

		for (size_t k = 0; report_wants(report, devices[i].device) && k < count; k++)
			list[rows.count++] = (struct device_part){ devices[i].device, parts[k] };
	}
	rows.rows = list;
	rows.shown = report->json ? SIZE_MAX : report_limit(report, rows.count);
	if (!report->json && rows.count)
		out_char(report->show.out, '\n');
	return report_tell_rows(report, pools ? "\npools" : "\nowners", columns, rows, NULL);
}

/* --- devices --- */

static int device_table(const struct report *report, const struct trace_device *device)
{
	struct sum_row list[3];
	struct emit_rows rows = EMIT_ROWS_OF(list, 0);
	char used[64] = "used";
	char text[300];
	int error;

	snprintf(text, sizeof(text), "Device %d: %s, %s", device->device,
		 device->name ? device->name : "unnamed", SAY_BYTES(device->total_bytes));
	if (device->used.source)
		snprintf(used, sizeof(used), "used (%s)", device->used.source);
	add_sum(report, list, &rows.count, "allocated", &device->allocated);
	add_sum(report, list, &rows.count, "reserved", &device->reserved);
	add_sum(report, list, &rows.count, used, &device->used);
	report_table(report, sum_cells, &rows, text);
	cached_row(report, device);
	counts_row(report, device);
	error = tell_parts(report, device, 1, true);
	return error ? error : tell_parts(report, device, 1, false);
}

struct device_sums {
	struct trace_device of;
	uint64_t cached;
};

static const struct emit_column device_columns[] = {
	EMIT_COLUMN("device", "device", -8, INTEGER, struct device_sums, of.device),
	EMIT_MEMBER("name", TEXT, struct device_sums, of.name),
	EMIT_MEMBER("total_bytes", BYTES, struct device_sums, of.total_bytes),
	EMIT_NESTED("allocated", KNOWN, struct device_sums, of.allocated, report_sum_members),
	EMIT_NESTED("reserved", KNOWN, struct device_sums, of.reserved, report_sum_members),
	EMIT_NESTED("used", KNOWN, struct device_sums, of.used, report_sum_members),
	EMIT_CELL("allocated", 13, BYTES, struct device_sums, of.allocated.peak_bytes),
	EMIT_CELL("reserved", 13, BYTES, struct device_sums, of.reserved.peak_bytes),
	EMIT_CELL("used", 13, BYTES, struct device_sums, of.used.peak_bytes),
	EMIT_CELL("at exit", 13, BYTES, struct device_sums, of.allocated.exit_bytes),
	EMIT_MEMBER("cached_at_peak_bytes", BYTES, struct device_sums, cached),
	EMIT_MEMBER("allocations", COUNT, struct device_sums, of.allocations),
	EMIT_MEMBER("frees", COUNT, struct device_sums, of.frees),
	EMIT_COLUMN("ooms", "out of memory", 15, COUNT, struct device_sums, of.ooms),
	EMIT_MEMBER("retries", COUNT, struct device_sums, of.retries),
	EMIT_END,
};

/* The document has those that are wanted; a screen all of them, in a line each. */
static int tell_devices(const struct report *report)
{
	const struct trace_summary *summary = &report->trace->summary;
	struct device_sums *list = report_room(report, (summary->devices_n + 1) * sizeof(*list));
	size_t count = 0;

	if (!list)
		return err("no memory left");
	for (size_t i = 0; i < summary->devices_n; i++) {
		const struct trace_device *device = &summary->devices[i];

		if (!report->json || report_wants(report, device->device))
			list[count++] =
				(struct device_sums){ *device, cached_at_peak(report, device) };
	}
	return report_tell_rows(report, "\ndevices", device_columns, EMIT_ROWS_OF(list, count),
				"Peaks of devices");
}

int report_tell_devices(const struct report *report)
{
	const struct trace_device *devices = report->trace->summary.devices;
	size_t count = report->trace->summary.devices_n;
	int error = 0;

	if (report->json ||
	    (report->screen && report->options->select.device == NO_DEVICE && count > 1))
		error = tell_devices(report);
	if (!error && report->json)
		error = tell_parts(report, devices, count, true);
	if (!error && report->json)
		error = tell_parts(report, devices, count, false);
	for (size_t i = 0; !report->json && !error && i < count; i++) {
		if (report_wants(report, devices[i].device))
			error = device_table(report, &devices[i]);
	}
	return error;
}
