/* The figures by stack that the documents of the first weeks lack, from their events. */
#include "analyse/lifetimes/replay.h"

bool replay_wants_figures(const struct trace *trace)
{
	return !trace_has_figures(trace) && trace->sites_n;
}

static void take_figures(struct trace *trace, const struct replay *replay)
{
	for (size_t i = 0; i < trace->stacks_n; i++) {
		const struct replay_row *row = &replay->rows[i];
		struct trace_stack *stack = &trace->stacks[i];

		stack->allocations = row->allocations;
		stack->bytes = row->bytes;
		stack->frees = row->frees;
		stack->freed_bytes = row->freed;
		stack->frees_here = row->frees_here;
		stack->freed_here_bytes = row->freed_here;
		stack->live_bytes = row->live;
		stack->live_count = row->live_count;
		stack->lifetime_min_ns = row->lifetime_max ? row->lifetime_min : TRACE_NONE;
		stack->lifetime_max_ns = row->lifetime_max ? row->lifetime_max : TRACE_NONE;
	}
	for (size_t i = 0; i < trace->peaks_n; i++) {
		const struct trace_peak *peak = &trace->peaks[i];

		for (size_t k = 0; k < peak->stacks_n; k++) {
			if (peak->pool || peak->metric != TRACE_ALLOCATED)
				continue;
			trace->stacks[peak->stacks[k].stack].peak_bytes += peak->stacks[k].bytes;
			trace->stacks[peak->stacks[k].stack].peak_count += peak->stacks[k].count;
		}
	}
}

int replay_figures(struct trace *trace)
{
	const struct replay_wish wish = {
		.device = NO_DEVICE, .space = SPACES, .to = UINT64_MAX, .last = UINT64_MAX
	};
	struct trace again;
	struct replay replay;
	int error;

	if (!replay_wants_figures(trace) || trace->capture.truncated ||
	    trace->capture.events_dropped || trace->once)
		return 0;
	error = trace_open(&again, trace->path);
	if (error)
		return error;
	error = replay_run(&replay, &again, &wish);
	if (!error && again.stacks_n == trace->stacks_n && !replay.dropped)
		take_figures(trace, &replay);
	if (!error)
		replay_clear(&replay);
	trace_close(&again);
	return error;
}
