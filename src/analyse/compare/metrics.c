/* Reads from a run the values that gates and budgets test. */
#include "analyse/compare/metrics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/categories/glob.h"
#include "analyse/input/grow.h"
#include "analyse/trace/phase_name.h"
#include "base/text/text.h"

const struct metric_row metric_rows[METRIC_IDS + 1] = {
#define BY(narrowing) (1u << NARROWING_##narrowing)
#define METRIC(id, name, what, bytes, column, by) { name, what, bytes, COLUMN_##column, by },
#include "analyse/compare/metrics.def"
#undef BY
	{ NULL, NULL, false, COLUMN_NONE, 0 },
};

const struct narrowing_row narrowing_rows[NARROWINGS + 1] = {
#define NARROWING(id, key, what) { key, what },
#include "analyse/compare/metric_filters.def"
	{ NULL, NULL },
};

bool site_matches(const char *pattern, const char *name)
{
	return strpbrk(pattern, "*?") ? pattern_fits(pattern, name) : strstr(name, pattern) != NULL;
}

const char *metric_narrowing(const struct metric_query *query)
{
	for (size_t i = 0; i < NARROWINGS; i++) {
		if (query->by[i])
			return narrowing_rows[i].key;
	}
	return NULL;
}

const char *metric_space(const struct metric_query *query, const struct run *run)
{
	if (query->by[NARROWING_SPACE])
		return query->by[NARROWING_SPACE];
	return run->trace.summary.devices_n ? "device" : "cpu";
}

/* --- values by place: a device, pool, phase, ... --- */

static int64_t *values_at(struct figures *figures, const char *place)
{
	struct figure *figure;

	for (size_t i = 0; i < figures->count; i++) {
		if (!strcmp(figures->list[i].place, place))
			return figures->list[i].values;
	}
	NEED(GROW(figures->list, figures->count, figures->size, 8));
	figure = &figures->list[figures->count++];
	text_copy(figure->place, sizeof(figure->place), place);
	figure->values = need(&figures->arena, figures->runs * sizeof(*figure->values));
	return figure->values;
}

/* How several values of one run for the same device, phase, ... are combined. */
enum many { SUMMED, HIGHEST };

/* Adds the current run's value for a place ("device 0") that `format` names; skips TRACE_NONE. */
__attribute__((format(printf, 4, 5))) static void put(struct figures *figures, uint64_t value,
						      enum many many, const char *format, ...)
{
	char place[FIGURE_PLACE];
	int64_t *to;
	va_list words;

	if (value == TRACE_NONE)
		return;
	va_start(words, format);
	vsnprintf(place, sizeof(place), format, words);
	va_end(words);
	to = values_at(figures, place) + figures->read;
	figures->told++;
	if (many == SUMMED)
		*to += (int64_t)value;
	else if ((int64_t)value > *to)
		*to = (int64_t)value;
}

void figures_clear(struct figures *figures)
{
	free(figures->list);
	arena_clear(&figures->arena);
	*figures = (struct figures){ .runs = 0 };
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

int64_t median_of(int64_t *values, size_t count)
{
	int64_t low;
	uint64_t gap;

	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	low = values[(count - 1) / 2];
	gap = (uint64_t)values[count / 2] - (uint64_t)low;
	return low + (int64_t)(gap / 2);
}

/* --- the sources of values --- */

/* The offset of each metric in struct trace_device, trace_part, ...; 0 if the struct lacks it. */
static const struct {
	uint16_t device, part, space, phase;
} metric_at[METRIC_IDS] = {
#define AT(of, member) offsetof(struct trace_##of, member)
	[METRIC_ALLOCATED_PEAK] = { AT(device, allocated.peak_bytes),
				    AT(part, allocated.peak_bytes), AT(space, allocated.peak_bytes),
				    AT(phase, allocated.peak_bytes) },
	[METRIC_ALLOCATED_EXIT] = { AT(device, allocated.exit_bytes),
				    AT(part, allocated.exit_bytes), AT(space, allocated.exit_bytes),
				    AT(phase, allocated.end_bytes) },
	[METRIC_RESERVED_PEAK] = { AT(device, reserved.peak_bytes), AT(part, reserved.peak_bytes),
				   0, AT(phase, reserved.peak_bytes) },
	[METRIC_USED_PEAK] = { .device = AT(device, used.peak_bytes) },
	[METRIC_COUNT] = { AT(device, allocations), AT(part, allocations), AT(space, allocations),
			   0 },
	[METRIC_OOMS] = { .device = AT(device, ooms) },
#undef AT
};

static uint64_t value_at(const void *of, uint16_t at)
{
	return at ? *(const uint64_t *)((const char *)of + at) : TRACE_NONE;
}

static void add_parts(struct figures *figures, const struct trace_part *parts, size_t count,
		      const struct metric_query *query, enum narrowing by, int device)
{
	foreach (part, parts, count) {
		if (part->name && pattern_fits(query->by[by], part->name))
			put(figures, value_at(part, metric_at[query->metric].part), SUMMED,
			    "%s %.80s on device %d", narrowing_rows[by].key, part->name, device);
	}
}

static void add_shares(struct figures *figures, const struct run *run,
		       const struct metric_query *query, int device)
{
	enum trace_metric metric =
		query->metric == METRIC_RESERVED_PEAK ? TRACE_RESERVED : TRACE_ALLOCATED;
	const struct trace_peak *peak = trace_peak(&run->trace, device, NULL, metric);
	const char *wanted = query->by[NARROWING_SITE];

	for (size_t i = 0; peak && i < peak->stacks_n; i++) {
		char name[SITE_LONGEST];

		run_site_name(run, peak->stacks[i].stack, name);
		if (site_matches(wanted, name))
			put(figures, peak->stacks[i].bytes, SUMMED, "site %.80s on device %d",
			    wanted, device);
	}
}

static bool is_wanted(const struct metric_query *query, int device)
{
	char ordinal[16];

	snprintf(ordinal, sizeof(ordinal), "%d", device);
	return !query->by[NARROWING_DEVICE] || pattern_fits(query->by[NARROWING_DEVICE], ordinal);
}

static void add_devices(struct figures *figures, const struct run *run,
			const struct metric_query *query)
{
	foreach (device, run->trace.summary.devices) {
		if (!is_wanted(query, device->device))
			continue;
		if (query->by[NARROWING_POOL])
			add_parts(figures, device->pools, device->pools_n, query, NARROWING_POOL,
				  device->device);
		else if (query->by[NARROWING_OWNER])
			add_parts(figures, device->owners, device->owners_n, query, NARROWING_OWNER,
				  device->device);
		else if (query->by[NARROWING_SITE])
			add_shares(figures, run, query, device->device);
		else
			put(figures, value_at(device, metric_at[query->metric].device), SUMMED,
			    "device %d", device->device);
	}
}

/* A site's live memory and number of allocations are known only for all devices together. */
static void add_sites(struct figures *figures, const struct run *run,
		      const struct metric_query *query)
{
	enum column column = metric_rows[query->metric].column;
	const char *wanted = query->by[NARROWING_SITE];

	foreach (row, run->rows) {
		if (row->dimension == DIMENSION_SITE && !strcmp(row->group, "device") &&
		    site_matches(wanted, row->name))
			put(figures, row->values[column] > 0 ? (uint64_t)row->values[column] : 0,
			    SUMMED, "site %.100s", wanted);
	}
}

uint64_t metric_of_phase(const struct trace_phase *phase, enum metric_id metric)
{
	const struct trace_phase_sums *sums = &phase->allocated;

	if (metric != METRIC_ALLOCATED_ADDED)
		return value_at(phase, metric_at[metric].phase);
	return sums->peak_bytes == TRACE_NONE || sums->start_bytes == TRACE_NONE
		       ? TRACE_NONE
		       : sums->peak_bytes - sums->start_bytes;
}

static void add_phases(struct figures *figures, const struct run *run,
		       const struct metric_query *query)
{
	const char *wanted = query->by[NARROWING_PHASE];

	foreach (phase, run->trace.phases) {
		char family[FIGURE_PLACE];
		char stem[FIGURE_PLACE];

		if (!phase->name)
			continue;
		phase_family(family, sizeof(family), phase->name);
		text_copy_n(stem, sizeof(stem), phase->name, phase_stem(phase->name));
		for (size_t k = 0; k < 3; k++) {
			const char *name = k == 0 ? family : k == 1 ? stem : phase->name;

			if (!pattern_fits(wanted, name))
				continue;
			put(figures, metric_of_phase(phase, query->metric), HIGHEST, "phase %s",
			    name);
			break;
		}
	}
}

static void add_spaces(struct figures *figures, const struct run *run,
		       const struct metric_query *query)
{
	foreach (space, run->trace.summary.spaces) {
		if (space->space && pattern_fits(metric_space(query, run), space->space))
			put(figures, value_at(space, metric_at[query->metric].space), SUMMED,
			    "%.80s memory", space->space);
	}
}

static void put_categories(struct figures *figures, const struct metric_query *query,
			   const struct run_place *at)
{
	const char *wanted = query->by[NARROWING_CATEGORY];

	for (size_t i = 0; i < *at->count; i++) {
		const struct trace_category *of = &(*at->list)[i];
		uint64_t value =
			query->metric == METRIC_ALLOCATED_PEAK ? of->peak_bytes : of->exit_bytes;

		if (!pattern_fits(wanted, of->category))
			continue;
		if (at->device == NO_DEVICE)
			put(figures, value, SUMMED, "category %.60s of %.20s memory", wanted,
			    at->space);
		else
			put(figures, value, SUMMED, "category %.60s on device %d", wanted,
			    at->device);
	}
}

/* A built-in category without memory has the value 0 on each device; other names have no value. */
static void put_no_category(struct figures *figures, const struct run *run, const char *wanted)
{
	size_t known = 0;

	while (known < CATEGORIES && !pattern_fits(wanted, category_names[known]))
		known++;
	for (size_t i = 0; known < CATEGORIES && i < run->trace.summary.devices_n; i++)
		put(figures, 0, SUMMED, "category %.60s on device %d", wanted,
		    run->trace.summary.devices[i].device);
}

static void add_categories(struct figures *figures, const struct run *run,
			   const struct metric_query *query)
{
	bool one_device = query->by[NARROWING_DEVICE];
	size_t told = figures->told;
	struct run_place at;

	for (size_t i = 0; run_place(run, i, &at); i++) {
		if (at.device == NO_DEVICE ? !one_device : is_wanted(query, at.device))
			put_categories(figures, query, &at);
	}
	if (!one_device && figures->told == told && run->categories_from != RUN_UNTOLD)
		put_no_category(figures, run, query->by[NARROWING_CATEGORY]);
}

void figures_add(struct figures *figures, const struct run *run, const struct metric_query *query)
{
	if (query->by[NARROWING_PHASE])
		add_phases(figures, run, query);
	else if (query->by[NARROWING_SPACE] ||
		 (!metric_narrowing(query) && !run->trace.summary.devices_n))
		add_spaces(figures, run, query);
	else if (query->by[NARROWING_CATEGORY])
		add_categories(figures, run, query);
	else if (query->by[NARROWING_SITE] &&
		 (query->metric == METRIC_COUNT || query->metric == METRIC_ALLOCATED_EXIT))
		add_sites(figures, run, query);
	else
		add_devices(figures, run, query);
	figures->read++;
}
