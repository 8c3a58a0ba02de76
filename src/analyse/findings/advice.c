/* Finds the facts that advice depends on, and holds the texts of advice. */
#include "analyse/findings/advice.h"

#include <stdio.h>
#include <string.h>

#include "analyse/findings/event_scan.h"
#include "analyse/findings/leaks.h"
#include "analyse/trace/trace.h"
#include "codec/event.h"

/* --- facts --- */

static void find_sums(struct facts *facts, const struct trace *trace,
		      const struct trace_device *device)
{
	const struct trace_curve *curve = trace_curve(trace, device->device, NULL);
	uint64_t reserved = TRACE_NONE;
	uint64_t allocs = device->allocations;
	uint64_t frees = device->frees;

	facts->device = (uint64_t)device->device;
	facts->total = trace_known(device->total_bytes);
	facts->peak = trace_known(device->allocated.peak_bytes);
	facts->used = trace_known(device->used.peak_bytes);
	if (!facts->used)
		facts->used = trace_known(device->reserved.peak_bytes);
	if (curve)
		reserved = trace_curve_at(curve, curve->reserved, device->allocated.peak_t);
	facts->reserved = trace_known(reserved);
	if (facts->reserved > facts->peak)
		facts->cached = facts->reserved - facts->peak;
	facts->ooms = device->ooms;
	facts->retries = device->retries;
	foreach (pool, device->pools) {
		facts->torch |= pool->name && !strcmp(pool->name, "torch");
		allocs -= pool->allocations < allocs ? pool->allocations : allocs;
		frees -= pool->frees < frees ? pool->frees : frees;
	}
	/* `frees` also counts blocks that a pool took over, which no call freed. So each fact is
	 * the lower of two counts: by the device's events, and by calls. */
	facts->plain_allocs = allocs < facts->plain_allocs ? allocs : facts->plain_allocs;
	facts->plain_frees = frees < facts->plain_frees ? frees : facts->plain_frees;
}

/* If the trace has no device memory, sets `peak` to the largest peak of another memory kind. */
static void find_space(struct facts *facts, const struct trace *trace)
{
	foreach (space, trace->summary.spaces) {
		uint64_t peak = trace_known(space->allocated.peak_bytes);

		facts->peak = peak > facts->peak ? peak : facts->peak;
	}
}

/* Names of memory that has no stack by design: no call allocated it, or sampling left it out. */
static const char *const by_nature[] = { PSEUDO_GRAPH_MEMORY, PSEUDO_NOT_SAMPLED };

/* True if a stack should be known but is not: no frames, or only a name not in by_nature[]. */
static bool is_stackless(const struct trace *trace, const struct trace_stack *stack)
{
	const struct trace_frame *frame;

	if (!stack->frames_n)
		return true;
	frame = &trace->frames[stack->frames[0]];
	if (stack->frames_n > 1 || !trace_frame_named(frame))
		return false;
	foreach (kind, by_nature, COUNT_OF(by_nature)) {
		if (frame->function && !strcmp(frame->function, *kind))
			return false;
	}
	return true;
}

static void find_parts(struct facts *facts, const struct trace *trace,
		       const struct trace_device *device)
{
	const struct trace_peak *peak = trace_peak(trace, device->device, NULL, TRACE_ALLOCATED);

	for (size_t i = 0; peak && i < peak->stacks_n; i++) {
		const struct trace_share *share = &peak->stacks[i];
		const char *held = leaks_held(trace, share->stack);

		if (held && !strcmp(held, "cuBLAS workspace"))
			facts->workspace += share->bytes;
		if (is_stackless(trace, &trace->stacks[share->stack]))
			facts->stackless += share->bytes;
	}
}

static void find_process(struct facts *facts, const struct trace *trace)
{
	const struct trace_space *pinned = trace_space(trace, SPACE_PINNED);

	facts->python = trace->environment.python != NULL;
	facts->ended = trace->process.exit == TRACE_EXIT;
	facts->recorded = trace->capture.events_recorded;
	facts->dropped = trace_crowded_out(&trace->capture);
	facts->events = facts->max_events = facts->recorded + facts->dropped;
	foreach (setting, trace->environment.settings) {
		const char *value = setting->value;

		facts->expandable |= value && strstr(value, "expandable_segments:True");
	}
	if (pinned)
		facts->pinned = trace_known(pinned->allocated.peak_bytes);
}

/* True for the calls in driver_calls.def, except calls on stream-ordered pools ("...Async"). */
static bool is_driver_call(const char *api)
{
	static const char *const begin[] = {
#define DRIVER_CALL(name) name,
#include "analyse/findings/driver_calls.def"
#undef DRIVER_CALL
	};

	if (strstr(api, "Async"))
		return false;
	foreach (prefix, begin, COUNT_OF(begin)) {
		if (!strncmp(api, *prefix, strlen(*prefix)))
			return true;
	}
	return false;
}

static void find_calls(struct facts *facts, const struct trace *trace)
{
	facts->run = trace_known(trace->process.duration_ns);
	foreach (call, trace->calls) {
		if (!call->api || !is_driver_call(call->api))
			continue;
		if (!strstr(call->api, "Free"))
			facts->plain_allocs += call->calls - call->failed;
		else if (!strstr(call->api, "Host"))
			facts->plain_frees += call->calls - call->failed;
		facts->driver_calls += call->calls;
		facts->driver_time += call->total_ns;
		if (call->max_ns > facts->driver_long)
			facts->driver_long = call->max_ns;
	}
}

static void find_short_lived(struct facts *facts, const struct trace *trace,
			     const struct trace_device *device, const struct event_scan *survey)
{
	size_t i = device ? (size_t)(device - trace->summary.devices) : 0;

	if (!device || !event_scan_knows_peak(survey, trace, i))
		return;
	facts->short_lived = survey->devices[i].at_peak;
	facts->short_block = survey->devices[i].largest;
	if (survey->devices[i].largest_site < trace->sites_n)
		trace_site_text(trace, survey->devices[i].largest_site, facts->short_site,
				FACTS_WORDS);
}

/* Writes the text after "each" in advice about growth: "`step #`", or "64th of the run". */
static void step_text(const struct event_scan *survey, char *to, size_t size)
{
	if (survey->steps.name)
		snprintf(to, size, "`%s`", survey->steps.name);
	else
		snprintf(to, size, "%lluth of the run", (unsigned long long)survey->steps.count);
}

void facts_find(struct facts *facts, const struct trace *trace, const struct trace_device *device,
		uint64_t temporaries, const struct event_scan *survey, const struct leaks *leaks)
{
	*facts = (struct facts){ 0 };
	find_process(facts, trace);
	find_calls(facts, trace);
	facts->categorised = temporaries != TRACE_NONE;
	facts->temporaries = trace_known(temporaries);
	if (device) {
		find_sums(facts, trace, device);
		find_parts(facts, trace, device);
	}
	if (!facts->peak)
		find_space(facts, trace);
	if (survey) {
		find_short_lived(facts, trace, device, survey);
		facts->reserves = survey->reserves;
		facts->releases = survey->releases - survey->forced;
		if (survey->reserves > survey->releases)
			facts->segments = survey->reserves - survey->releases;
		facts->growing = survey->growth_n;
	}
	if (survey && survey->growth_n) {
		const struct event_scan_growth *first = &survey->growth[0];

		facts->growth = (uint64_t)(first->trend.slope + 0.5);
		facts->grown = first->trend.bytes;
		trace_site_text(trace, first->site, facts->growth_site, FACTS_WORDS);
		step_text(survey, facts->step, FACTS_WORDS);
	}
	facts->leak = leaks->bytes;
	facts->leak_blocks = leaks->blocks;
	if (leaks->count)
		trace_site_text(trace, leaks->list[0].site, facts->leak_site, FACTS_WORDS);
}

/* --- rules --- */

bool advice_applies(enum advice advice, const struct facts *f)
{
	switch (advice) {
#define ADVICE(name, condition, text) \
	case ADVICE_##name:           \
		return (condition);
#include "analyse/findings/advice.def"
	default:
		return false;
	}
}

static const struct {
	const char *name, *text;
} rules[] = {
#define ADVICE(name, condition, text) { #name, text },
#include "analyse/findings/advice.def"
};

const char *advice_name(enum advice advice)
{
	return rules[advice].name;
}

const char *advice_text(enum advice advice)
{
	return rules[advice].text;
}
