/*
 * The series of each site that growth is looked for in: what it holds behind each step.
 *
 * Two of them. `live` is all that it holds (of a window without phases: the least, since a window
 * begins anywhere in a step). `old` is what of that has outlived a whole step: there batches of
 * changing size leave no trace, so that a leak of a thousandth a step shows through them.
 */
#include <errno.h>
#include <stdlib.h>

#include "analyse/findings/event_scan_parts.h"

enum {
	ROOM = 64 << 20, /* bytes for values */
	FEWEST = 2 * GROWTH_LEAST,

	/*
	 * A program that frees nothing builds something and repeats no work. Without phases it must
	 * free so many times what a site keeps, or it may just be loading.
	 */
	FREES_OF_PHASES = 1,
	FREES_OF_WINDOWS = 4,
};

/* Of one site: what still lives at the end of what was born behind the warm-up. */
struct born {
	uint64_t bytes[GROWTH_QUARTERS];
	uint64_t count;
};

static bool in_windows(const struct event_scan *survey)
{
	return !survey->steps.name;
}

int event_scan_growth_start(struct event_scan *survey)
{
	struct event_scan_own *own = survey->own;
	size_t most = ROOM / (2 * sizeof(*own->live)) / event_scan_rows(survey);
	size_t cells;
	int error;

	if (most < FEWEST)
		most = FEWEST;
	error = event_scan_choose_steps(survey, most < GROWTH_MOST ? most : GROWTH_MOST);
	if (error)
		return error;
	cells = event_scan_rows(survey) * survey->steps.values + 1;
	own->held = calloc(event_scan_rows(survey), sizeof(*own->held));
	own->live = calloc(cells, sizeof(*own->live));
	own->old = calloc(cells, sizeof(*own->old));
	own->seqs = calloc(survey->steps.values + 1, sizeof(*own->seqs));
	return own->held && own->live && own->old && own->seqs ? 0 : -ENOMEM;
}

/* A step is over: the values of all sites. */
static void take_values(struct event_scan *survey, uint64_t seq)
{
	struct event_scan_own *own = survey->own;
	size_t at = survey->steps.taken++;

	for (size_t i = 0; i < event_scan_rows(survey); i++) {
		struct event_scan_held *held = &own->held[i];
		size_t cell = i * survey->steps.values + at;

		own->live[cell] = in_windows(survey) ? held->low : held->live;
		own->old[cell] = held->live - held->young;
		held->young = 0;
		held->low = held->live;
	}
	own->seqs[at] = seq;
	own->young_seq = seq;
	if (at == survey->steps.first)
		own->frees_warm = survey->frees;
}

static bool is_over(const struct event_scan *survey, uint64_t seq, uint64_t t)
{
	const struct event_scan_steps *steps = &survey->steps;

	if (steps->taken == steps->values)
		return false;
	return steps->ends ? t > steps->ends[steps->taken]
			   : seq >= (steps->taken + 1) * survey->own->window;
}

void event_scan_growth_time(struct event_scan *survey, uint64_t seq, uint64_t t)
{
	while (is_over(survey, seq, t))
		take_values(survey, seq);
}

void event_scan_growth_birth(struct event_scan *survey, uint32_t site, uint64_t size)
{
	survey->own->held[site].live += size;
	survey->own->held[site].young += size;
}

void event_scan_growth_death(struct event_scan *survey, uint32_t site, const struct block *block)
{
	struct event_scan_held *held = &survey->own->held[site];

	held->live -= block->size;
	if (block->seq >= survey->own->young_seq)
		held->young -= block->size;
	if (held->live < held->low)
		held->low = held->live;
}

/* Events are missing: what came before is another story. */
void event_scan_growth_forget(struct event_scan *survey)
{
	for (size_t i = 0; i < event_scan_rows(survey); i++)
		survey->own->held[i] = (struct event_scan_held){ 0 };
	survey->steps.first = survey->steps.taken;
}

/* --- the end --- */

static struct born *find_born(const struct event_scan *survey)
{
	const struct event_scan_own *own = survey->own;
	const uint64_t *seqs = own->seqs + survey->steps.first;
	size_t n = survey->steps.taken - survey->steps.first;
	size_t warm = growth_warm(n);
	struct born *born = calloc(event_scan_rows(survey), sizeof(*born));

	if (!born)
		return NULL;
	n -= warm;
	for (size_t i = 0; i < own->lives.blocks.used; i++) {
		const struct block *block = &own->lives.blocks.list[i];
		struct born *to;
		size_t q = 0;

		if (block->state != BLOCK_LIVE || !lives_used(block) || block->seq < seqs[warm - 1])
			continue;
		to = &born[own->births[i].site];
		while (q + 1 < GROWTH_QUARTERS &&
		       block->seq >= seqs[warm - 1 + (q + 1) * n / GROWTH_QUARTERS])
			q++;
		to->bytes[q] += block->size;
		to->count++;
	}
	return born;
}

/* Sites whose series move at all behind the warm-up. */
static uint64_t count_moving(const struct event_scan *survey)
{
	const struct event_scan_steps *steps = &survey->steps;
	size_t warm = growth_warm(steps->taken - steps->first);
	uint64_t moving = 0;

	for (size_t i = 0; i < event_scan_rows(survey); i++) {
		const uint64_t *live = survey->own->live + i * steps->values;
		const uint64_t *old = survey->own->old + i * steps->values;

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
	uint64_t frees = survey->frees - survey->own->frees_warm;
	struct growth_trend trend;

	if (frees < born->count * (in_windows(survey) ? FREES_OF_WINDOWS : FREES_OF_PHASES))
		return;
	growth_find(&trend, survey->own->old + at, n, born->bytes, moving);
	if (!trend.grows)
		growth_find(&trend, survey->own->live + at, n, NULL, moving);
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

int event_scan_growth_end(struct event_scan *survey)
{
	uint64_t moving;
	struct born *born;

	if (survey->steps.taken - survey->steps.first < GROWTH_LEAST)
		return 0;
	born = find_born(survey);
	survey->growth = calloc(event_scan_rows(survey), sizeof(*survey->growth));
	if (!born || !survey->growth) {
		free(born);
		return -ENOMEM;
	}
	moving = count_moving(survey);
	for (uint32_t i = 0; i + 1 < event_scan_rows(survey); i++)
		look_at(survey, i, &born[i], moving);
	free(born);
	qsort(survey->growth, survey->growth_n, sizeof(*survey->growth), by_slope);
	return 0;
}
