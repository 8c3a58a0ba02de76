/* Finds the devices, pools and memory kinds that are summed by category, and their peaks. */
#include <string.h>

#include "analyse/categories/categories_parts.h"
#include "analyse/input/grow.h"
#include "base/text/text.h"

enum {
	POINTS = 1000, /* approximate maximum number of points of a curve by category */
};

/* Of each `every` points of the trace's curve, takes only the highest, so that no peak is lost. */
static void find_points(struct categories *categories, struct categories_place *place)
{
	const struct trace_curve *curve = trace_curve(categories->trace, place->device, NULL);
	size_t every = curve ? curve->t_n / POINTS + 1 : 1;

	if (!curve || !curve->t_n || curve->allocated_n < curve->t_n)
		return;
	place->t = need(&categories->arena, (curve->t_n / every + 2) * sizeof(*place->t));
	for (size_t i = 0; i < curve->t_n; i += every) {
		size_t highest = i;

		for (size_t k = i; k < i + every && k < curve->t_n; k++)
			highest = curve->allocated[k] != TRACE_NONE &&
						  curve->allocated[k] > curve->allocated[highest]
					  ? k
					  : highest;
		place->t[place->points++] = curve->t[highest];
	}
	if (place->t[place->points - 1] < curve->t[curve->t_n - 1])
		place->t[place->points++] = curve->t[curve->t_n - 1];
	place->bytes = need(&categories->arena,
			    place->points * categories->rules->categories * sizeof(*place->bytes));
}

static size_t count_places(const struct trace *trace)
{
	size_t count = trace->summary.devices_n + trace->summary.spaces_n;

	foreach (device, trace->summary.devices)
		count += device->pools_n;
	return count;
}

void categories_find_places(struct categories *categories)
{
	const struct trace *trace = categories->trace;
	struct categories_place *next = NEED_ROOM(&categories->arena, next, count_places(trace));

	categories->places = next;
	foreach (device, trace->summary.devices) {
		*next = (struct categories_place){ .device = device->device,
						   .space = "device",
						   .told = &device->allocated,
						   .baseline = device->categories,
						   .baseline_n = device->categories_n };
		find_points(categories, next++);
	}
	foreach (device, trace->summary.devices) {
		foreach (pool, device->pools) {
			if (pool->name)
				*next++ = (struct categories_place){
					.device = device->device,
					.pool = pool->name,
					.space = "device",
					.told = &pool->allocated,
				};
		}
	}
	foreach (space, trace->summary.spaces) {
		if (space->space && strcmp(space->space, "array") != 0)
			*next++ = (struct categories_place){ .device = NO_DEVICE,
							     .space = space->space,
							     .told = &space->allocated,
							     .baseline = space->categories,
							     .baseline_n = space->categories_n };
	}
	categories->places_n = (size_t)(next - categories->places);
}

const struct categories_place *categories_place(const struct categories *categories, int device,
						const char *pool, const char *space)
{
	foreach (place, categories->places) {
		if (place->device == device && text_same(place->pool, pool) &&
		    text_same(place->space, space))
			return place;
	}
	return NULL;
}

const char *categories_name(const struct categories *categories, size_t category)
{
	return categories->rules->names[category];
}

/* --- for each event --- */

static bool event_on_card(const struct event *event)
{
	return space_on_card(event->device, event->space);
}

static struct whereabouts find_places(const struct categories *categories,
				      const struct event *event)
{
	uint32_t none = (uint32_t)categories->places_n;
	struct whereabouts at = { { none, none } };
	const char *name = space_name(event->space);
	const char *pool = trace_text(categories->trace, event->pool);
	bool card = event_on_card(event);

	for (uint32_t i = 0; i < categories->places_n; i++) {
		const struct categories_place *place = &categories->places[i];

		if (!card && place->device == NO_DEVICE && name && !strcmp(place->space, name))
			at.place[WHOLE] = i;
		if (!card || place->device != event->device)
			continue;
		if (!place->pool)
			at.place[WHOLE] = i;
		else if (pool && at.place[POOL] == none && !strcmp(place->pool, pool))
			at.place[POOL] = i;
	}
	return at;
}

/* Reuses the previous event's places if possible: most events have the pool of the event before. */
struct whereabouts places_of(struct categories *categories, const struct event *event)
{
	if (!categories->last_known || categories->last_device != event->device ||
	    categories->last_space != event->space || categories->last_pool != event->pool) {
		categories->last_at = find_places(categories, event);
		categories->last_device = event->device;
		categories->last_space = event->space;
		categories->last_pool = event->pool;
		categories->last_known = true;
	}
	return categories->last_at;
}

static void see_peak(struct categories_place *place, uint64_t bytes, const struct event *event)
{
	if (bytes <= place->peak_bytes)
		return;
	place->peak_bytes = bytes;
	place->peak_t = event->t;
	place->peak_seq = event->seq;
	memset(place->corpses, 0, sizeof(place->corpses));
	memcpy(place->loose_at, place->loose, sizeof(place->loose_at));
}

void places_see_peaks(struct categories *categories, const struct whereabouts *at,
		      const struct event *event)
{
	struct categories_place *whole = &categories->places[at->place[WHOLE]];
	struct categories_place *pool = &categories->places[at->place[POOL]];
	bool told = event_on_card(event) && event->allocated != TRACE_NONE;

	see_peak(whole, told ? event->allocated : whole->now, event);
	see_peak(pool, pool->now, event);
}

void place_change_curve(struct categories_place *place, uint8_t category, size_t point, uint64_t by)
{
	if (point < place->points)
		place->bytes[category * place->points + point] += by;
}
