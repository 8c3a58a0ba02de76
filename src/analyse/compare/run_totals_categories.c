/* Finds the categories of a run, from events or a baseline, and stores them in the summary. */
#include "analyse/compare/run_totals.h"
#include "analyse/input/grow.h"

bool run_place(const struct run *run, size_t i, struct run_place *place)
{
	const struct trace_summary *summary = &run->trace.summary;

	if (i < summary->devices_n) {
		struct trace_device *of = &summary->devices[i];

		*place = (struct run_place){ of->device, "device", &of->categories,
					     &of->categories_n };
	} else if (i < summary->devices_n + summary->spaces_n) {
		struct trace_space *of = &summary->spaces[i - summary->devices_n];

		*place = (struct run_place){ NO_DEVICE, of->space ? of->space : "?",
					     &of->categories, &of->categories_n };
	}
	return i < summary->devices_n + summary->spaces_n;
}

/* --- from a baseline --- */

static bool take_told(struct trace_category *list, size_t count)
{
	foreach (row, list, count) {
		row->category = row->category ? row->category : "?";
		row->peak_bytes = trace_known(row->peak_bytes);
		row->exit_bytes = trace_known(row->exit_bytes);
	}
	return count;
}

static void take_baseline(struct run *run)
{
	struct run_place at;
	bool any = false;

	for (size_t i = 0; run_place(run, i, &at); i++)
		any |= take_told(*at.list, *at.count);
	run->categories_from = any ? RUN_BLOCKS : RUN_UNTOLD;
}

/* --- from the events --- */

static void take_place(struct run *run, const struct categories *categories,
		       const struct run_place *at)
{
	const struct categories_place *place =
		categories_place(categories, at->device, NULL, at->space);
	size_t most = categories->rules->categories;

	*at->count = 0;
	if (!place)
		return;
	*at->list = need(&run->arena, most * sizeof(**at->list));
	if (!place->peak_exact || !place->exit_exact)
		run->categories_from = RUN_STACKS;
	for (size_t i = 0; i < most; i++) {
		const char *name = categories_name(categories, i);

		if (place->peak[i].bytes || place->exit[i].bytes)
			(*at->list)[(*at->count)++] =
				(struct trace_category){ need_text(&run->arena, name),
							 place->peak[i].bytes,
							 place->exit[i].bytes };
	}
}

static void take_places(struct run *run, const struct categories *categories)
{
	struct run_place at;

	run->categories_from = RUN_BLOCKS;
	for (size_t i = 0; run_place(run, i, &at); i++)
		take_place(run, categories, &at);
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

void run_add_categories(struct run *run, int device)
{
	struct run_place at;

	for (size_t i = 0; run_place(run, i, &at); i++) {
		if (device != NO_DEVICE && at.device != NO_DEVICE && at.device != device)
			continue;
		for (size_t k = 0; k < *at.count; k++) {
			const struct trace_category *of = &(*at.list)[k];
			struct run_row *row =
				run_row(run, DIMENSION_CATEGORY, at.space, of->category);

			run_add(row, COLUMN_ALLOCATED, of->peak_bytes);
			run_add(row, COLUMN_EXIT, of->exit_bytes);
		}
	}
}
