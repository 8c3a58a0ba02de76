/* Implements --filter: finds the stacks with a frame that matches, clears the totals of others. */
#include <fnmatch.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "render/selection/select.h"

static bool fits_filter(const char *text, const char *pattern, bool glob)
{
	return text && (glob ? !fnmatch(pattern, text, 0) : strstr(text, pattern) != NULL);
}

static bool fits_frame(const struct trace *trace, uint32_t number, const char *pattern, bool glob)
{
	const struct trace_frame *frame = &trace->frames[number];
	char text[600];

	trace_frame_text(trace, number, text, sizeof(text));
	return fits_filter(text, pattern, glob) || fits_filter(frame->function, pattern, glob) ||
	       fits_filter(frame->file, pattern, glob) ||
	       (frame->module != UINT32_MAX &&
		fits_filter(trace->modules[frame->module].path, pattern, glob));
}

void report_filter_stacks(struct report_selection *selection, struct trace *trace,
			  const char *pattern)
{
	bool *frames = need(&trace->arena, trace->frames_n + 1);
	bool glob = strpbrk(pattern, "*?") != NULL;

	selection->stacks = need(&trace->arena, trace->stacks_n + 1);
	for (uint32_t i = 0; i < trace->frames_n; i++)
		frames[i] = fits_frame(trace, i, pattern, glob);
	selection->empty = true;
	for (size_t i = 0; i < trace->stacks_n; i++) {
		const struct trace_stack *stack = &trace->stacks[i];

		for (size_t k = 0; k < stack->frames_n && !selection->stacks[i]; k++)
			selection->stacks[i] = frames[stack->frames[k]];
		selection->empty &= !selection->stacks[i];
	}
}

static void clear_figures(struct trace_stack *stack)
{
	*stack = (struct trace_stack){
		.number = stack->number,
		.frames = stack->frames,
		.frames_n = stack->frames_n,
		.entries = stack->entries,
		.entries_n = stack->entries_n,
		.owner = stack->owner,
		.lifetime_min_ns = TRACE_NONE,
		.lifetime_max_ns = TRACE_NONE,
	};
}

/* Clears the totals of stacks that do not match, without reading events. Peaks keep their bytes. */
void report_filter_facts(const struct report_selection *selection, struct trace *trace)
{
	struct trace_place *places = NEED_ROOM(&trace->arena, places, trace->stacks_n);

	for (size_t i = 0; i < trace->stacks_n; i++) {
		uint32_t site = trace->site_of[i];

		if (!selection->stacks[i])
			clear_figures(&trace->stacks[i]);
		else if (site != UINT32_MAX)
			places[i] = (struct trace_place){ trace->sites[site].site,
							  trace->sites[site].space, site };
	}
	foreach (peak, trace->peaks) {
		size_t kept = 0;

		foreach (share, peak->stacks) {
			if (selection->stacks[share->stack])
				peak->stacks[kept++] = *share;
		}
		peak->stacks_n = kept;
	}
	trace_set_sites(trace, places);
}
