/* One pass over a trace's events: temporaries, sizes, failures; growth has files of its own. */
#include "analyse/findings/event_scan.h"

#include <errno.h>
#include <stdlib.h>

#include "analyse/findings/event_scan_parts.h"
#include "analyse/input/error.h"

static uint32_t site_of(const struct survey *survey, const struct event *event)
{
	const struct trace *trace = survey->own->trace;
	uint32_t site = event->stack < trace->stacks_n ? trace->site_of[event->stack] : UINT32_MAX;

	return site < trace->sites_n ? site : (uint32_t)trace->sites_n;
}

/* The device's position; the one behind the last is for memory of no device. */
static uint32_t device_of(const struct survey *survey, const struct event *event)
{
	const struct trace *trace = survey->own->trace;
	uint32_t i = 0;

	if (!space_on_card(event->device, event->space))
		return (uint32_t)trace->summary.devices_n;
	while (i < trace->summary.devices_n && trace->summary.devices[i].device != event->device)
		i++;
	return i;
}

static struct survey_bucket *bucket_of(struct survey *survey, uint64_t size)
{
	return &survey->buckets[size ? 63 - __builtin_clzll(size) : 0];
}

/* --- temporaries --- */

/* A peak of the device is now: what ended before was not in it. */
static void see_peak(struct survey *survey, const struct event *event, uint32_t device)
{
	struct survey_device *to = &survey->devices[device];

	if (event->allocated == TRACE_NONE || event->allocated <= to->peak)
		return;
	to->peak = event->allocated;
	to->peak_seq = event->seq;
	survey->own->corpses[device].count = 0;
}

static void see_death(struct survey *survey, const struct survey_birth *birth,
		      const struct block *block, uint64_t t)
{
	struct survey_deaths *deaths = &survey->own->deaths[birth->device];

	if (deaths->count == SURVEY_TEMPORARY)
		return;
	deaths->list[deaths->count++] = (struct survey_death){
		.size = block->size,
		.lifetime = t > block->t ? t - block->t : 0,
		.site = birth->site,
		.at_peak = block->seq <= survey->devices[birth->device].peak_seq &&
			   birth->device < survey->own->trace->summary.devices_n,
	};
}

/* The device allocates again: what was freed soon before that was temporary. */
static void count_temporaries(struct survey *survey, uint32_t device)
{
	struct survey_deaths *deaths = &survey->own->deaths[device];
	struct survey_corpses *corpses = &survey->own->corpses[device];

	for (size_t i = 0; i < deaths->count; i++) {
		const struct survey_death *death = &deaths->list[i];
		struct survey_temporaries *to = &survey->temporaries[death->site];

		if (!to->count || death->lifetime < to->min_ns)
			to->min_ns = death->lifetime;
		to->sum_ns += death->lifetime;
		to->count++;
		to->bytes += death->size;
		if (death->at_peak && corpses->count < SURVEY_TEMPORARY)
			corpses->list[corpses->count++] =
				(struct survey_corpse){ death->size, death->site };
	}
	deaths->count = 0;
}

static void sum_corpses(struct survey *survey)
{
	for (size_t i = 0; i < survey->own->trace->summary.devices_n; i++) {
		const struct survey_corpses *corpses = &survey->own->corpses[i];

		for (size_t k = 0; k < corpses->count; k++) {
			const struct survey_corpse *corpse = &corpses->list[k];
			struct survey_device *device = &survey->devices[i];

			survey->temporaries[corpse->site].at_peak += corpse->size;
			device->at_peak += corpse->size;
			if (corpse->size <= device->largest)
				continue;
			device->largest = corpse->size;
			device->largest_site = corpse->site;
		}
	}
}

/* --- events --- */

static struct block block_of(const struct event *event)
{
	return (struct block){
		.ptr = event->ptr,
		.size = event->size,
		.seq = event->seq,
		.t = event->t,
		.pool = event->pool,
		.device = event->device,
		.space = event->space,
		.kind = BLOCK_HANDED,
	};
}

static void end_block(struct survey *survey, uint32_t id, uint64_t t)
{
	struct block block = survey->own->blocks.list[id - 1];
	const struct survey_birth *birth = &survey->own->births[id - 1];
	struct survey_bucket *bucket = bucket_of(survey, block.size);

	blocks_end(&survey->own->blocks, id);
	bucket->live_count--;
	bucket->live_bytes -= block.size;
	survey->frees++;
	survey_growth_death(survey, birth->site, &block);
	if (survey->devices[birth->device].ordinal - birth->ordinal < SURVEY_TEMPORARY)
		see_death(survey, birth, &block, t);
}

static int grow_births(struct survey_own *own)
{
	struct survey_birth *births;

	if (own->births_n >= own->blocks.size)
		return 0;
	births = reallocarray(own->births, own->blocks.size, sizeof(*births));
	if (!births)
		return -ENOMEM;
	own->births = births;
	own->births_n = own->blocks.size;
	return 0;
}

static int begin(struct survey *survey, const struct event *event)
{
	struct survey_own *own = survey->own;
	struct block block = block_of(event);
	uint32_t site = site_of(survey, event);
	uint32_t device = device_of(survey, event);
	struct survey_bucket *bucket = bucket_of(survey, block.size);
	uint32_t stale = blocks_find(&own->blocks, &block);

	if (stale)
		end_block(survey, stale, event->t);
	count_temporaries(survey, device);
	if (blocks_add(&own->blocks, &block) || grow_births(own))
		return -ENOMEM;
	own->births[blocks_find(&own->blocks, &block) - 1] =
		(struct survey_birth){ ++survey->devices[device].ordinal, site, device };
	bucket->count++;
	bucket->bytes += block.size;
	bucket->live_count++;
	bucket->live_bytes += block.size;
	survey_growth_birth(survey, site, block.size);
	see_peak(survey, event, device);
	return 0;
}

static void end(struct survey *survey, const struct event *event)
{
	struct block block = block_of(event);
	uint32_t id = blocks_find(&survey->own->blocks, &block);

	if (id)
		end_block(survey, id, event->t);
}

static void forget(struct survey *survey, const struct event *event)
{
	survey->dropped += event->seq - survey->own->next_seq;
	survey->own->gap_seq = event->seq;
	blocks_forget(&survey->own->blocks);
	for (size_t i = 0; i < SURVEY_BUCKETS; i++)
		survey->buckets[i].live_count = survey->buckets[i].live_bytes = 0;
	survey_growth_forget(survey);
}

int survey_event(struct survey *survey, const struct event *event)
{
	int error = 0;

	/* Steps that end among missing events must lie in front of what is looked at. */
	survey_growth_time(survey, event->seq, event->t);
	if (event->seq != survey->own->next_seq)
		forget(survey, event);
	if (event->op == EVENT_ALLOC && event->ptr && !(event->flags & EVENT_FOREIGN))
		error = begin(survey, event);
	else if (event->op == EVENT_FREE && event->ptr && !(event->flags & EVENT_FOREIGN))
		end(survey, event);
	else if (event->op == EVENT_OOM && survey->failures_n < SURVEY_FAILURES)
		survey->failures[survey->failures_n++] = *event;
	survey->reserves += event->op == EVENT_RESERVE;
	survey->releases += event->op == EVENT_RELEASE;
	survey->own->next_seq = event->seq + 1;
	survey->events++;
	return error;
}

/* --- the pass --- */

int survey_start(struct survey *survey, struct trace *trace)
{
	size_t devices = trace->summary.devices_n + 1;

	*survey = (struct survey){ .own = calloc(1, sizeof(*survey->own)) };
	if (!survey->own)
		return -ENOMEM;
	survey->own->trace = trace;
	blocks_init(&survey->own->blocks, false);
	survey->own->corpses = calloc(devices, sizeof(*survey->own->corpses));
	survey->own->deaths = calloc(devices, sizeof(*survey->own->deaths));
	survey->devices = calloc(devices, sizeof(*survey->devices));
	survey->temporaries = calloc(survey_rows(survey), sizeof(*survey->temporaries));
	if (!survey->own->corpses || !survey->own->deaths || !survey->devices ||
	    !survey->temporaries)
		return -ENOMEM;
	return survey_growth_start(survey);
}

int survey_end(struct survey *survey)
{
	survey_growth_time(survey, survey->own->next_seq, UINT64_MAX);
	sum_corpses(survey);
	return survey_growth_end(survey);
}

void survey_clear(struct survey *survey)
{
	if (survey->own) {
		blocks_clear(&survey->own->blocks);
		free(survey->own->births);
		free(survey->own->corpses);
		free(survey->own->deaths);
		free(survey->own->held);
		free(survey->own->live);
		free(survey->own->old);
		free(survey->own->seqs);
	}
	free(survey->own);
	free(survey->devices);
	free(survey->temporaries);
	free(survey->growth);
	free(survey->steps.ends);
	*survey = (struct survey){ 0 };
}

bool survey_knows_peak(const struct survey *survey, const struct trace *trace, size_t device)
{
	return !trace->capture.events_filtered &&
	       survey->devices[device].peak ==
		       trace->summary.devices[device].allocated.peak_bytes &&
	       (!survey->dropped || survey->devices[device].peak_seq >= survey->own->gap_seq);
}
