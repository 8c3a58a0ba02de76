/*
 * Reduces a run to named rows of totals.
 *
 * Sites are always named anew from their frames, as the names in the trace may come from another
 * version of memtrace. If a column of the sites sums to less than the total (as with bytes without
 * a stack), an extra row holds the rest, so that the column adds up exactly.
 */
#include "analyse/compare/run_totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/trace/phase_name.h"
#include "facts/spool_model.h"

static const char device_memory[] = "device";
static const char elsewhere[] = "[no site]";

const struct column_row run_columns[COLUMNS] = {
#define COLUMN(id, key, what, brief, bytes) { key, what, brief, bytes },
#include "analyse/compare/columns.def"
};

const struct dimension_row run_dimensions[DIMENSIONS] = {
#define HAS(column) (1u << COLUMN_##column)
#define DIMENSION(id, key, heading, columns) { key, heading, columns },
#include "analyse/compare/group_by.def"
#undef HAS
};

/* --- rows by their names --- */

const struct run_row *run_find(const struct run *run, enum dimension dimension, const char *group,
			       const char *name)
{
	const uint32_t key[] = { dimension, texts_find(&run->texts, group, strlen(group)),
				 texts_find(&run->texts, name, strlen(name)) };
	uint32_t id = KEYED_FIND(run->row_of, run->rows, key);

	return id ? &run->rows[id - 1] : NULL;
}

struct run_row *run_row(struct run *run, enum dimension dimension, const char *group,
			const char *name)
{
	const uint32_t key[] = {
		dimension,
		texts_enter(&run->texts, &run->arena, group, strlen(group)),
		texts_enter(&run->texts, &run->arena, name, strlen(name)),
	};
	uint32_t id = KEYED_ENTER(run->row_of, run->rows, run->rows_n, run->rows_size, key);
	struct run_row *row;

	NEED(key[1] && key[2] && id);
	row = &run->rows[id - 1];
	if (!row->name) {
		row->lifetime = TRACE_NONE;
		row->name = run->texts.list[key[2] - 1];
		row->group = run->texts.list[key[1] - 1];
	}
	return row;
}

void run_count(int64_t *sum, int64_t more)
{
	*sum += more;
	if (*sum > RUN_MOST)
		*sum = RUN_MOST;
	if (*sum < -RUN_MOST)
		*sum = -RUN_MOST;
}

void run_add(struct run_row *row, enum column column, uint64_t value)
{
	run_count(&row->values[column], run_known(value));
}

/* --- sites --- */

static const char *demangled(struct run *run, const struct trace_frame *frame)
{
	if (!frame->function || strncmp(frame->function, "_Z", 2) != 0)
		return frame->function;
	return symbols_demangle(frame->function, SYMBOLS_LOAD, &run->arena);
}

static void read_frames(struct run *run)
{
	const struct trace *trace = &run->trace;

	run->seen = NEED_ROOM(&run->arena, run->seen, trace->frames_n);
	for (size_t i = 0; i < trace->frames_n; i++) {
		const struct trace_frame *frame = &trace->frames[i];
		bool python = frame->language == TRACE_PYTHON;

		NEED(!site_frame_read(&run->seen[i], python, demangled(run, frame),
				      trace_frame_path(trace, frame), &run->arena));
	}
}

void site_name(char *to, const struct site_frame *all, const uint32_t *frames, size_t count)
{
	struct site_pick pick = site_pick(all, frames, count);

	site_join(to, pick.inner == UINT32_MAX ? NULL : &all[frames[pick.inner]],
		  pick.outer == UINT32_MAX ? NULL : &all[frames[pick.outer]]);
}

void run_site_name(const struct run *run, uint32_t stack, char *to)
{
	const struct trace_stack *frames = &run->trace.stacks[stack];

	site_name(to, run->seen, frames->frames, frames->frames_n);
}

uint32_t site_line(const struct site_frame *all, const uint32_t *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct site_frame *frame = &all[frames[i]];

		if (frame->python && frame->kind == SITE_OWN && !frame->installed && frame->where)
			return (uint32_t)i;
	}
	return UINT32_MAX;
}

/* Records, for a site, the program's own source line in the stack with most bytes so far. */
static void keep_line(const struct run *run, struct run_row *row, uint32_t stack, uint64_t bytes)
{
	const struct trace_stack *frames = &run->trace.stacks[stack];
	const struct trace_frame *frame;
	uint32_t at = site_line(run->seen, frames->frames, frames->frames_n);

	if (at == UINT32_MAX || (row->file && bytes <= row->line_bytes))
		return;
	frame = &run->trace.frames[frames->frames[at]];
	row->file = frame->file;
	row->line = frame->line;
	row->line_bytes = bytes;
}

static void count_calls(struct run_row *row, uint64_t allocations, uint64_t frees)
{
	run_add(row, COLUMN_COUNT, allocations);
	run_count(&row->values[COLUMN_LIVE], run_known(allocations) - run_known(frees));
}

static const char *group_of(const struct trace_site *site)
{
	return !strcmp(site->space, "array") ? device_memory : site->space;
}

/* All stacks of a site get the name of its first stack, so that the site's numbers are in one row,
 * even if the version of memtrace that wrote the trace named and joined stacks differently. */
static void add_site(struct run *run, const struct trace_site *site)
{
	char name[SITE_LONGEST] = "[unknown]";
	struct run_row *row;

	if (site->stacks_n)
		run_site_name(run, site->stacks[0], name);
	row = run_row(run, DIMENSION_SITE, group_of(site), name);
	if (strcmp(row->group, device_memory) != 0)
		run_add(row, COLUMN_ALLOCATED, site->peak_bytes);
	run_add(row, COLUMN_EXIT, site->live_bytes);
	count_calls(row, site->allocations, site->frees);
	run_add(row, COLUMN_TOTAL, site->bytes);
	if (site->lifetime_max_ns != TRACE_NONE &&
	    (row->lifetime == TRACE_NONE || site->lifetime_max_ns > row->lifetime))
		row->lifetime = site->lifetime_max_ns;
	for (size_t i = 0; i < site->stacks_n; i++)
		keep_line(run, row, site->stacks[i], i ? 0 : 1);
}

/* Adds a stack's share of a peak to the stack's site; a stack that has no site is its own site. */
static void add_share(struct run *run, const struct trace_share *share, enum column column)
{
	uint32_t site = run->trace.site_of[share->stack];
	char name[SITE_LONGEST];
	struct run_row *row;

	run_site_name(run, site == UINT32_MAX ? share->stack : run->trace.sites[site].stacks[0],
		      name);
	row = run_row(run, DIMENSION_SITE, device_memory, name);
	run_add(row, column, share->bytes);
	if (column == COLUMN_ALLOCATED)
		keep_line(run, row, share->stack, share->bytes + 1);
}

static void add_sites(struct run *run, int device)
{
	const struct trace *trace = &run->trace;

	foreach (site, trace->sites)
		add_site(run, site);
	foreach (peak, trace->peaks) {
		if (peak->pool || peak->metric == TRACE_USED ||
		    (device != NO_DEVICE && peak->device != device))
			continue;
		foreach (share, peak->stacks)
			add_share(run, share,
				  peak->metric == TRACE_ALLOCATED ? COLUMN_ALLOCATED
								  : COLUMN_RESERVED);
	}
}

/* --- the other dimensions --- */

static void count_sums(struct run_row *row, const struct trace_sum *allocated,
		       const struct trace_sum *reserved, uint64_t allocations, uint64_t frees)
{
	run_add(row, COLUMN_ALLOCATED, allocated->peak_bytes);
	run_add(row, COLUMN_RESERVED, reserved ? reserved->peak_bytes : 0);
	run_add(row, COLUMN_EXIT, allocated->exit_bytes);
	count_calls(row, allocations, frees);
}

static void add_parts(struct run *run, enum dimension dimension, const char *device,
		      const struct trace_part *parts, size_t count)
{
	foreach (part, parts, count) {
		const char *name = part->name ? part->name : "?";
		struct run_row *row;

		/* A stream-ordered pool's name contains its address, which differs in every run. */
		if (!strncmp(name, "async:", 6))
			name = "async";
		row = run_row(run, dimension, device, name);
		count_sums(row, &part->allocated, &part->reserved, part->allocations, part->frees);
	}
}

static void add_devices(struct run *run, int wanted)
{
	foreach (device, run->trace.summary.devices) {
		char ordinal[16];
		struct run_row *row;

		if (wanted != NO_DEVICE && device->device != wanted)
			continue;
		snprintf(ordinal, sizeof(ordinal), "%d", device->device);
		row = run_row(run, DIMENSION_DEVICE, "", ordinal);
		count_sums(row, &device->allocated, &device->reserved, device->allocations,
			   device->frees);
		add_parts(run, DIMENSION_POOL, ordinal, device->pools, device->pools_n);
		add_parts(run, DIMENSION_OWNER, ordinal, device->owners, device->owners_n);
	}
}

static void add_spaces(struct run *run)
{
	foreach (space, run->trace.summary.spaces) {
		struct run_row *row =
			run_row(run, DIMENSION_SPACE, "", space->space ? space->space : "?");

		count_sums(row, &space->allocated, NULL, space->allocations, space->frees);
	}
}

static void raise_i64(int64_t *value, uint64_t bytes)
{
	if (run_known(bytes) > *value)
		*value = run_known(bytes);
}

static void add_phases(struct run *run)
{
	foreach (phase, run->trace.phases) {
		char name[SITE_LONGEST];
		struct run_row *row;

		phase_family(name, sizeof(name), phase->name ? phase->name : "?");
		row = run_row(run, DIMENSION_PHASE, "", name);
		raise_i64(&row->values[COLUMN_ALLOCATED], phase->allocated.peak_bytes);
		raise_i64(&row->values[COLUMN_RESERVED], phase->reserved.peak_bytes);
	}
}

/* --- bytes that belong to no site --- */

static int64_t sum_of(const struct run *run, enum dimension dimension, const char *group,
		      enum column column)
{
	int64_t sum = 0;

	foreach (row, run->rows) {
		if (row->dimension == (uint8_t)dimension && !strcmp(row->group, group))
			run_count(&sum, row->values[column]);
	}
	return sum;
}

static void add_rest(struct run *run, const char *group, const int64_t *totals, unsigned columns)
{
	for (enum column column = 0; column < COLUMNS; column++) {
		int64_t rest;
		struct run_row *row;

		if (!(columns & 1u << column))
			continue;
		rest = totals[column];
		run_count(&rest, -sum_of(run, DIMENSION_SITE, group, column));
		/* Sites that have more bytes than the total leave no rest. */
		if (!rest || (rest < 0 && run_columns[column].bytes))
			continue;
		row = run_row(run, DIMENSION_SITE, group, elsewhere);
		run_count(&row->values[column], rest);
	}
}

/* Adds rows for what the totals have beyond the sums of sites. COLUMN_TOTAL is left out: the
 * summary does not have the total of all bytes ever allocated. */
static void add_rests(struct run *run, int device)
{
	int64_t totals[COLUMNS];
	unsigned columns = run_dimensions[DIMENSION_DEVICE].columns;

	/* Except at peaks, sites have numbers only for all devices together. */
	if (device != NO_DEVICE && run->trace.summary.devices_n > 1)
		columns = 1u << COLUMN_ALLOCATED | 1u << COLUMN_RESERVED;
	for (enum column column = 0; column < COLUMNS; column++)
		totals[column] = sum_of(run, DIMENSION_DEVICE, "", column);
	add_rest(run, device_memory, totals, columns);
	for (size_t i = 0; i < run->rows_n; i++) { /* not foreach(): add_rest() may move rows */
		if (run->rows[i].dimension != DIMENSION_SPACE ||
		    !strcmp(run->rows[i].name, "array"))
			continue;
		memcpy(totals, run->rows[i].values, sizeof(totals));
		add_rest(run, run->rows[i].name, totals, run_dimensions[DIMENSION_SPACE].columns);
	}
}

int run_read(struct run *run, const char *path, int device)
{
	int error;

	memset(run, 0, sizeof(*run));
	error = trace_open(&run->trace, path);
	if (error)
		return error;
	if (device != NO_DEVICE && !trace_device(&run->trace, device)) {
		run_close(run);
		return err("%s: the trace has no device %d", path, device);
	}
	return 0;
}

void run_add_rows(struct run *run, int device)
{
	read_frames(run);
	add_sites(run, device);
	add_devices(run, device);
	add_spaces(run);
	add_phases(run);
	add_rests(run, device);
}

int run_open(struct run *run, const char *path, int device)
{
	int error = run_read(run, path, device);

	if (!error)
		run_add_rows(run, device);
	return error;
}

void run_close(struct run *run)
{
	trace_close(&run->trace);
	arena_clear(&run->arena);
	free(run->rows);
	texts_clear(&run->texts);
	map_clear(&run->row_of);
	memset(run, 0, sizeof(*run));
}
