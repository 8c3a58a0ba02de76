/* The figures that gates and budgets are about. */
#include "analyse/compare/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/categories/glob.h"
#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/trace/phase_name.h"
#include "base/text/text.h"

const struct metric_row metric_rows[METRIC_IDS + 1] = {
#define BY(narrowing) (1u << NARROWING_##narrowing)
#define METRIC(id, name, what, bytes, by) { name, what, bytes, by },
#include "analyse/compare/metrics.def"
#undef METRIC
#undef BY
	{ NULL, NULL, false, 0 },
};

const struct narrowing_row narrowing_rows[NARROWINGS + 1] = {
#define NARROWING(id, key, what) { key, what },
#include "analyse/compare/metric_filters.def"
#undef NARROWING
	{ NULL, NULL },
};

/* A site's name is long: a part of it will do. */
static bool site_matches(const char *pattern, const char *name)
{
	return strpbrk(pattern, "*?") ? pattern_fits(pattern, name) : strstr(name, pattern) != NULL;
}

/* --- figures --- */

const struct figure *figures_find(const struct figures *figures, const char *place)
{
	for (size_t i = 0; i < figures->count; i++) {
		if (!strcmp(figures->list[i].place, place))
			return &figures->list[i];
	}
	return NULL;
}

void figures_clear(struct figures *figures)
{
	free(figures->list);
	*figures = (struct figures){ NULL, 0, 0 };
}

/*
 * The figure of the place, made if it is new, becomes higher by the value, or (`highest`) the value
 * if that is more. What is not told changes nothing.
 */
static int put_value(struct figures *figures, const char *place, uint64_t value, bool highest)
{
	struct figure *figure = (struct figure *)figures_find(figures, place);

	if (value == TRACE_NONE)
		return 0;
	if (!figure) {
		if (!GROW(figures->list, figures->count, figures->size, 8))
			return err("no memory left");
		figure = &figures->list[figures->count++];
		text_copy(figure->place, sizeof(figure->place), place);
		figure->value = 0;
	}
	if (!highest)
		figure->value += (int64_t)value;
	else if ((int64_t)value > figure->value)
		figure->value = (int64_t)value;
	return 0;
}

static int add_value(struct figures *figures, const char *place, uint64_t value)
{
	return put_value(figures, place, value, false);
}

/* --- where figures come from --- */

/* Of a device, a part of one, or a space, which has nothing reserved. */
static uint64_t value_of(enum metric_id metric, const struct trace_sum *allocated,
			 const struct trace_sum *reserved, uint64_t allocations)
{
	switch (metric) {
	case METRIC_ALLOCATED_PEAK:
		return allocated->peak_bytes;
	case METRIC_ALLOCATED_EXIT:
		return allocated->exit_bytes;
	case METRIC_RESERVED_PEAK:
		return reserved ? reserved->peak_bytes : TRACE_NONE;
	case METRIC_COUNT:
		return allocations;
	default:
		return TRACE_NONE;
	}
}

static uint64_t device_value(const struct trace_device *device, enum metric_id metric)
{
	if (metric == METRIC_USED_PEAK)
		return device->used.peak_bytes;
	return metric == METRIC_OOMS ? device->ooms
				     : value_of(metric, &device->allocated, &device->reserved,
						device->allocations);
}

static int add_parts(struct figures *figures, const struct trace_part *parts, size_t count,
		     const struct metric_query *query, enum narrowing by, int device)
{
	for (size_t i = 0; i < count; i++) {
		char place[FIGURE_PLACE];

		if (!parts[i].name || !pattern_fits(query->by[by], parts[i].name))
			continue;
		snprintf(place, sizeof(place), "%s %.80s on device %d", narrowing_rows[by].key,
			 parts[i].name, device);
		if (add_value(figures, place,
			      value_of(query->metric, &parts[i].allocated, &parts[i].reserved,
				       parts[i].allocations)))
			return -1;
	}
	return 0;
}

/* The share of the matching sites in the peaks of a device. */
static int add_shares(struct figures *figures, const struct run *run,
		      const struct metric_query *query, int device)
{
	enum trace_metric metric =
		query->metric == METRIC_RESERVED_PEAK ? TRACE_RESERVED : TRACE_ALLOCATED;
	const struct trace_peak *peak = trace_peak(&run->trace, device, NULL, metric);
	char place[FIGURE_PLACE];

	snprintf(place, sizeof(place), "site %.80s on device %d", query->by[NARROWING_SITE],
		 device);
	for (size_t i = 0; peak && i < peak->stacks_n; i++) {
		char name[SITE_LONGEST];

		run_site_name(run, peak->stacks[i].stack, name);
		if (site_matches(query->by[NARROWING_SITE], name) &&
		    add_value(figures, place, peak->stacks[i].bytes))
			return -1;
	}
	return 0;
}

static int add_devices(struct figures *figures, const struct run *run,
		       const struct metric_query *query)
{
	const char *wanted = query->by[NARROWING_DEVICE];
	int error = 0;

	for (size_t i = 0; !error && i < run->trace.summary.devices_n; i++) {
		const struct trace_device *device = &run->trace.summary.devices[i];
		char place[FIGURE_PLACE];

		snprintf(place, sizeof(place), "%d", device->device);
		if (wanted && !pattern_fits(wanted, place))
			continue;
		snprintf(place, sizeof(place), "device %d", device->device);
		if (query->by[NARROWING_POOL])
			error = add_parts(figures, device->pools, device->pools_n, query,
					  NARROWING_POOL, device->device);
		else if (query->by[NARROWING_OWNER])
			error = add_parts(figures, device->owners, device->owners_n, query,
					  NARROWING_OWNER, device->device);
		else if (query->by[NARROWING_SITE])
			error = add_shares(figures, run, query, device->device);
		else
			error = add_value(figures, place, device_value(device, query->metric));
	}
	return error;
}

/* What is live at exit and what was counted is known of a site, not of its part in a device. */
static int add_sites(struct figures *figures, const struct run *run,
		     const struct metric_query *query)
{
	enum column column = query->metric == METRIC_COUNT ? COLUMN_COUNT : COLUMN_EXIT;
	char place[FIGURE_PLACE];

	snprintf(place, sizeof(place), "site %.100s", query->by[NARROWING_SITE]);
	for (size_t i = 0; i < run->rows_n; i++) {
		const struct run_row *row = &run->rows[i];

		if (row->dimension == DIMENSION_SITE && !strcmp(row->group, "device") &&
		    site_matches(query->by[NARROWING_SITE], row->name) &&
		    add_value(figures, place,
			      row->values[column] > 0 ? (uint64_t)row->values[column] : 0))
			return -1;
	}
	return 0;
}

uint64_t metric_of_phase(const struct trace_phase *phase, enum metric_id metric)
{
	const struct trace_phase_sums *sums = &phase->allocated;

	switch (metric) {
	case METRIC_ALLOCATED_PEAK:
		return sums->peak_bytes;
	case METRIC_ALLOCATED_EXIT:
		return sums->end_bytes;
	case METRIC_ALLOCATED_ADDED:
		return sums->peak_bytes == TRACE_NONE || sums->start_bytes == TRACE_NONE
			       ? TRACE_NONE
			       : sums->peak_bytes - sums->start_bytes;
	case METRIC_RESERVED_PEAK:
		return phase->reserved.peak_bytes;
	default:
		return TRACE_NONE;
	}
}

static int add_phases(struct figures *figures, const struct run *run,
		      const struct metric_query *query)
{
	const char *wanted = query->by[NARROWING_PHASE];

	for (size_t i = 0; i < run->trace.phases_n; i++) {
		const struct trace_phase *phase = &run->trace.phases[i];
		char place[FIGURE_PLACE] = "phase ";
		char family[FIGURE_PLACE];
		char stem[FIGURE_PLACE];

		if (!phase->name)
			continue;
		phase_family(family, sizeof(family), phase->name);
		text_copy_n(stem, sizeof(stem), phase->name, phase_stem(phase->name));
		if (pattern_fits(wanted, family))
			text_append(place, sizeof(place), family);
		else if (pattern_fits(wanted, stem))
			text_append(place, sizeof(place), stem);
		else if (pattern_fits(wanted, phase->name))
			text_append(place, sizeof(place), phase->name);
		else
			continue;
		if (put_value(figures, place, metric_of_phase(phase, query->metric), true))
			return -1;
	}
	return 0;
}

static int add_spaces(struct figures *figures, const struct run *run,
		      const struct metric_query *query)
{
	for (size_t i = 0; i < run->trace.summary.spaces_n; i++) {
		const struct trace_space *space = &run->trace.summary.spaces[i];
		uint64_t value =
			value_of(query->metric, &space->allocated, NULL, space->allocations);
		char place[FIGURE_PLACE];

		if (!space->space || !pattern_fits(query->by[NARROWING_SPACE], space->space))
			continue;
		snprintf(place, sizeof(place), "%.80s memory", space->space);
		if (add_value(figures, place, value))
			return -1;
	}
	return 0;
}

/* A category that there is none of is 0 on each device; a name that nothing has is a mistake. */
static int add_no_category(struct figures *figures, const struct run *run, const char *pattern)
{
	bool known = false;

	for (size_t i = 0; i < CATEGORIES; i++)
		known = known || pattern_fits(pattern, category_names[i]);
	for (size_t i = 0; i < run->categories_n; i++)
		known = known || pattern_fits(pattern, run->categories[i].name);
	for (size_t i = 0; known && i < run->trace.summary.devices_n; i++) {
		char place[FIGURE_PLACE];

		snprintf(place, sizeof(place), "category %.60s on device %d", pattern,
			 run->trace.summary.devices[i].device);
		if (add_value(figures, place, 0))
			return -1;
	}
	return 0;
}

/* Each device's and each space's part, which peak at times of their own. */
static int add_categories(struct figures *figures, const struct run *run,
			  const struct metric_query *query)
{
	const char *wanted = query->by[NARROWING_DEVICE];

	for (size_t i = 0; i < run->categories_n; i++) {
		const struct run_category *category = &run->categories[i];
		char device[16];
		char place[FIGURE_PLACE];

		snprintf(device, sizeof(device), "%d", category->device);
		if (!pattern_fits(query->by[NARROWING_CATEGORY], category->name) ||
		    (wanted && (category->device == NO_DEVICE || !pattern_fits(wanted, device))))
			continue;
		if (category->device == NO_DEVICE)
			snprintf(place, sizeof(place), "category %.60s of %.20s memory",
				 query->by[NARROWING_CATEGORY], category->space);
		else
			snprintf(place, sizeof(place), "category %.60s on device %s",
				 query->by[NARROWING_CATEGORY], device);
		if (add_value(figures, place,
			      query->metric == METRIC_ALLOCATED_PEAK ? category->peak
								     : category->exit))
			return -1;
	}
	return figures->count || wanted || run->categories_from == RUN_UNTOLD
		       ? 0
		       : add_no_category(figures, run, query->by[NARROWING_CATEGORY]);
}

int figures_read(struct figures *figures, const struct run *run, const struct metric_query *query)
{
	*figures = (struct figures){ NULL, 0, 0 };
	if (query->by[NARROWING_PHASE])
		return add_phases(figures, run, query);
	if (query->by[NARROWING_SPACE])
		return add_spaces(figures, run, query);
	if (query->by[NARROWING_CATEGORY])
		return add_categories(figures, run, query);
	if (query->by[NARROWING_SITE] &&
	    (query->metric == METRIC_COUNT || query->metric == METRIC_ALLOCATED_EXIT))
		return add_sites(figures, run, query);
	return add_devices(figures, run, query);
}
