/* The sums of devices and pools while one goes through the events of a history. */
#include "analyse/lifetimes/history_totals.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analyse/lifetimes/history.h"

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

int history_running_start(struct history_running *running, const struct history *history)
{
	size_t places = history->places_n;

	*running = (struct history_running){
		.history = history,
		.device_of = calloc(places + 1, sizeof(*running->device_of)),
		.pool_of = calloc(places + 1, sizeof(*running->pool_of)),
		.now = calloc(2 * places + 1, sizeof(*running->now)),
	};
	if (!running->device_of || !running->pool_of || !running->now) {
		history_running_clear(running);
		return -ENOMEM;
	}
	for (size_t i = 0; i < places; i++) {
		running->device_of[i] = slot_of(running, i, false);
		running->pool_of[i] = slot_of(running, i, true);
	}
	return 0;
}

void history_running_add(struct history_running *running, const struct history_event *event)
{
	const struct history_place *place = &running->history->places[event->place];
	struct event effect = { .op = event->op,
				.size = event->size,
				.pool = place->pool,
				.device = place->device,
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
	/* A pool's own sums are of whatever space it is in. */
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
