/* Does what a trace says of itself hold together? Positions in range, columns of one length. */
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "analyse/trace/trace_parts.h"

static int out_of_range(const struct trace *trace, const char *from, size_t i, const char *to,
			uint64_t position, size_t size)
{
	return err("%s: %s[%zu] refers to %s[%llu], but there are %zu", trace->path, from, i, to,
		   (unsigned long long)position, size);
}

static int check_frames(struct trace *trace)
{
	for (size_t i = 0; i < trace->frames_n; i++) {
		struct trace_frame *frame = &trace->frames[i];

		if (frame->module != UINT32_MAX && frame->module >= trace->modules_n)
			return out_of_range(trace, "frames", i, "modules", frame->module,
					    trace->modules_n);
		if (frame->function && !frame->function[0])
			frame->function = NULL;
	}
	for (size_t i = 0; i < trace->stacks_n; i++) {
		struct trace_stack *stack = &trace->stacks[i];

		stack->number = (uint32_t)i;
		for (size_t k = 0; k < stack->frames_n; k++) {
			if (stack->frames[k] >= trace->frames_n)
				return out_of_range(trace, "stacks", i, "frames", stack->frames[k],
						    trace->frames_n);
		}
		for (size_t k = 0; k < stack->entries_n; k++) {
			if (stack->entries[k] >= stack->frames_n)
				return out_of_range(trace, "stacks", i, "its frames",
						    stack->entries[k], stack->frames_n);
		}
		if (stack->via_stack != UINT32_MAX && stack->via_stack >= trace->stacks_n)
			return out_of_range(trace, "stacks", i, "stacks", stack->via_stack,
					    trace->stacks_n);
	}
	for (size_t i = 0; i < trace->threads_n; i++) {
		if (!trace->threads[i].name)
			trace->threads[i].name = "?";
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
		if (trace->spans[i].action >= trace->actions_n)
			return out_of_range(trace, "spans", i, "actions", trace->spans[i].action,
					    trace->actions_n);
	}
	return 0;
}

static int check_peaks(const struct trace *trace)
{
	for (size_t i = 0; i < trace->peaks_n; i++) {
		const struct trace_peak *peak = &trace->peaks[i];

		for (size_t k = 0; k < peak->stacks_n; k++) {
			if (peak->stacks[k].stack >= trace->stacks_n)
				return out_of_range(trace, "peaks", i, "stacks",
						    peak->stacks[k].stack, trace->stacks_n);
		}
	}
	return 0;
}

static int check_ooms(const struct trace *trace)
{
	for (size_t i = 0; i < trace->ooms_n; i++) {
		const struct trace_oom *oom = &trace->ooms[i];

		if (oom->stack != UINT32_MAX && oom->stack >= trace->stacks_n)
			return out_of_range(trace, "ooms", i, "stacks", oom->stack,
					    trace->stacks_n);
		for (size_t k = 0; k < oom->stacks_n; k++) {
			if (oom->stacks[k].stack >= trace->stacks_n)
				return out_of_range(trace, "ooms", i, "stacks",
						    oom->stacks[k].stack, trace->stacks_n);
		}
	}
	return 0;
}

static int check_used(const struct trace *trace)
{
	for (size_t i = 0; i < trace->used_n; i++) {
		uint32_t stack = trace->used[i].stack;

		if (stack != UINT32_MAX && stack >= trace->stacks_n)
			return out_of_range(trace, "used", i, "stacks", stack, trace->stacks_n);
	}
	return 0;
}

static int check_sites(struct trace *trace)
{
	trace->site_of = arena_alloc(&trace->arena, (trace->stacks_n + 1) * sizeof(uint32_t));
	if (!trace->site_of)
		return err_no_memory(trace->path);
	memset(trace->site_of, 0xff, trace->stacks_n * sizeof(uint32_t));
	for (size_t i = 0; i < trace->sites_n; i++) {
		struct trace_site *site = &trace->sites[i];

		if (!site->site)
			site->site = "?";
		if (!site->space)
			site->space = "device";
		for (size_t k = 0; k < site->stacks_n; k++) {
			if (site->stacks[k] >= trace->stacks_n)
				return out_of_range(trace, "sites", i, "stacks", site->stacks[k],
						    trace->stacks_n);
			trace->site_of[site->stacks[k]] = (uint32_t)i;
		}
	}
	return 0;
}

/* A baseline has one stack a site, and says of it what it says of the site. */
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
			return err("%s: timeline[%zu] has columns of different lengths",
				   trace->path, i);
	}
	return 0;
}

/* A damaged phase that ends before it begins takes no time. */
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
	int error = check_frames(trace);

	if (!error)
		error = check_spans(trace);
	if (!error)
		error = check_peaks(trace);
	if (!error)
		error = check_ooms(trace);
	if (!error)
		error = check_used(trace);
	if (!error)
		error = check_sites(trace);
	if (!error)
		error = check_curves(trace);
	check_phases(trace);
	if (!error)
		tell_stacks(trace);
	if (!error)
		error = trace_extend_backward(trace);
	return error;
}
