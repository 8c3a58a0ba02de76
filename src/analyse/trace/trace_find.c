/* A trace, opened: what of its facts is about a device, a thread, a pool or a moment. */
#include "analyse/trace/trace.h"
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
