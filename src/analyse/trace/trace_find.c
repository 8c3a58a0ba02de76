/* Look-ups in an open trace: by device, thread, pool or time. */
#include "analyse/trace/trace.h"

#include "analyse/input/grow.h"
#include "base/mem/sort.h"
#include "base/text/text.h"

const struct trace_device *trace_device(const struct trace *trace, int device)
{
	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		if (trace->summary.devices[i].device == device)
			return &trace->summary.devices[i];
	}
	return NULL;
}

size_t trace_position(const struct trace *trace, int device, unsigned space)
{
	const struct trace_device *row =
		space_on_card(device, space) ? trace_device(trace, device) : NULL;

	return row ? (size_t)(row - trace->summary.devices) : trace->summary.devices_n;
}

const struct trace_thread *trace_thread(const struct trace *trace, uint64_t thread)
{
	for (size_t i = trace->threads_n; i--;) {
		if (trace->threads[i].thread == thread)
			return &trace->threads[i];
	}
	return NULL;
}

const struct trace_peak *trace_peak(const struct trace *trace, int device, const char *pool,
				    enum trace_metric metric)
{
	for (size_t i = 0; i < trace->peaks_n; i++) {
		const struct trace_peak *peak = &trace->peaks[i];

		if (peak->device == device && peak->metric == (int)metric &&
		    text_same(peak->pool, pool))
			return peak;
	}
	return NULL;
}

const struct trace_curve *trace_curve(const struct trace *trace, int device, const char *pool)
{
	for (size_t i = 0; i < trace->timeline_n; i++) {
		if (trace->timeline[i].device == device && text_same(trace->timeline[i].pool, pool))
			return &trace->timeline[i];
	}
	return NULL;
}

uint64_t trace_curve_at(const struct trace_curve *curve, const uint64_t *column, uint64_t t)
{
	size_t until = sort_until(curve->t, curve->t_n, sizeof(*curve->t), 0, t);

	return column && until ? column[until - 1] : TRACE_NONE;
}

void trace_phase_walk(struct trace_phase_walk *walk, struct trace *trace)
{
	size_t size = (trace->phases_n + 1) * sizeof(uint32_t);

	*walk = (struct trace_phase_walk){ .open = need(&trace->arena, size),
					   .parents = need(&trace->arena, size) };
}

uint32_t trace_phase_at(struct trace_phase_walk *walk, const struct trace *trace, uint64_t t)
{
	const struct trace_phase *phases = trace->phases;

	for (;;) {
		bool next = walk->next < trace->phases_n && phases[walk->next].start <= t;
		/* Removes phases that ended before the next phase begins. */
		uint64_t now = next ? phases[walk->next].start : t;
		uint32_t top;

		while (walk->open_n && phases[walk->open[walk->open_n - 1]].end <= now)
			walk->open_n--;
		top = walk->open_n ? walk->open[walk->open_n - 1] + 1 : 0;
		if (!next)
			return top;
		walk->parents[walk->next] = top;
		walk->open[walk->open_n++] = (uint32_t)walk->next++;
	}
}
