#include "analyse/lifetimes/history_downsample_choice.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/lifetimes/history.h"
#include "base/mem/sort.h"

enum {
	AREAS = 1 << 16, /* number of values of area_class(), the upper 16 bits of a float */
	SLICES_MOST = 2048,
	SLICES_LEAST = 64,
};

struct choice {
	const struct history *history;
	struct history_keep *keep;
	struct history_running running;
	size_t slice; /* number of events in a slice */
};

/* --- running sums --- */

static uint32_t slot_of(struct history_running *running, size_t place, bool pool)
{
	const struct history_place *places = running->history->places;
	const uint32_t *of = pool ? running->pool_of : running->device_of;

	for (size_t i = 0; i < place; i++) {
		if (places[i].device == places[place].device &&
		    (!pool || places[i].pool == places[place].pool))
			return of[i];
	}
	return (uint32_t)running->now_n++;
}

void history_running_start(struct history_running *running, const struct history *history)
{
	size_t places = history->places_n;

	*running = (struct history_running){
		.history = history,
		.device_of = calloc(places + 1, sizeof(*running->device_of)),
		.pool_of = calloc(places + 1, sizeof(*running->pool_of)),
		.now = calloc(2 * places + 1, sizeof(*running->now)),
	};
	NEED(running->device_of && running->pool_of && running->now);
	for (size_t i = 0; i < places; i++) {
		running->device_of[i] = slot_of(running, i, false);
		running->pool_of[i] = slot_of(running, i, true);
	}
}

void history_running_add(struct history_running *running, const struct history_event *event)
{
	const struct history_place *place = &running->history->places[event->place];
	struct event effect = { .op = event->op,
				.size = event->size,
				.pool = place->pool,
				.device = (int16_t)place->device,
				.space = place->space,
				.flags = place->foreign ? EVENT_FOREIGN : 0 };
	struct history_sum *device = &running->now[running->device_of[event->place]];
	struct history_sum *pool = &running->now[running->pool_of[event->place]];
	int64_t allocated, reserved;

	if (!event_is_memory(event->op))
		return;
	event_effect(&effect, &allocated, &reserved);
	device->allocated += (uint64_t)allocated;
	device->reserved += (uint64_t)reserved;
	/* event_effect() skips memory outside GPUs, but pools count it: pretend it is on GPU 0. */
	effect.device = 0;
	effect.space = SPACE_DEVICE;
	event_effect(&effect, &allocated, &reserved);
	pool->allocated += (uint64_t)allocated;
	pool->reserved += (uint64_t)reserved;
}

void history_running_clear(struct history_running *running)
{
	free(running->device_of);
	free(running->pool_of);
	free(running->now);
	*running = (struct history_running){ 0 };
}

/* --- blocks that can be removed --- */

static bool is_gap(const struct history *history, uint32_t event)
{
	const struct history_gap *gaps = history->gaps;
	size_t until = sort_until(gaps, history->gaps_n, sizeof(*gaps),
				  offsetof(struct history_gap, event), event);

	return until && gaps[until - 1].event == event;
}

/* True if event i allocates a block of GPU memory that lived until a free event or the trace's end;
 * false if the block ended at a gap, where events are missing. */
static bool may_go(const struct history *history, size_t i)
{
	const struct history_event *event = &history->events[i];
	const struct history_place *place = &history->places[event->place];

	return event->op == EVENT_ALLOC && event->born && event->ptr &&
	       space_on_card(place->device, place->space) && !place->foreign &&
	       (event->death == HISTORY_NONE ||
		(history->events[event->death].op == EVENT_FREE && !is_gap(history, event->death)));
}

static unsigned area_class(const struct history *history, size_t i)
{
	const struct history_event *event = &history->events[i];
	size_t end = event->death == HISTORY_NONE ? history->events_n : event->death;
	float area = (float)event->size * (float)(end - i);
	uint32_t bits;

	memcpy(&bits, &area, sizeof(bits));
	return bits >> 16;
}

static void keep_block(struct choice *choice, uint32_t i)
{
	const struct history_event *event = &choice->history->events[i];

	choice->keep->stays[i] = 1;
	if (event->born && event->death != HISTORY_NONE)
		choice->keep->stays[event->death] = 1;
	if (choice->keep->birth[i] != HISTORY_NONE)
		choice->keep->stays[choice->keep->birth[i]] = 1;
}

/* Keeps all events but those of removable blocks with a small area (bytes times events lived). */
static void keep_largest(struct choice *choice, size_t most)
{
	const struct history *history = choice->history;
	size_t *classes = calloc(AREAS, sizeof(*classes));
	size_t room = most / 2;
	unsigned least = AREAS;

	NEED(classes);
	memset(choice->keep->stays, 1, history->events_n);
	for (size_t i = 0; i < history->events_n; i++)
		classes[may_go(history, i) ? area_class(history, i) : 0]++;
	while (least > 1 && classes[least - 1] * 2 <= room)
		room -= classes[--least] * 2;
	free(classes);
	for (size_t i = 0; i < history->events_n; i++) {
		const struct history_event *event = &history->events[i];

		if (!may_go(history, i) || area_class(history, i) >= least)
			continue;
		choice->keep->stays[i] = 0;
		if (event->death != HISTORY_NONE)
			choice->keep->stays[event->death] = 0;
	}
}

/* Chooses the number of slices, from SLICES_LEAST to SLICES_MOST: all folds should fit in a quarter
 * of `most`, even if the blocks of each stack change in every slice. */
static void choose_slices(struct choice *choice, size_t most)
{
	const struct history *history = choice->history;
	uint32_t stacks = 0;
	size_t slices;

	for (size_t i = 0; i < history->events_n; i++) {
		if (!choice->keep->stays[i] && history->events[i].stack != HISTORY_NONE &&
		    history->events[i].stack >= stacks)
			stacks = history->events[i].stack + 1;
	}
	slices = most / 4 / (stacks ? stacks : 1);
	slices = slices > SLICES_MOST ? SLICES_MOST : slices < SLICES_LEAST ? SLICES_LEAST : slices;
	choice->slice = history->events_n / slices + 1;
	choice->keep->slices = (history->events_n + choice->slice - 1) / choice->slice;
}

struct extreme {
	uint64_t high, low, peak;
	uint32_t high_at, low_at, peak_at;
};

static void end_slice(struct choice *choice, struct extreme *extremes)
{
	for (size_t i = 0; i < choice->running.now_n; i++) {
		if (extremes[i].high_at != HISTORY_NONE)
			keep_block(choice, extremes[i].high_at);
		if (extremes[i].low_at != HISTORY_NONE)
			keep_block(choice, extremes[i].low_at);
		extremes[i].high_at = extremes[i].low_at = HISTORY_NONE;
	}
}

static void see(struct extreme *extreme, uint64_t sum, uint32_t at)
{
	if (extreme->high_at == HISTORY_NONE || sum > extreme->high) {
		extreme->high = sum;
		extreme->high_at = at;
	}
	if (extreme->low_at == HISTORY_NONE || sum < extreme->low) {
		extreme->low = sum;
		extreme->low_at = at;
	}
	if (sum > extreme->peak) {
		extreme->peak = sum;
		extreme->peak_at = at;
	}
}

/* Keeps events at which a sum is highest or lowest in a slice; marks slice starts and peaks. */
static void keep_extremes(struct choice *choice)
{
	const struct history *history = choice->history;
	struct history_running *running = &choice->running;
	struct extreme *extremes = calloc(running->now_n + 1, sizeof(*extremes));

	NEED(extremes);
	for (size_t i = 0; i < running->now_n; i++)
		extremes[i].high_at = extremes[i].low_at = extremes[i].peak_at = HISTORY_NONE;
	for (uint32_t i = 0; i < history->events_n; i++) {
		const struct history_event *event = &history->events[i];
		uint32_t device = running->device_of[event->place];
		uint32_t pool = running->pool_of[event->place];

		if (i && i % choice->slice == 0) {
			end_slice(choice, extremes);
			choice->keep->edges[i] = 1;
		}
		if (!event_is_memory(event->op) || event->op == EVENT_OOM)
			continue;
		history_running_add(running, event);
		see(&extremes[device], running->now[device].allocated, i);
		see(&extremes[pool], running->now[pool].allocated, i);
	}
	end_slice(choice, extremes);
	for (size_t i = 0; i < running->now_n; i++) {
		if (extremes[i].peak_at == HISTORY_NONE)
			continue;
		choice->keep->edges[extremes[i].peak_at] = 1;
		keep_block(choice, extremes[i].peak_at);
	}
	free(extremes);
}

static void start_choice(struct choice *choice)
{
	const struct history *history = choice->history;
	struct history_keep *keep = choice->keep;
	size_t count = history->events_n;

	keep->stays = calloc(count, 1);
	keep->edges = calloc(count, 1);
	keep->birth = malloc(count * sizeof(*keep->birth));
	NEED(keep->stays && keep->edges && keep->birth);
	memset(keep->birth, 0xff, count * sizeof(*keep->birth));
	for (uint32_t i = 0; i < count; i++) {
		if (may_go(history, i) && history->events[i].death != HISTORY_NONE)
			keep->birth[history->events[i].death] = i;
	}
	history_running_start(&choice->running, history);
}

void history_keep(struct history_keep *keep, const struct history *history, size_t most)
{
	struct choice choice = { .history = history, .keep = keep };

	*keep = (struct history_keep){ 0 };
	start_choice(&choice);
	keep_largest(&choice, most);
	choose_slices(&choice, most);
	keep_extremes(&choice);
	history_running_clear(&choice.running);
}

void history_keep_clear(struct history_keep *keep)
{
	free(keep->stays);
	free(keep->edges);
	free(keep->birth);
	*keep = (struct history_keep){ 0 };
}
