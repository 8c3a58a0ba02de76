/* Look-ups in an open trace: by device, thread, pool or time. */
#include "analyse/trace/trace.h"

#include <string.h>
#include <time.h>

#include "analyse/input/grow.h"
#include "base/mem/sort.h"
#include "base/text/text.h"
#include "facts/spool_model.h"

const struct trace_device *trace_device(const struct trace *trace, int device)
{
	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		if (trace->summary.devices[i].device == device)
			return &trace->summary.devices[i];
	}
	return NULL;
}

const struct trace_device *trace_worst_device(const struct trace *trace, int wanted)
{
	const struct trace_device *worst = NULL;

	foreach (device, trace->summary.devices) {
		if ((wanted == NO_DEVICE || device->device == wanted) &&
		    (!worst || trace_known(device->allocated.peak_bytes) >
				       trace_known(worst->allocated.peak_bytes)))
			worst = device;
	}
	return worst;
}

/* Reads a time such as "2026-11-21T02:03:04.123456789Z". */
uint64_t trace_start_ns(const struct trace *trace)
{
	const char *text = trace->process.start_time;
	struct tm tm = { 0 };
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	time_t seconds = rest ? timegm(&tm) : -1;
	uint64_t ns = 0, unit = 100000000;

	if (seconds < 0 || (uint64_t)seconds > UINT64_MAX / 1000000000 - 1)
		return TRACE_NONE;
	if (*rest == '.') {
		for (rest++; *rest >= '0' && *rest <= '9'; rest++, unit /= 10)
			ns += (uint64_t)(*rest - '0') * unit;
	}
	return (uint64_t)seconds * 1000000000 + ns;
}

size_t trace_program(const struct trace *trace, const char *names[2])
{
	const struct trace_process *process = &trace->process;

	if (!process->command_n)
		return 0;
	names[0] = text_base(process->command[0]);
	for (size_t i = 1; i < process->command_n && !strncmp(names[0], "python", 6); i++) {
		const char *word = process->command[i];

		if (!strcmp(word, "-c") || !strcmp(word, "-"))
			break;
		if (!strcmp(word, "-W") || !strcmp(word, "-X")) {
			i++;
		} else if (word[0] != '-') {
			names[1] = text_base(word);
			return 2;
		}
	}
	return 1;
}

uint64_t trace_ooms(const struct trace *trace, int device)
{
	const struct trace_summary *summary = &trace->summary;
	uint64_t ooms = 0;

	for (size_t i = 0; i < summary->devices_n; i++) {
		if (device == NO_DEVICE || summary->devices[i].device == device)
			ooms += summary->devices[i].ooms;
	}
	return ooms;
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

const struct trace_space *trace_space(const struct trace *trace, unsigned space)
{
	for (size_t i = 0; i < trace->summary.spaces_n; i++) {
		if (text_same(trace->summary.spaces[i].space, space_name(space)))
			return &trace->summary.spaces[i];
	}
	return NULL;
}

/* Returns the sum of this kind of memory, NULL if the kind has no sum of its own: a device's sum
 * includes arrays, and for arrays' stacks only the bytes at the peak of the device are known. */
static const struct trace_sum *space_sum(const struct trace *trace, unsigned space)
{
	const struct trace_summary *summary = &trace->summary;
	const struct trace_space *row = trace_space(trace, space);

	if (space != SPACE_DEVICE)
		return row && space != SPACE_ARRAY ? &row->allocated : NULL;
	return summary->devices_n == 1 && !trace_space(trace, SPACE_ARRAY)
		       ? &summary->devices[0].allocated
		       : NULL;
}

bool trace_is_of(const struct trace *trace, size_t stack, unsigned space)
{
	uint32_t site = trace->site_of[stack];

	return site != UINT32_MAX && text_same(trace->sites[site].space, space_name(space));
}

struct trace_peak *trace_space_peak(struct trace *trace, unsigned space)
{
	const struct trace_sum *sum = space_sum(trace, space);
	struct trace_peak *peak;

	if (!sum || !trace_known(sum->peak_bytes))
		return NULL;
	peak = need(&trace->arena, sizeof(*peak));
	*peak = (struct trace_peak){
		.device = NO_DEVICE,
		.metric = TRACE_ALLOCATED,
		.t = sum->peak_t,
		.bytes = sum->peak_bytes,
		.stacks = need(&trace->arena, (trace->stacks_n + 1) * sizeof(*peak->stacks)),
	};
	for (uint32_t i = 0; i < trace->stacks_n; i++) {
		const struct trace_stack *stack = &trace->stacks[i];

		if (!stack->peak_bytes || !trace_is_of(trace, i, space))
			continue;
		peak->count += stack->peak_count;
		peak->stacks[peak->stacks_n++] = (struct trace_share){ .stack = i,
								       .bytes = stack->peak_bytes,
								       .count = stack->peak_count,
								       .live = stack->live_bytes };
	}
	shares_sort(peak->stacks, peak->stacks_n);
	return peak;
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
