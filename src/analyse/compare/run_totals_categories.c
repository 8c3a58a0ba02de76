/*
 * The categories of a run: from its events, or as a baseline keeps them. They lie in the summary of
 * its trace.
 */
#include <string.h>

#include "analyse/compare/run_totals.h"
#include "analyse/input/grow.h"

/* --- as a baseline has them --- */

static bool take_told(struct trace_category *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		list[i].category = list[i].category ? list[i].category : "?";
		list[i].peak_bytes = trace_known(list[i].peak_bytes);
		list[i].exit_bytes = trace_known(list[i].exit_bytes);
	}
	return count;
}

static void take_baseline(struct run *run)
{
	struct trace_summary *summary = &run->trace.summary;
	bool any = false;

	for (size_t i = 0; i < summary->devices_n; i++)
		any |= take_told(summary->devices[i].categories, summary->devices[i].categories_n);
	for (size_t i = 0; i < summary->spaces_n; i++)
		any |= take_told(summary->spaces[i].categories, summary->spaces[i].categories_n);
	run->categories_from = any ? RUN_BLOCKS : RUN_UNTOLD;
}

/* --- from the events --- */

static void take_place(struct run *run, const struct categories *categories, int device,
		       const char *space, struct trace_category **list, size_t *count)
{
	const struct categories_place *place = categories_place(categories, device, NULL, space);
	size_t most = categories->rules->categories;

	*count = 0;
	if (!place)
		return;
	*list = need(&run->arena, most * sizeof(**list));
	if (!place->peak_exact || !place->exit_exact)
		run->categories_from = RUN_STACKS;
	for (size_t i = 0; i < most; i++) {
		const char *name = categories_name(categories, i);

		if (!place->peak[i].bytes && !place->exit[i].bytes)
			continue;
		(*list)[(*count)++] =
			(struct trace_category){ need_text(&run->arena, name), place->peak[i].bytes,
						 place->exit[i].bytes };
	}
}

static void take_places(struct run *run, const struct categories *categories)
{
	struct trace_summary *summary = &run->trace.summary;

	run->categories_from = RUN_BLOCKS;
	for (size_t i = 0; i < summary->devices_n; i++) {
		struct trace_device *to = &summary->devices[i];

		take_place(run, categories, to->device, "device", &to->categories,
			   &to->categories_n);
	}
	for (size_t i = 0; i < summary->spaces_n; i++) {
		struct trace_space *to = &summary->spaces[i];

		take_place(run, categories, NO_DEVICE, to->space, &to->categories,
			   &to->categories_n);
	}
}

int run_find_categories(struct run *run, const struct rules *rules, bool always)
{
	const struct trace_capture *capture = &run->trace.capture;
	struct categories categories;
	int error;

	if (capture->baseline)
		take_baseline(run);
	if (capture->baseline ||
	    (!always && (capture->events_recorded > TRACE_FEW || capture->events_dropped)))
		return 0;
	categories_start(&categories, &run->trace, rules);
	error = categories_read(&categories);
	if (!error)
		take_places(run, &categories);
	categories_clear(&categories);
	return error;
}

static void add_rows(struct run *run, const char *space, const struct trace_category *list,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct run_row *row = run_row(run, DIMENSION_CATEGORY, space, list[i].category);

		run_add(row, COLUMN_ALLOCATED, list[i].peak_bytes);
		run_add(row, COLUMN_EXIT, list[i].exit_bytes);
	}
}

void run_add_categories(struct run *run, int device)
{
	const struct trace_summary *summary = &run->trace.summary;

	for (size_t i = 0; i < summary->devices_n; i++) {
		const struct trace_device *of = &summary->devices[i];

		if (device == NO_DEVICE || of->device == device)
			add_rows(run, "device", of->categories, of->categories_n);
	}
	for (size_t i = 0; i < summary->spaces_n; i++)
		add_rows(run, run_space(&summary->spaces[i]), summary->spaces[i].categories,
			 summary->spaces[i].categories_n);
}
