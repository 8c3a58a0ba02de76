/* Writes a baseline: a trace without the values that differ between runs of the same program. */
#include "render/compare/diff.h"

#include <stdio.h>
#include <string.h>

#include "analyse/compare/metrics.h"
#include "analyse/input/grow.h"
#include "analyse/trace/phase_name.h"
#include "base/mem/sort.h"
#include "base/text/out.h"
#include "render/document/document.h"
#include "render/emit/emit.h"

static void keep_head(struct trace *to, struct run *run)
{
	static const char *notes[] = {
		"a baseline: it has no events, no timeline, no times and no whole stacks"
	};
	const struct trace *from = &run->trace;

	to->schema = from->schema;
	to->process.rank = from->process.rank;
	to->process.world_size = from->process.world_size;
	/* Other words of the command line than the program and its script may be private. */
	to->process.command = need(&run->arena, 2 * sizeof(*to->process.command));
	to->process.command_n = trace_program(from, to->process.command);
	to->process.start_time = "1970-01-01T00:00:00Z";
	to->environment = from->environment;
	foreach (device, to->environment.devices)
		device->uuid = NULL;
	to->capture.baseline = true;
	to->capture.stacks = from->capture.stacks ? from->capture.stacks : "";
	to->capture.truncated = true;
	to->capture.notes = notes;
	to->capture.notes_n = 1;
}

void *baseline_room(struct run *run, enum rows_of of, size_t count)
{
	void *rows = rows_make(&run->arena, of, count);

	NEED(rows);
	return rows;
}

/* --- sums --- */

static void set_sum(struct trace_sum *sum, uint64_t peak, uint64_t exit)
{
	rows_clear(ROWS_sum, sum);
	sum->peak_bytes = peak;
	sum->peak_t = 0;
	sum->exit_bytes = exit;
}

/* Returns the pools or libraries of a device, sorted so that every run has the same order. */
static struct trace_part *keep_parts(struct run *run, enum dimension dimension, int device,
				     size_t *parts_n)
{
	static const struct sort_key by_name[] = { SORT_TEXT(struct trace_part, name), { 0 } };
	struct emit_rows parts = EMIT_NONE_OF(struct trace_part, SIZE_MAX);
	char group[16];

	snprintf(group, sizeof(group), "%d", device);
	foreach (row, run->rows) {
		const int64_t *values = row->values;
		struct trace_part part = { .name = row->name };

		if (row->dimension != dimension || strcmp(row->group, group) != 0)
			continue;
		rows_clear(ROWS_at_used, &part.at_used_peak);
		set_sum(&part.allocated, (uint64_t)values[COLUMN_ALLOCATED],
			(uint64_t)values[COLUMN_EXIT]);
		set_sum(&part.reserved, (uint64_t)values[COLUMN_RESERVED], TRACE_NONE);
		part.allocations = (uint64_t)values[COLUMN_COUNT];
		part.frees = (uint64_t)(values[COLUMN_COUNT] - values[COLUMN_LIVE]);
		emit_add(&run->arena, &parts, &part);
	}
	emit_sort(&parts, by_name);
	*parts_n = parts.count;
	return (struct trace_part *)parts.rows;
}

static void keep_sum(struct trace_sum *sum)
{
	set_sum(sum, sum->peak_bytes, sum->exit_bytes);
}

static void keep_device(struct run *run, struct trace_device *device)
{
	keep_sum(&device->allocated);
	keep_sum(&device->reserved);
	rows_clear(ROWS_sum, &device->used);
	device->named_n = 0;
	device->pools = keep_parts(run, DIMENSION_POOL, device->device, &device->pools_n);
	device->owners = keep_parts(run, DIMENSION_OWNER, device->device, &device->owners_n);
}

/* Keeps categories only if each block has one; otherwise runs cannot be compared by category. */
static void keep_summary(struct trace_summary *summary, struct run *run)
{
	bool categorised = run->categories_from == RUN_BLOCKS;

	*summary = run->trace.summary;
	foreach (device, summary->devices) {
		keep_device(run, device);
		if (!categorised)
			device->categories_n = 0;
	}
	foreach (space, summary->spaces) {
		keep_sum(&space->allocated);
		if (!categorised)
			space->categories_n = 0;
	}
}

/* --- phases --- */

/* If phases have more names than this, names that differ only in numbers become one: "step #". */
enum { PHASE_NAMES = 100 };

/* Phases of one name. A gate can use any metric, so for each metric the highest phase is kept. */
struct kept_phase {
	const char *name;
	const struct trace_phase *highest[METRIC_IDS]; /* indexed by metric */
};

static uint64_t height(const struct trace_phase *phase, enum metric_id metric)
{
	return trace_known(metric_of_phase(phase, metric));
}

static size_t join_phases(struct kept_phase *list, size_t count)
{
	static const struct sort_key by_name[] = { SORT_TEXT(struct kept_phase, name), { 0 } };
	size_t kept = 0;

	sort_rows(list, count, sizeof(*list), by_name);
	foreach (row, list, count) {
		struct kept_phase *to = kept ? &list[kept - 1] : NULL;

		if (!to || strcmp(to->name, row->name) != 0) {
			list[kept++] = *row;
			continue;
		}
		for (enum metric_id metric = 0; metric < METRIC_IDS; metric++) {
			if (height(row->highest[metric], metric) >
			    height(to->highest[metric], metric))
				to->highest[metric] = row->highest[metric];
		}
	}
	return kept;
}

/* True if one of `count` rows that were written is as high in the metric as the phase `highest`,
 * which then needs no row of its own. */
static bool stands_already(const struct trace_phase *written, size_t count,
			   const struct trace_phase *highest, enum metric_id metric)
{
	for (size_t i = 0; i < count; i++) {
		if (height(&written[i], metric) == height(highest, metric))
			return true;
	}
	return false;
}

static struct kept_phase *find_phases(struct run *run, size_t *count)
{
	const struct trace *trace = &run->trace;
	struct kept_phase *list = NEED_ROOM(&run->arena, list, trace->phases_n);

	*count = 0;
	foreach (phase, trace->phases) {
		if (!phase->name)
			continue;
		list[*count].name = phase->name;
		for (enum metric_id metric = 0; metric < METRIC_IDS; metric++)
			list[*count].highest[metric] = phase;
		(*count)++;
	}
	*count = join_phases(list, *count);
	if (*count <= PHASE_NAMES)
		return list;
	foreach (row, list, *count) {
		char family[PHASE_FAMILY];

		phase_family(family, sizeof(family), row->name);
		row->name = need_text(&run->arena, family);
	}
	*count = join_phases(list, *count);
	return list;
}

static void keep_phases(struct trace *to, struct run *run)
{
	size_t count;
	const struct kept_phase *list = find_phases(run, &count);

	to->phases = baseline_room(run, ROWS_phase, METRIC_IDS * count);
	foreach (row, list, count) {
		size_t first = to->phases_n;

		for (enum metric_id metric = 0; metric < METRIC_IDS; metric++) {
			const struct trace_phase *of = row->highest[metric];
			struct trace_phase *phase = &to->phases[to->phases_n];

			if (stands_already(&to->phases[first], to->phases_n - first, of, metric))
				continue;
			phase->name = row->name;
			phase->end = 0;
			phase->allocated = of->allocated;
			phase->reserved = of->reserved;
			to->phases_n++;
		}
	}
}

void baseline_write(struct run *run, struct out *out)
{
	struct trace to = { .path = NULL };

	rows_clear(ROWS_trace, &to);
	keep_head(&to, run);
	keep_summary(&to.summary, run);
	baseline_sites(&to, run);
	keep_phases(&to, run);
	out_char(out, '{');
	document_facts(out, &to, true);
	out_text(out, "\"events\":[\n]}\n");
}
