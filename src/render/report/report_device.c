/* The sections of totals: devices with their pools and libraries, and memory outside of devices. */
#include <string.h>

#include "render/report/report_parts.h"

/* --- sums --- */

static const struct emit_column sum_members[] = {
	EMIT_FIELD(BYTES, struct trace_sum, peak_bytes),
	EMIT_FIELD(TIME, struct trace_sum, peak_t),
	EMIT_FIELD(BYTES, struct trace_sum, exit_bytes),
	EMIT_IF_KNOWN("source", TEXT, struct trace_sum, source),
	EMIT_END,
};

/* A row of a device's table, on allocated, reserved, used or cached bytes; `at`: peak time, ns. */
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
	EMIT_CELL("", 0, TEXT, struct sum_row, note, .gap = 2, .flags = EMIT_DIM),
	EMIT_END,
};

static void add_sum(const struct report *report, struct emit_rows *rows, const char *name,
		    const struct trace_sum *sum)
{
	bool timed = !report->trace->capture.baseline;

	if (sum->peak_bytes != TRACE_NONE)
		report_add(report, rows,
			   &(struct sum_row){
				   name,
				   NULL,
				   sum->peak_bytes,
				   sum->peak_bytes && timed ? sum->peak_t : TRACE_NONE,
				   sum->exit_bytes,
			   });
}

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
	struct sum_row row = { .name = "cached", .peak = cached };

	if (cached == TRACE_NONE || !cached)
		return;
	row.note = report_format(report, "(%s of reserved, at peak of allocated)",
				 SAY_SHARE(cached, cached + device->allocated.peak_bytes));
	emit_row(&report->show, cached_cells, &row, 2);
}

static void counts_row(const struct report *report, const struct trace_device *device)
{
	const char *ooms = "";
	const char *retries = "";

	if (device->ooms)
		ooms = report_format(report, ", %s failed: out of memory", SAY_COUNT(device->ooms));
	if (device->retries)
		retries = report_format(report, ", %s %s", SAY_COUNT(device->retries),
					device->retries == 1 ? "retry" : "retries");
	report_say(report, SAID_LINE, "  %s, %s%s%s", SAY_MANY(device->allocations, "allocation"),
		   SAY_MANY(device->frees, "free"), ooms, retries);
}

/* --- pools and owners --- */

struct device_part {
	int device;
	struct trace_part of;
};

static void tell_parts(const struct report *report, const struct trace_device *devices,
		       size_t devices_n, bool pools)
{
	const char *key = pools ? "pool" : "owner";
	const struct emit_column columns[] = {
		EMIT_FIELD(INTEGER, struct device_part, device),
		EMIT_COLUMN(key, pools ? "pool" : "library", -20, TEXT, struct device_part,
			    of.name),
		EMIT_NESTED("allocated", KNOWN, struct device_part, of.allocated, sum_members),
		EMIT_NESTED("reserved", KNOWN, struct device_part, of.reserved, sum_members),
		EMIT_CELL("allocated", 12, BYTES, struct device_part, of.allocated.peak_bytes),
		EMIT_CELL("reserved", 13, BYTES, struct device_part, of.reserved.peak_bytes),
		EMIT_CELL("at exit", 13, BYTES, struct device_part, of.reserved.exit_bytes),
		EMIT_COLUMN("allocations", "allocs", 10, COUNT, struct device_part, of.allocations),
		EMIT_COLUMN("frees", "frees", 10, COUNT, struct device_part, of.frees),
		EMIT_END,
	};
	struct emit_rows rows =
		EMIT_NONE_OF(struct device_part, report->json ? SIZE_MAX : report_limit(report));

	for (size_t i = 0; i < devices_n; i++) {
		const struct trace_part *parts = pools ? devices[i].pools : devices[i].owners;
		size_t count = pools ? devices[i].pools_n : devices[i].owners_n;

		for (size_t k = 0; report_wants(report, devices[i].device) && k < count; k++)
			report_add(report, &rows,
				   &(struct device_part){ devices[i].device, parts[k] });
	}
	if (rows.count)
		report_say(report, SAID_LINE, "%s", "");
	report_tell_rows(report, pools ? "\npools" : "\nowners", columns, rows, NULL);
}

/* --- devices --- */

static void device_table(const struct report *report, const struct trace_device *device)
{
	struct emit_rows rows = EMIT_NONE_OF(struct sum_row, SIZE_MAX);
	const char *source = device->used.source;

	add_sum(report, &rows, "allocated", &device->allocated);
	add_sum(report, &rows, "reserved", &device->reserved);
	add_sum(report, &rows, source ? report_format(report, "used (%s)", source) : "used",
		&device->used);
	report_table(report, sum_cells, &rows,
		     report_format(report, "Device %d: %s, %s", device->device,
				   device->name ? device->name : "unnamed",
				   SAY_BYTES(device->total_bytes)));
	cached_row(report, device);
	counts_row(report, device);
	tell_parts(report, device, 1, true);
	tell_parts(report, device, 1, false);
}

struct device_sums {
	struct trace_device of;
	uint64_t cached;
};

static const struct emit_column device_columns[] = {
	EMIT_COLUMN("device", "device", -8, INTEGER, struct device_sums, of.device),
	EMIT_OF(TEXT, struct device_sums, name),
	EMIT_OF(BYTES, struct device_sums, total_bytes),
	EMIT_NESTED("allocated", KNOWN, struct device_sums, of.allocated, sum_members),
	EMIT_NESTED("reserved", KNOWN, struct device_sums, of.reserved, sum_members),
	EMIT_NESTED("used", KNOWN, struct device_sums, of.used, sum_members),
	EMIT_CELL("allocated", 13, BYTES, struct device_sums, of.allocated.peak_bytes),
	EMIT_CELL("reserved", 13, BYTES, struct device_sums, of.reserved.peak_bytes),
	EMIT_CELL("used", 13, BYTES, struct device_sums, of.used.peak_bytes),
	EMIT_CELL("at exit", 13, BYTES, struct device_sums, of.allocated.exit_bytes),
	EMIT_MEMBER("cached_at_peak_bytes", BYTES, struct device_sums, cached),
	EMIT_OF(COUNT, struct device_sums, allocations),
	EMIT_OF(COUNT, struct device_sums, frees),
	EMIT_COLUMN("ooms", "out of memory", 15, COUNT, struct device_sums, of.ooms),
	EMIT_OF(COUNT, struct device_sums, retries),
	EMIT_END,
};

/* The JSON report lists the selected devices; the text has a line for every device. */
static void tell_devices(const struct report *report)
{
	const struct trace_summary *summary = &report->trace->summary;
	struct emit_rows rows = EMIT_NONE_OF(struct device_sums, SIZE_MAX);

	foreach (device, summary->devices) {
		if (!report->json || report_wants(report, device->device))
			report_add(
				report, &rows,
				&(struct device_sums){ *device, cached_at_peak(report, device) });
	}
	report_tell_rows(report, "\ndevices", device_columns, rows, "Peaks by device");
}

void report_tell_devices(const struct report *report)
{
	const struct trace_device *devices = report->trace->summary.devices;
	size_t count = report->trace->summary.devices_n;

	if (report->json ||
	    (report->screen && report->options->select.device == NO_DEVICE && count > 1))
		tell_devices(report);
	if (report->json) {
		tell_parts(report, devices, count, true);
		tell_parts(report, devices, count, false);
		return;
	}
	foreach (device, devices, count) {
		if (report_wants(report, device->device))
			device_table(report, device);
	}
}

/* --- memory outside of devices --- */

static const struct emit_column space_columns[] = {
	EMIT_COLUMN("space", "memory kind", -22, TEXT, struct trace_space, space),
	EMIT_NESTED("allocated", KNOWN, struct trace_space, allocated, sum_members),
	EMIT_CELL("peak", 12, BYTES, struct trace_space, allocated.peak_bytes),
	EMIT_CELL("at", 14, TIME, struct trace_space, allocated.peak_t),
	EMIT_CELL("at exit", 14, BYTES, struct trace_space, allocated.exit_bytes),
	EMIT_COLUMN("allocations", "allocs", 11, COUNT, struct trace_space, allocations),
	EMIT_FIELD(COUNT, struct trace_space, frees),
	EMIT_END,
};

/* True if the text shows the memory kind. In the short report its peak must be at least 1% of the
 * highest peak of a device, because many programs page-lock a few bytes of no interest. */
static bool is_beside(const struct report *report, const struct trace_space *space)
{
	const struct trace_device *device = report->screen ? report_worst(report) : NULL;
	uint64_t peak = trace_known(space->allocated.peak_bytes);

	return peak && space->space && strcmp(space->space, "device") != 0 &&
	       (!device || peak >= trace_known(device->allocated.peak_bytes) / 100);
}

void report_tell_spaces(const struct report *report)
{
	const struct trace_summary *summary = &report->trace->summary;
	struct emit_rows rows = EMIT_NONE_OF(struct trace_space, SIZE_MAX);

	for (size_t i = 0; i < summary->spaces_n; i++) {
		struct trace_space space = summary->spaces[i];

		if (!report->json && !is_beside(report, &space))
			continue;
		if (!report->json && report->trace->capture.baseline)
			space.allocated.peak_t = TRACE_NONE;
		report_add(report, &rows, &space);
	}
	report_tell_rows(report, "\nspaces", space_columns, rows, "Host and managed memory");
}
