/* The categories of a run: from its events, or as a baseline keeps them. */
#include <string.h>

#include "analyse/compare/run_totals.h"
#include "analyse/input/error.h"

static int add_category(struct run *run, const struct run_category *category)
{
	struct run_category *copy = &run->categories[run->categories_n];

	*copy = *category;
	copy->name = arena_text(&run->arena, category->name, strlen(category->name));
	if (!copy->name)
		return err_no_memory(run->trace.path);
	run->categories_n++;
	return 0;
}

static int make_categories(struct run *run, size_t count)
{
	run->categories = arena_alloc(&run->arena, (count + 1) * sizeof(*run->categories));
	return run->categories ? 0 : err_no_memory(run->trace.path);
}

/* --- as a baseline has them --- */

static int copy_list(struct run *run, int device, const char *space,
		     const struct trace_category *list, size_t count)
{
	int error = 0;

	for (size_t i = 0; !error && i < count; i++) {
		const struct run_category category = {
			.device = device,
			.space = space,
			.name = list[i].category ? list[i].category : "?",
			.peak = trace_known(list[i].peak_bytes),
			.exit = trace_known(list[i].exit_bytes),
		};

		error = add_category(run, &category);
	}
	return error;
}

static int copy_categories(struct run *run)
{
	const struct trace *trace = &run->trace;
	size_t count = 0;
	int error;

	for (size_t i = 0; i < trace->summary.devices_n; i++)
		count += trace->summary.devices[i].categories_n;
	for (size_t i = 0; i < trace->summary.spaces_n; i++)
		count += trace->summary.spaces[i].categories_n;
	run->categories_from = count ? RUN_BLOCKS : RUN_UNTOLD;
	error = make_categories(run, count);
	for (size_t i = 0; !error && i < trace->summary.devices_n; i++)
		error = copy_list(run, trace->summary.devices[i].device, "device",
				  trace->summary.devices[i].categories,
				  trace->summary.devices[i].categories_n);
	for (size_t i = 0; !error && i < trace->summary.spaces_n; i++)
		error = copy_list(
			run, NO_DEVICE,
			trace->summary.spaces[i].space ? trace->summary.spaces[i].space : "?",
			trace->summary.spaces[i].categories, trace->summary.spaces[i].categories_n);
	return error;
}

/* --- from the events --- */

static int take_places(struct run *run, const struct categories *categories)
{
	int error = make_categories(run, categories->places_n * categories->rules->categories);

	run->categories_from = RUN_BLOCKS;
	for (size_t i = 0; !error && i < categories->places_n; i++) {
		const struct categories_place *place = &categories->places[i];

		if (place->pool)
			continue;
		if (!place->peak_exact || !place->exit_exact)
			run->categories_from = RUN_STACKS;
		for (size_t k = 0; !error && k < categories->rules->categories; k++) {
			struct run_category category = {
				.device = place->device,
				.space =
					arena_text(&run->arena, place->space, strlen(place->space)),
				.name = categories_name(categories, k),
				.peak = place->peak[k].bytes,
				.exit = place->exit[k].bytes,
			};

			if (!category.space)
				return err_no_memory(run->trace.path);
			if (category.peak || category.exit)
				error = add_category(run, &category);
		}
	}
	return error;
}

static int read_categories(struct run *run, struct trace *trace, const struct rules *rules)
{
	struct categories categories;
	int error = categories_start(&categories, trace, rules);

	if (!error)
		error = categories_read(&categories);
	if (!error)
		error = take_places(run, &categories);
	categories_clear(&categories);
	return error;
}

int run_find_categories(struct run *run, const struct rules *rules, bool always)
{
	const struct trace_capture *capture = &run->trace.capture;

	if (capture->baseline)
		return copy_categories(run);
	if (!always && (capture->events_recorded > TRACE_FEW || capture->events_dropped))
		return 0;
	return read_categories(run, &run->trace, rules);
}

int run_add_categories(struct run *run, int device)
{
	for (size_t i = 0; i < run->categories_n; i++) {
		const struct run_category *category = &run->categories[i];
		struct run_row *row;

		if (device != NO_DEVICE && category->device != NO_DEVICE &&
		    category->device != device)
			continue;
		row = run_row(run, DIMENSION_CATEGORY, category->space, category->name);
		if (!row)
			return -1;
		run_count(&row->values[COLUMN_ALLOCATED], run_known(category->peak));
		run_count(&row->values[COLUMN_EXIT], run_known(category->exit));
	}
	return 0;
}
