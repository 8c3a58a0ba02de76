/* --filter: the stacks that have a frame with a text, and the document's facts without the others.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "render/selection/select.h"

static bool fits_filter(const char *text, const char *pattern, bool glob)
{
	return text && (glob ? !fnmatch(pattern, text, 0) : strstr(text, pattern) != NULL);
}

/* By frame: its text as the report shows it, or the whole path of its file or module. */
static bool *fitting_frames(const struct trace *trace, const char *pattern)
{
	bool glob = strpbrk(pattern, "*?") != NULL;
	bool *frames = calloc(trace->frames_n + 1, sizeof(*frames));
	char text[600];

	for (uint32_t i = 0; frames && i < trace->frames_n; i++) {
		const struct trace_frame *frame = &trace->frames[i];

		trace_frame_text(trace, i, text, sizeof(text));
		frames[i] = fits_filter(text, pattern, glob) ||
			    fits_filter(frame->function, pattern, glob) ||
			    fits_filter(frame->file, pattern, glob) ||
			    (frame->module != UINT32_MAX &&
			     fits_filter(trace->modules[frame->module].path, pattern, glob));
	}
	return frames;
}

int report_filter_stacks(struct report_selection *selection, const struct trace *trace,
			 const char *pattern)
{
	bool *frames = fitting_frames(trace, pattern);
	bool any = false;

	selection->stacks = calloc(trace->stacks_n + 1, sizeof(*selection->stacks));
	if (!frames || !selection->stacks) {
		free(frames);
		return err("no memory left");
	}
	for (size_t i = 0; i < trace->stacks_n; i++) {
		const struct trace_stack *stack = &trace->stacks[i];

		for (size_t k = 0; k < stack->frames_n && !selection->stacks[i]; k++)
			selection->stacks[i] = frames[stack->frames[k]];
		any = any || selection->stacks[i];
	}
	free(frames);
	selection->empty = !any;
	return 0;
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

/* Without the events: what other stacks did is taken out, and bytes of peaks stay what they are. */
int report_filter_facts(const struct report_selection *selection, struct trace *trace)
{
	struct trace_place *places = calloc(trace->stacks_n + 1, sizeof(*places));
	int error;

	if (!places)
		return err("no memory left");
	for (size_t i = 0; i < trace->stacks_n; i++) {
		uint32_t site = trace->site_of[i];

		if (!selection->stacks[i])
			clear_figures(&trace->stacks[i]);
		else if (site != UINT32_MAX)
			places[i] = (struct trace_place){ trace->sites[site].site,
							  trace->sites[site].space, site };
	}
	error = trace_set_sites(trace, places);
	free(places);
	for (size_t i = 0; i < trace->peaks_n; i++) {
		struct trace_peak *peak = &trace->peaks[i];
		size_t kept = 0;

		for (size_t k = 0; k < peak->stacks_n; k++) {
			if (selection->stacks[peak->stacks[k].stack])
				peak->stacks[kept++] = peak->stacks[k];
		}
		peak->stacks_n = kept;
	}
	return error;
}
