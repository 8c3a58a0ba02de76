/*
 * Records the bytes that each call site holds after each step, for growth_find().
 *
 * There are two series per site. `live` has all bytes that the site holds (for windows of events,
 * the lowest number in the window, since a window may begin anywhere in a step). `old` has only the
 * bytes that have outlived a whole step. Batches of changing size do not show in `old`, so that
 * even a leak of a thousandth of the site's bytes per step can be found.
 *
 * Steps are the phases with one name, or else windows of events. Names that differ only in numbers
 * count as one name (analyse/trace/phase_name.h). Of the names whose phases last at least half as
 * long in total as those of any other, the one with the most phases is taken: steps, not epochs.
 */
#include "analyse/findings/event_scan.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/input/string_table.h"
#include "analyse/trace/phase_name.h"
#include "base/mem/map.h"

enum {
	ROOM = 64 << 20,           /* bytes of memory for the values */
	FEWEST = 2 * GROWTH_LEAST, /* minimum number of values, even if they need more than ROOM */

	/* A program that frees nothing may just be loading data. So growth of a site is reported
	 * only if the program frees at least this many blocks for each one that the site keeps. */
	FREES_OF_PHASES = 1,
	FREES_OF_WINDOWS = 4,

	WINDOWS = 64,      /* number of windows in a run, at most */
	WINDOW_LEAST = 16, /* the least number of events in a window */
};

/* The blocks of a site that were allocated after the warm-up and are live at the end. */
struct born {
	uint64_t bytes[GROWTH_QUARTERS]; /* allocated in each quarter of the time */
	uint64_t count;
};

/* --- steps --- */

struct group {
	uint64_t count, total_ns;
	uint32_t first; /* position of the group's first phase in the trace */
};

/* Returns the key of a phase's group, made of the numbers of its phase_family() and NVTX domain. */
static uint64_t group_key(struct texts *texts, struct arena *arena, const struct trace_phase *phase)
{
	char name[PHASE_FAMILY];
	size_t length = phase_family(name, sizeof(name), phase->name ? phase->name : "");
	uint32_t family = texts_enter(texts, arena, name, length);
	uint32_t domain = phase->domain
				  ? texts_enter(texts, arena, phase->domain, strlen(phase->domain))
				  : UINT32_MAX;

	NEED(family && domain);
	return (uint64_t)domain << 32 | family;
}

static bool is_better(const struct group *group, const struct group *best, uint64_t longest)
{
	if (group->count < GROWTH_LEAST || group->total_ns < longest / 2)
		return false;
	if (!best || group->count != best->count)
		return !best || group->count > best->count;
	return group->total_ns > best->total_ns;
}

/* Returns the group whose phases are the steps, or NULL. Sets of[i] to phase i's group. */
static const struct group *find_group(struct trace *trace, struct group *groups, uint32_t *of)
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
			NEED(map_put(&known, key, id));
		}
		of[i] = id - 1;
		if (phase->end == TRACE_NONE || phase->end < phase->start)
			continue;
		groups[id - 1].count++;
		groups[id - 1].total_ns += phase->end - phase->start;
	}
	map_clear(&known);
	texts_clear(&texts);
	foreach (group, groups, count) {
		if (group->count >= GROWTH_LEAST && group->total_ns > longest)
			longest = group->total_ns;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (is_better(&groups[i], best, longest))
			best = &groups[i];
	}
	return best;
}

/* Sorts the ends of the phases in group `number`, and keeps every `stride`-th, at most `most`. */
static void take_ends(struct event_scan *survey, const struct group *group, const uint32_t *of,
		      uint32_t number, size_t most)
{
	const struct trace *trace = survey->trace;
	struct event_scan_steps *steps = &survey->steps;
	const char *first = trace->phases[group->first].name;
	char name[PHASE_FAMILY];
	uint64_t *ends = need(&survey->arena, group->count * sizeof(*ends));
	size_t count = 0;

	phase_family(name, sizeof(name), first ? first : "");
	for (size_t i = 0; i < trace->phases_n; i++) {
		const struct trace_phase *phase = &trace->phases[i];

		if (of[i] == number && phase->end != TRACE_NONE && phase->end >= phase->start)
			ends[count++] = phase->end;
	}
	growth_sort(ends, count);
	steps->count = count;
	steps->stride = (count + most - 1) / most;
	for (size_t i = steps->stride - 1; i < count; i += steps->stride)
		ends[steps->values++] = ends[i];
	steps->ends = ends;
	steps->name = need_text(&survey->arena, name);
}

static void take_windows(struct event_scan *survey, size_t most)
{
	const struct trace_capture *capture = &survey->trace->capture;
	uint64_t events = capture->events_recorded + capture->events_dropped;
	size_t windows = most < WINDOWS ? most : WINDOWS;

	survey->window = events / windows;
	if (survey->window < WINDOW_LEAST)
		return;
	survey->steps.count = survey->steps.values = windows;
	survey->steps.stride = 1;
}

/* Uses phases as steps, or windows of events if no phases fit, with at most `most` values. */
static void choose_steps(struct event_scan *survey, size_t most)
{
	struct trace *trace = survey->trace;
	struct group *groups = NEED_ROOM(&survey->arena, groups, trace->phases_n);
	uint32_t *of = NEED_ROOM(&survey->arena, of, trace->phases_n);
	const struct group *best = find_group(trace, groups, of);

	if (best)
		take_ends(survey, best, of, (uint32_t)(best - groups), most);
	else
		take_windows(survey, most);
}

/* --- values --- */

static bool in_windows(const struct event_scan *survey)
{
	return !survey->steps.name;
}

void event_scan_growth_start(struct event_scan *survey)
{
	struct arena *arena = &survey->arena;
	size_t rows = event_scan_rows(survey);
	size_t most = ROOM / (2 * sizeof(*survey->live)) / rows;
	size_t cells;

	if (most < FEWEST)
		most = FEWEST;
	choose_steps(survey, most < GROWTH_MOST ? most : GROWTH_MOST);
	cells = rows * survey->steps.values + 1;
	survey->held = need(arena, rows * sizeof(*survey->held));
	survey->live = need(arena, cells * sizeof(*survey->live));
	survey->old = need(arena, cells * sizeof(*survey->old));
	survey->seqs = NEED_ROOM(arena, survey->seqs, survey->steps.values);
}

static void take_values(struct event_scan *survey, uint64_t seq)
{
	size_t at = survey->steps.taken++;

	for (size_t i = 0; i < event_scan_rows(survey); i++) {
		struct event_scan_held *held = &survey->held[i];
		size_t cell = i * survey->steps.values + at;

		survey->live[cell] = in_windows(survey) ? held->low : held->live;
		survey->old[cell] = held->live - held->young;
		held->young = 0;
		held->low = held->live;
	}
	survey->seqs[at] = seq;
	survey->young_seq = seq;
	if (at == survey->steps.first)
		survey->frees_warm = survey->frees;
}

static bool is_over(const struct event_scan *survey, uint64_t seq, uint64_t t)
{
	const struct event_scan_steps *steps = &survey->steps;

	if (steps->taken == steps->values)
		return false;
	return steps->ends ? t > steps->ends[steps->taken]
			   : seq >= (steps->taken + 1) * survey->window;
}

void event_scan_growth_time(struct event_scan *survey, uint64_t seq, uint64_t t)
{
	while (is_over(survey, seq, t))
		take_values(survey, seq);
}

void event_scan_growth_death(struct event_scan *survey, uint32_t site, const struct block *block)
{
	struct event_scan_held *held = &survey->held[site];

	held->live -= block->size;
	if (block->seq >= survey->young_seq)
		held->young -= block->size;
	if (held->live < held->low)
		held->low = held->live;
}

/* Called where events are missing: ignores the values taken so far. */
void event_scan_growth_forget(struct event_scan *survey)
{
	foreach (row, survey->held, event_scan_rows(survey))
		*row = (struct event_scan_held){ 0 };
	survey->steps.first = survey->steps.taken;
}

/* --- the end --- */

static struct born *find_born(struct event_scan *survey)
{
	const uint64_t *seqs = survey->seqs + survey->steps.first;
	size_t n = survey->steps.taken - survey->steps.first;
	size_t warm = growth_warm(n);
	struct born *born = need(&survey->arena, event_scan_rows(survey) * sizeof(*born));

	n -= warm;
	for (size_t i = 0; i < survey->lives.blocks.used; i++) {
		const struct block *block = &survey->lives.blocks.list[i];
		struct born *to;
		size_t q = 0;

		if (block->state != BLOCK_LIVE || !lives_used(block) || block->seq < seqs[warm - 1])
			continue;
		to = &born[survey->births[i].site];
		while (q + 1 < GROWTH_QUARTERS &&
		       block->seq >= seqs[warm - 1 + (q + 1) * n / GROWTH_QUARTERS])
			q++;
		to->bytes[q] += block->size;
		to->count++;
	}
	return born;
}

/* The number of sites whose first and last values after the warm-up differ. */
static uint64_t count_moving(const struct event_scan *survey)
{
	const struct event_scan_steps *steps = &survey->steps;
	size_t warm = growth_warm(steps->taken - steps->first);
	uint64_t moving = 0;

	for (size_t i = 0; i < event_scan_rows(survey); i++) {
		const uint64_t *live = survey->live + i * steps->values;
		const uint64_t *old = survey->old + i * steps->values;

		moving += live[steps->first + warm] != live[steps->taken - 1] ||
			  old[steps->first + warm] != old[steps->taken - 1];
	}
	return moving;
}

static void look_at(struct event_scan *survey, uint32_t site, const struct born *born,
		    uint64_t moving)
{
	const struct event_scan_steps *steps = &survey->steps;
	size_t at = site * steps->values + steps->first;
	size_t n = steps->taken - steps->first;
	uint64_t frees = survey->frees - survey->frees_warm;
	struct growth_trend trend;

	if (frees < born->count * (in_windows(survey) ? FREES_OF_WINDOWS : FREES_OF_PHASES))
		return;
	growth_find(&trend, survey->old + at, n, born->bytes, moving);
	if (!trend.grows)
		growth_find(&trend, survey->live + at, n, NULL, moving);
	if (!trend.grows)
		return;
	trend.slope /= (double)steps->stride;
	survey->growth[survey->growth_n++] = (struct event_scan_growth){ site, trend };
}

static int by_slope(const void *a, const void *b)
{
	const struct event_scan_growth *x = a;
	const struct event_scan_growth *y = b;

	if (x->trend.slope != y->trend.slope)
		return x->trend.slope > y->trend.slope ? -1 : 1;
	return x->site < y->site ? -1 : x->site > y->site;
}

void event_scan_growth_end(struct event_scan *survey)
{
	uint64_t moving;
	struct born *born;

	if (survey->steps.taken - survey->steps.first < GROWTH_LEAST)
		return;
	born = find_born(survey);
	survey->growth = need(&survey->arena, event_scan_rows(survey) * sizeof(*survey->growth));
	moving = count_moving(survey);
	for (uint32_t i = 0; i + 1 < event_scan_rows(survey); i++)
		look_at(survey, i, &born[i], moving);
	qsort(survey->growth, survey->growth_n, sizeof(*survey->growth), by_slope);
}
