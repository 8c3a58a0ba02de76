/*
 * The steps of a program, at whose ends its memory is compared: phases of one name, or else
 * windows.
 *
 * Names are those of families (analyse/trace/phase_name.h). Of the names whose phases fill the most
 * time the one with the most phases is taken: steps rather than the epochs around them or the parts
 * inside.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/findings/event_scan_parts.h"
#include "analyse/input/texts.h"
#include "analyse/trace/phase_name.h"
#include "base/mem/map.h"

enum {
	WINDOWS = 64,
	WINDOW_LEAST = 16, /* events of a window, or there is nothing to compare */
};

struct group {
	uint64_t count, total_ns;
	uint32_t first; /* phase */
};

/* What the phases of a group have in common: numbers of texts, 0 without memory. */
static uint64_t group_key(struct texts *texts, struct arena *arena, const struct trace_phase *phase)
{
	char name[PHASE_FAMILY];
	size_t length = phase_family(name, sizeof(name), phase->name ? phase->name : "");
	uint32_t family = texts_enter(texts, arena, name, length);
	uint32_t domain = phase->domain
				  ? texts_enter(texts, arena, phase->domain, strlen(phase->domain))
				  : UINT32_MAX;

	return family && domain ? (uint64_t)domain << 32 | family : 0;
}

static bool is_better(const struct group *group, const struct group *best, uint64_t longest)
{
	if (group->count < GROWTH_LEAST || group->total_ns < longest / 2)
		return false;
	if (!best || group->count != best->count)
		return !best || group->count > best->count;
	return group->total_ns > best->total_ns;
}

/* The group of each phase goes to `of`. NULL without one that will do; *error as well. */
static const struct group *find_group(struct trace *trace, struct group *groups, uint32_t *of,
				      int *error)
{
	const struct group *best = NULL;
	struct map known = { NULL, 0 };
	struct texts texts = { 0 };
	uint64_t longest = 0;
	uint32_t count = 0;

	for (uint32_t i = 0; i < trace->phases_n; i++) {
		const struct trace_phase *phase = &trace->phases[i];
		uint64_t key = group_key(&texts, &trace->arena, phase);
		uint32_t id = map_get(&known, key);

		if (!id) {
			id = ++count;
			groups[id - 1].first = i;
			if (!key || !map_put(&known, key, id)) {
				*error = -ENOMEM;
				break;
			}
		}
		of[i] = id - 1;
		if (phase->end == TRACE_NONE || phase->end < phase->start)
			continue;
		groups[id - 1].count++;
		groups[id - 1].total_ns += phase->end - phase->start;
	}
	map_clear(&known);
	texts_clear(&texts);
	for (uint32_t i = 0; i < count; i++) {
		if (groups[i].count >= GROWTH_LEAST && groups[i].total_ns > longest)
			longest = groups[i].total_ns;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (is_better(&groups[i], best, longest))
			best = &groups[i];
	}
	return best;
}

static int compare_steps(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The ends of the group's phases, by time, of which each stride-th stays. */
static int take_ends(struct event_scan *survey, const struct group *group, const uint32_t *of,
		     uint32_t number, size_t most)
{
	const struct trace *trace = survey->own->trace;
	struct event_scan_steps *steps = &survey->steps;
	const char *first = trace->phases[group->first].name;
	char name[PHASE_FAMILY];
	uint64_t *ends = calloc(group->count, sizeof(*ends));
	size_t count = 0;

	if (!ends)
		return -ENOMEM;
	phase_family(name, sizeof(name), first ? first : "");
	for (size_t i = 0; i < trace->phases_n; i++) {
		const struct trace_phase *phase = &trace->phases[i];

		if (of[i] == number && phase->end != TRACE_NONE && phase->end >= phase->start)
			ends[count++] = phase->end;
	}
	qsort(ends, count, sizeof(*ends), compare_steps);
	steps->count = count;
	steps->stride = (count + most - 1) / most;
	for (size_t i = steps->stride - 1; i < count; i += steps->stride)
		ends[steps->values++] = ends[i];
	steps->ends = ends;
	steps->name = arena_text(&survey->own->trace->arena, name, strlen(name));
	return steps->name ? 0 : -ENOMEM;
}

static void take_windows(struct event_scan *survey, size_t most)
{
	const struct trace_capture *capture = &survey->own->trace->capture;
	uint64_t events = capture->events_recorded + capture->events_dropped;
	size_t windows = most < WINDOWS ? most : WINDOWS;

	survey->own->window = events / windows;
	if (survey->own->window < WINDOW_LEAST)
		return;
	survey->steps.count = survey->steps.values = windows;
	survey->steps.stride = 1;
}

int event_scan_choose_steps(struct event_scan *survey, size_t most)
{
	struct trace *trace = survey->own->trace;
	struct group *groups = calloc(trace->phases_n + 1, sizeof(*groups));
	uint32_t *of = calloc(trace->phases_n + 1, sizeof(*of));
	const struct group *best;
	int error = groups && of ? 0 : -ENOMEM;

	if (!error) {
		best = find_group(trace, groups, of, &error);
		if (!error && best)
			error = take_ends(survey, best, of, (uint32_t)(best - groups), most);
		else if (!error)
			take_windows(survey, most);
	}
	free(groups);
	free(of);
	return error;
}
