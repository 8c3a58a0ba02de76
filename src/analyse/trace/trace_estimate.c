/*
 * Replaces the samples in a sampled trace (MEMTRACE_SAMPLE) with estimates of all allocations.
 *
 * The trace has the samples' own bytes, a pseudo-stack with the bytes of all allocations that were
 * not sampled (so that everything sums to the totals), and an estimate for each site of all its
 * allocations. Totals, pools, events and the sizes of peaks stay as they are; the stacks of a peak
 * then add up to its size only approximately.
 */
#include <string.h>

#include "analyse/trace/trace.h"
#include "analyse/trace/trace_parts.h"
#include "codec/event.h"

/* True for the pseudo-stack of allocations not sampled. Other stacks' estimates include these. */
static bool is_rest(const struct trace *trace, const struct trace_stack *stack)
{
	const char *name = stack->frames_n == 1 && stack->frames[0] < trace->frames_n
				   ? trace->frames[stack->frames[0]].function
				   : NULL;

	return name && !strcmp(name, PSEUDO_NOT_SAMPLED);
}

static uint64_t scaled(uint64_t count, uint64_t estimated, uint64_t sampled)
{
	double value = sampled ? (double)count * (double)estimated / (double)sampled + 0.5 : 0;

	return value < (double)INT64_MAX ? (uint64_t)value : INT64_MAX;
}

static void estimate_stack(struct trace_stack *stack)
{
	/* Frees have no stacks in a sampled trace, so they would all count for one stack. */
	stack->frees_here = stack->freed_here_bytes = 0;
	stack->frees = scaled(stack->frees, stack->estimated_allocations, stack->allocations);
	stack->live_count =
		scaled(stack->live_count, stack->estimated_live_bytes, stack->live_bytes);
	stack->peak_count =
		scaled(stack->peak_count, stack->estimated_peak_bytes, stack->peak_bytes);
	stack->allocations = stack->estimated_allocations;
	stack->bytes = stack->estimated_bytes;
	stack->freed_bytes = stack->bytes > stack->estimated_live_bytes
				     ? stack->bytes - stack->estimated_live_bytes
				     : 0;
	stack->live_bytes = stack->estimated_live_bytes;
	stack->peak_bytes = stack->estimated_peak_bytes;
}

static void estimate_site(struct trace_site *site)
{
	site->frees = scaled(site->frees, site->estimated_allocations, site->allocations);
	site->allocations = site->estimated_allocations;
	site->bytes = site->estimated_bytes;
	site->live_bytes = site->estimated_live_bytes;
	site->peak_bytes = site->estimated_peak_bytes;
}

/* True if an allocation of the stack was sampled, or if it is the pseudo-stack of the others. */
static bool concerns(const struct trace *trace, const struct trace_stack *stack)
{
	return stack->estimated_allocations || stack->estimated_peak_bytes || is_rest(trace, stack);
}

static void estimate_peak(struct trace *trace, struct trace_peak *peak)
{
	size_t kept = 0;

	for (size_t i = 0; i < peak->stacks_n; i++) {
		struct trace_share share = peak->stacks[i];

		if (share.estimated_bytes && share.estimated_bytes != TRACE_NONE) {
			share.count = scaled(share.count, share.estimated_bytes, share.bytes);
			share.bytes = share.estimated_bytes;
		}
		if (!is_rest(trace, &trace->stacks[share.stack]))
			peak->stacks[kept++] = share;
	}
	peak->stacks_n = kept;
}

void trace_estimate(struct trace *trace)
{
	for (size_t i = 0; i < trace->sites_n; i++) {
		const struct trace_site *site = &trace->sites[i];
		bool any = false;

		for (size_t k = 0; k < site->stacks_n; k++)
			any = any || concerns(trace, &trace->stacks[site->stacks[k]]);
		if (any && site->estimated_bytes != TRACE_NONE)
			estimate_site(&trace->sites[i]);
	}
	for (size_t i = 0; i < trace->stacks_n; i++) {
		if (concerns(trace, &trace->stacks[i]))
			estimate_stack(&trace->stacks[i]);
	}
	for (size_t i = 0; i < trace->peaks_n; i++)
		estimate_peak(trace, &trace->peaks[i]);
}
