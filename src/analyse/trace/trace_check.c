/* Checks that a trace is consistent: positions are in range, a curve's columns are equally long. */
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "analyse/trace/trace_parts.h"

/* Checks that from[i] refers to one of `size` elements of `to`. Returns 0 or -EINVAL. */
static int in_range(const struct trace *trace, const char *from, size_t i, const char *to,
		    uint32_t position, size_t size)
{
	if (position < size)
		return 0;
	return err("%s: %s[%zu] refers to %s[%u], but there are only %zu: the trace is damaged",
		   trace->path, from, i, to, position, size);
}

static int is_stack(const struct trace *trace, const char *from, size_t i, uint32_t stack)
{
	return stack == UINT32_MAX ? 0 : in_range(trace, from, i, "stacks", stack, trace->stacks_n);
}

static int check_frames(struct trace *trace)
{
	for (size_t i = 0; i < trace->frames_n; i++) {
		struct trace_frame *frame = &trace->frames[i];

		if (frame->module != UINT32_MAX &&
		    in_range(trace, "frames", i, "modules", frame->module, trace->modules_n))
			return -EINVAL;
		if (frame->function && !frame->function[0])
			frame->function = NULL;
	}
	for (size_t i = 0; i < trace->threads_n; i++) {
		if (!trace->threads[i].name)
			trace->threads[i].name = "?";
	}
	return 0;
}

static int check_stacks(const struct trace *trace)
{
	for (size_t i = 0; i < trace->stacks_n; i++) {
		struct trace_stack *stack = &trace->stacks[i];

		stack->number = (uint32_t)i;
		for (size_t k = 0; k < stack->frames_n; k++) {
			if (in_range(trace, "stacks", i, "frames", stack->frames[k],
				     trace->frames_n))
				return -EINVAL;
		}
		for (size_t k = 0; k < stack->entries_n; k++) {
			if (in_range(trace, "stacks", i, "its frames", stack->entries[k],
				     stack->frames_n))
				return -EINVAL;
		}
		if (is_stack(trace, "stacks", i, stack->via_stack))
			return -EINVAL;
	}
	return 0;
}

static int check_spans(struct trace *trace)
{
	for (size_t i = 0; i < trace->actions_n; i++) {
		struct trace_action *action = &trace->actions[i];

		action->kind = action->kind ? action->kind : "?";
		action->name = action->name ? action->name : "?";
	}
	for (size_t i = 0; i < trace->spans_n; i++) {
		if (in_range(trace, "spans", i, "actions", trace->spans[i].action,
			     trace->actions_n))
			return -EINVAL;
	}
	return 0;
}

static int check_shares(const struct trace *trace, const char *from, size_t i,
			const struct trace_share *shares, size_t count)
{
	for (size_t k = 0; k < count; k++) {
		if (in_range(trace, from, i, "stacks", shares[k].stack, trace->stacks_n))
			return -EINVAL;
	}
	return 0;
}

static int check_moments(const struct trace *trace)
{
	for (size_t i = 0; i < trace->peaks_n; i++) {
		if (check_shares(trace, "peaks", i, trace->peaks[i].stacks,
				 trace->peaks[i].stacks_n))
			return -EINVAL;
	}
	for (size_t i = 0; i < trace->ooms_n; i++) {
		const struct trace_oom *oom = &trace->ooms[i];

		if (is_stack(trace, "ooms", i, oom->stack) ||
		    check_shares(trace, "ooms", i, oom->stacks, oom->stacks_n))
			return -EINVAL;
	}
	for (size_t i = 0; i < trace->used_n; i++) {
		if (is_stack(trace, "used", i, trace->used[i].stack))
			return -EINVAL;
	}
	return 0;
}

static int check_sites(struct trace *trace)
{
	trace->site_of = need(&trace->arena, (trace->stacks_n + 1) * sizeof(uint32_t));
	memset(trace->site_of, 0xff, trace->stacks_n * sizeof(uint32_t));
	for (size_t i = 0; i < trace->sites_n; i++) {
		struct trace_site *site = &trace->sites[i];

		if (!site->site)
			site->site = "?";
		if (!site->space)
			site->space = "device";
		for (size_t k = 0; k < site->stacks_n; k++) {
			if (in_range(trace, "sites", i, "stacks", site->stacks[k], trace->stacks_n))
				return -EINVAL;
			trace->site_of[site->stacks[k]] = (uint32_t)i;
		}
	}
	return 0;
}

/* In a baseline, where each call site has one stack, gives the stack the site's sums. */
static void tell_stacks(const struct trace *trace)
{
	for (size_t i = 0; trace->capture.baseline && i < trace->sites_n; i++) {
		const struct trace_site *site = &trace->sites[i];
		struct trace_stack *stack = site->stacks_n ? &trace->stacks[site->stacks[0]] : NULL;

		if (!stack)
			continue;
		stack->allocations = site->allocations;
		stack->frees = site->frees;
		stack->bytes = site->bytes;
		stack->live_bytes = site->live_bytes;
		stack->live_count =
			site->allocations > site->frees ? site->allocations - site->frees : 0;
		stack->peak_bytes = site->peak_bytes;
	}
}

static int check_curves(const struct trace *trace)
{
	for (size_t i = 0; i < trace->timeline_n; i++) {
		const struct trace_curve *curve = &trace->timeline[i];

		if (curve->allocated_n != curve->t_n || curve->reserved_n != curve->t_n ||
		    (curve->used_n && curve->used_n != curve->t_n))
			return err("%s: damaged: timeline[%zu] has columns of different lengths",
				   trace->path, i);
	}
	return 0;
}

/* Gives a length of 0 ns to phases that end before they begin, in a damaged trace. */
static void check_phases(const struct trace *trace)
{
	for (size_t i = 0; i < trace->phases_n; i++) {
		struct trace_phase *phase = &trace->phases[i];

		if (phase->end < phase->start)
			phase->end = phase->start;
	}
}

int trace_check(struct trace *trace)
{
	if (check_frames(trace) || check_stacks(trace) || check_spans(trace) ||
	    check_moments(trace) || check_sites(trace) || check_curves(trace))
		return -EINVAL;
	check_phases(trace);
	tell_stacks(trace);
	trace_extend_backward(trace);
	return 0;
}
