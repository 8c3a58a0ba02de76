#include "render/selection/flame_weights.h"

#include <stdio.h>
#include <string.h>

#include "analyse/categories/categories.h"
#include "analyse/input/grow.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "facts/sites.h"

static bool is_peak(const struct selection_options *options)
{
	return !options->at || !strcmp(options->at, "peak");
}

static void add_set(struct weights *weights, const struct trace_peak *peak)
{
	struct weights_set *set = &weights->sets[weights->sets_n++];

	*set = (struct weights_set){ .device = peak->device,
				     .t = peak->t,
				     .bytes = peak->bytes,
				     .shares = peak->stacks,
				     .shares_n = peak->stacks_n,
				     .unknown = peak->bytes };
	foreach (share, peak->stacks)
		set->unknown -= share->bytes < set->unknown ? share->bytes : set->unknown;
}

/* Adds a set for each selected peak of the trace. They are exact even if events are missing. */
static void take_peaks(struct weights *weights, const struct trace_peak *peaks, size_t count,
		       const struct selection_options *options)
{
	foreach (peak, peaks, count) {
		const char *pool = peak->pool;

		if (peak->metric == (int)options->metric && peak->device >= 0 &&
		    (options->device == NO_DEVICE || options->device == peak->device) &&
		    (options->pool ? pool && !strcmp(pool, options->pool) : !pool))
			add_set(weights, peak);
	}
}

/* If no device was used, returns the memory kind with the highest peak; otherwise SPACES. */
static int main_space(const struct trace *trace)
{
	uint64_t most = 0;
	int main = SPACES;

	for (unsigned space = 0; !trace->summary.devices_n && space < SPACES; space++) {
		const struct trace_space *row = trace_space(trace, space);

		if (!row || trace_known(row->allocated.peak_bytes) <= most)
			continue;
		most = row->allocated.peak_bytes;
		main = (int)space;
	}
	return main;
}

/* Narrows the totals of stacks to the device and pool of the options. If that or --at needs the
 * events, replays them and sets trace->peaks to the peak, or to the bytes at the time of --at. */
static int select_stacks(struct weights *weights, const struct selection_options *options,
			 bool peak)
{
	const struct categories none = { 0 };
	const struct selection_options selection = {
		.device = options->device,
		.pool = options->pool,
		.space = weights->space,
		.at = !peak                                               ? options->at
		      : weights->space < SPACES || weights_split(options) ? "peak"
									  : NULL,
		.stacks = TRACE_STACKS_MERGED,
		.by = options->by,
		.metric = (int)options->metric,
	};

	return report_select(&weights->selection, weights->trace, &selection, &none);
}

int weights_find(struct weights *weights, struct trace *trace,
		 const struct selection_options *options)
{
	bool peak = is_peak(options);
	int error;

	*weights = (struct weights){ .trace = trace, .space = main_space(trace) };
	weights->sets = NEED_ROOM(&trace->arena, weights->sets, trace->peaks_n);
	if (peak && !weights_split(options))
		take_peaks(weights, trace->peaks, trace->peaks_n, options);
	if (options->metric == TRACE_USED && !weights->sets_n)
		return err(
			"%s: stacks that hold used memory are not known: the driver reports used "
			"memory only for the whole device; use --metric reserved",
			trace->path);
	error = select_stacks(weights, options, peak);
	/* The trace has no peak for the options: use the one that the replay of events found. */
	if (!error && !weights->sets_n && (weights->selection.narrow || weights->selection.moment))
		add_set(weights, trace->peaks);
	return error;
}

void weights_name(const struct weights *weights, const struct weights_set *set, char *to,
		  size_t size)
{
	if (weights->space < SPACES)
		text_join(to, size, space_name((unsigned)weights->space), " memory");
	else if (set->device == NO_DEVICE)
		text_copy(to, size, "all devices");
	else
		snprintf(to, size, "device %d", set->device);
}

void weights_function(const struct trace *trace, uint32_t number, char *to, size_t size)
{
	const struct trace_frame *frame = &trace->frames[number];

	if (!frame->function)
		snprintf(to, size, "0x%llx", (unsigned long long)frame->offset);
	else if (frame->language == TRACE_NATIVE)
		names_short(frame->function, to, size);
	else
		text_copy(to, size, frame->function);
	utf8_clean(to);
}
