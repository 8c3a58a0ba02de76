/*
 * The section that splits the memory that nvidia-smi shows into parts, and so explains why it is
 * more than PyTorch reports.
 *
 * The parts sum to the total exactly. Bytes of a pool are not counted again as bytes of the library
 * that allocated the pool's segments.
 */
#include <string.h>

#include "render/report/report_parts.h"

struct used_part {
	const char *what, *text; /* the part's kind in JSON, and its name in the text */
	const char *name;        /* name of the pool, library or kind; NULL if there is none */
	struct emit_part part;   /* the bytes, an int64_t stored as uint64_t, may be negative */
	uint64_t order;          /* key for sorting: the bytes plus 2^63 */
};

static const struct emit_column part_members[] = {
	EMIT_FIELD(TEXT, struct used_part, what),
	EMIT_FIELD(TEXT, struct used_part, name),
	EMIT_MEMBER("bytes", CHANGE, struct used_part, part),
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
			   &(struct used_part){ what,
						text,
						name,
						{ .bytes = (uint64_t)bytes },
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

	foreach (pool, device->pools) {
		const struct trace_at_used *at = &pool->at_used_peak;

		add_named(report, &parts, "allocated", "allocated in pool ", pool->name,
			  (int64_t)at->allocated_bytes);
		add_named(report, &parts, "cached", "cached in pool ", pool->name,
			  (int64_t)(at->reserved_bytes - at->allocated_bytes));
		left -= at->reserved_bytes;
	}
	/* Segments are counted in their pools, so not again for the library that allocated them. */
	first = parts.count;
	foreach (owner, device->owners) {
		uint64_t bytes = owner->at_used_peak.allocated_bytes;

		add_named(report, &parts, "owner", "allocated by ", owner->name, (int64_t)bytes);
		left -= bytes;
	}
	sort_from(&parts, first);
	add_part(report, &parts, "others", "other allocations", NULL, (int64_t)left);
	add_part(report, &parts, "rounding", "rounding up to multiples of 2 MiB", NULL,
		 then->rounding_bytes);
	first = parts.count;
	foreach (named, device->named)
		add_named(report, &parts, "named", "", named->name, named->at_used_peak_bytes);
	sort_from(&parts, first);
	add_part(report, &parts, "residual", "residual (not explained)", NULL,
		 then->residual_bytes);
	foreach (part, ROWS_IN(struct used_part, parts))
		part->part.of = device->used.peak_bytes;
	return parts;
}

static const char *show_part_share(char *to, const void *row)
{
	const struct emit_part *part = &((const struct used_part *)row)->part;

	return (int64_t)part->bytes < 0 ? "" : show_share(to, part->bytes, part->of);
}

static const struct emit_column part_cells[] = {
	EMIT_CELL("", 11, AMOUNT, struct used_part, part),
	EMIT_SHOWN("", 8, SHARE, struct used_part, part, show_part_share),
	EMIT_CELL("", 0, TEXT, struct used_part, text, .gap = 3),
	EMIT_END,
};

/* Writes parts from position `from` on, as long as their kind is "named" or, if `named` is false,
 * is not "named". Returns the position of the next part. */
static size_t put_parts(const struct report *report, const struct emit_rows *parts, size_t from,
			bool named)
{
	const struct used_part *list = parts->rows;
	size_t to = from;
	struct emit_rows rows;

	while (to < parts->count && !strcmp(list[to].what, "named") == named)
		to++;
	rows = EMIT_SOME_OF(list + from, to - from, named ? report_limit(report) : SIZE_MAX);
	report_put(report, (struct emit_table){ .columns = part_cells,
						.rows = &rows,
						.headless = true,
						.summed = true });
	return to;
}

static void device_table(const struct report *report, const struct trace_device *device,
			 const struct emit_rows *parts)
{
	const struct trace_sum *used = &device->used;
	bool own = used->source && !strcmp(used->source, "nvml");

	report_say(report, SAID_HEADING, "%s device %d: peak %s, at %s",
		   own ? "What nvidia-smi shows for" : "What all processes occupy on",
		   device->device, SAY_BYTES(used->peak_bytes), SAY_TIME(used->peak_t));
	/* Only named parts have a limit, because a program may load many libraries. */
	for (size_t i = 0; i < parts->count;)
		i = put_parts(report, parts, put_parts(report, parts, i, false), true);
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
	EMIT_OF(TEXT, struct used_then, source),
	EMIT_OF(CHANGE, struct used_then, residual_min_bytes),
	EMIT_OF(CHANGE, struct used_then, residual_max_bytes),
	EMIT_LIST("\n parts", "\n  ", struct used_then, parts, part_members),
	EMIT_END,
};

void report_tell_used(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct emit_rows rows = EMIT_NONE_OF(struct used_then, SIZE_MAX);

	foreach (device, trace->summary.devices) {
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
