#include "analyse/findings/event_scan.h"

#include "analyse/input/grow.h"
#include "base/text/text.h"

static uint32_t site_of(const struct event_scan *survey, const struct event *event)
{
	const struct trace *trace = survey->trace;
	uint32_t site = event->stack < trace->stacks_n ? trace->site_of[event->stack] : UINT32_MAX;

	return site < trace->sites_n ? site : (uint32_t)trace->sites_n;
}

static struct event_scan_bucket *bucket_of(struct event_scan *survey, uint64_t size)
{
	return &survey->buckets[size ? 63 - __builtin_clzll(size) : 0];
}

/* --- short-lived blocks --- */

/* Records a new peak of the device, if any, and empties `corpses`: their blocks were freed before
 * the new peak. */
static void see_peak(struct event_scan *survey, const struct event *event, uint32_t device)
{
	struct event_scan_device *to = &survey->devices[device];

	if (event->allocated == TRACE_NONE || event->allocated <= to->peak)
		return;
	to->peak = event->allocated;
	to->peak_seq = event->seq;
	to->corpses.count = 0;
}

static void see_death(struct event_scan *survey, const struct event_scan_birth *birth,
		      const struct block *block, uint64_t t)
{
	struct event_scan_deaths *deaths = &survey->devices[birth->device].deaths;

	if (deaths->count == SURVEY_SHORT_LIVED)
		return;
	deaths->list[deaths->count++] = (struct event_scan_death){
		.size = block->size,
		.lifetime = t > block->t ? t - block->t : 0,
		.site = birth->site,
		.at_peak = block->seq <= survey->devices[birth->device].peak_seq &&
			   birth->device < survey->trace->summary.devices_n,
	};
}

/* Called when the device allocates: the blocks in `deaths` are now known to be short-lived. */
static void count_short_lived(struct event_scan *survey, uint32_t device)
{
	struct event_scan_deaths *deaths = &survey->devices[device].deaths;
	struct event_scan_deaths *corpses = &survey->devices[device].corpses;

	foreach (death, deaths->list, deaths->count) {
		struct event_scan_short_lived *to = &survey->short_lived[death->site];

		if (!to->count || death->lifetime < to->min_ns)
			to->min_ns = death->lifetime;
		to->sum_ns += death->lifetime;
		to->count++;
		to->bytes += death->size;
		if (death->at_peak && corpses->count < SURVEY_SHORT_LIVED)
			corpses->list[corpses->count++] = *death;
	}
	deaths->count = 0;
}

static void sum_corpses(struct event_scan *survey)
{
	foreach (device, survey->devices, survey->trace->summary.devices_n) {
		foreach (corpse, device->corpses.list, device->corpses.count) {
			survey->short_lived[corpse->site].at_peak += corpse->size;
			device->at_peak += corpse->size;
			if (corpse->size <= device->largest)
				continue;
			device->largest = corpse->size;
			device->largest_site = corpse->site;
		}
	}
}

/* --- events --- */

/* Adds a live block of this size to its bucket (`sign` 1), or removes it (-1). */
static void count_live(struct event_scan *survey, uint64_t size, int sign)
{
	struct event_scan_bucket *bucket = bucket_of(survey, size);

	bucket->live_count += (uint64_t)sign;
	bucket->live_bytes += sign > 0 ? size : 0 - size;
}

static void end_life(struct event_scan *survey, uint64_t t)
{
	const struct block *block = &survey->lives.ended;
	const struct event_scan_birth *birth = &survey->births[survey->lives.ended_id - 1];

	count_live(survey, block->size, -1);
	survey->frees++;
	event_scan_growth_death(survey, birth->site, block);
	if (survey->devices[birth->device].ordinal - birth->ordinal < SURVEY_SHORT_LIVED)
		see_death(survey, birth, block, t);
}

static void begin_life(struct event_scan *survey, const struct event *event)
{
	uint32_t site = site_of(survey, event);
	uint32_t device = (uint32_t)trace_position(survey->trace, event->device, event->space);
	struct event_scan_bucket *bucket = bucket_of(survey, event->size);

	count_short_lived(survey, device);
	NEED(GROW_TO(survey->births, survey->lives.blocks.size, survey->births_n));
	survey->births[survey->lives.begun_id - 1] =
		(struct event_scan_birth){ ++survey->devices[device].ordinal, site, device };
	bucket->count++;
	bucket->bytes += event->size;
	count_live(survey, event->size, 1);
	survey->held[site].live += event->size;
	survey->held[site].young += event->size;
	see_peak(survey, event, device);
}

static void forget_life(struct event_scan *survey, const struct event *event)
{
	survey->gap_seq = event->seq;
	foreach (bucket, survey->buckets, SURVEY_BUCKETS)
		bucket->live_count = bucket->live_bytes = 0;
	event_scan_growth_forget(survey);
}

/* True if the program asked for the release, by a function like empty_cache(), or if the stack is
 * unknown. False if PyTorch's allocator released the segment by itself, at a limit or threshold. */
static bool program_asked(const struct trace *trace, const struct event *event)
{
	const struct trace_stack *stack =
		event->stack < trace->stacks_n ? &trace->stacks[event->stack] : NULL;

	if (!stack || !stack->frames_n)
		return true;
	foreach (frame, stack->frames) {
		const char *function = trace->frames[*frame].function;

		if (function && (strstr(function, "empty_cache") || strstr(function, "emptyCache")))
			return true;
	}
	return false;
}

static void see_segment(struct event_scan *survey, const struct event *event)
{
	bool retry = event->op == EVENT_MARK &&
		     text_same(trace_text(survey->trace, event->name), "allocation retry");

	survey->reserves += event->op == EVENT_RESERVE;
	survey->releases += event->op == EVENT_RELEASE;
	survey->forced += event->op == EVENT_RELEASE &&
			  (survey->refused || !program_asked(survey->trace, event));
	if (event->op == EVENT_OOM || retry)
		survey->refused = true;
	else if (event->op == EVENT_ALLOC || event->op == EVENT_FREE || event->op == EVENT_RESERVE)
		survey->refused = false;
}

void event_scan_event(struct event_scan *survey, const struct event *event)
{
	struct lives *lives = &survey->lives;

	/* First records what sites held at the ends of steps before this event. If events are
	 * missing before it, forget_life() then drops these values: after a gap, each site's
	 * series (growth.h) begins anew. */
	event_scan_growth_time(survey, event->seq, event->t);
	if (lives_gap(lives, event))
		forget_life(survey, event);
	NEED(!lives_take(lives, event, NULL));
	if (lives->ended_id && lives_used(&lives->ended))
		end_life(survey, event->t);
	if (lives->begun_id && lives_used(&lives->begun))
		begin_life(survey, event);
	if (event->op == EVENT_OOM && survey->failures_n < SURVEY_FAILURES)
		survey->failures[survey->failures_n++] = *event;
	see_segment(survey, event);
	survey->events++;
}

/* --- the scan as a whole --- */

void event_scan_start(struct event_scan *survey, struct trace *trace)
{
	size_t devices = trace->summary.devices_n + 1;

	*survey = (struct event_scan){ .trace = trace };
	lives_start(&survey->lives, trace->capture.events_filtered);
	survey->devices = need(&survey->arena, devices * sizeof(*survey->devices));
	survey->short_lived =
		need(&survey->arena, event_scan_rows(survey) * sizeof(*survey->short_lived));
	event_scan_growth_start(survey);
}

void event_scan_end(struct event_scan *survey)
{
	event_scan_growth_time(survey, survey->lives.next_seq, UINT64_MAX);
	sum_corpses(survey);
	event_scan_growth_end(survey);
}

void event_scan_clear(struct event_scan *survey)
{
	lives_clear(&survey->lives);
	free(survey->births);
	arena_clear(&survey->arena);
	*survey = (struct event_scan){ 0 };
}

bool event_scan_knows_peak(const struct event_scan *survey, const struct trace *trace,
			   size_t device)
{
	return !trace->capture.events_filtered &&
	       survey->devices[device].peak ==
		       trace->summary.devices[device].allocated.peak_bytes &&
	       survey->devices[device].peak_seq >= survey->gap_seq;
}
