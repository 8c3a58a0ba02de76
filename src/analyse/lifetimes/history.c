/* All events of a trace in memory: what the replay tells, written down. */
#include "analyse/lifetimes/history.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/categories/categories.h"
#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/lifetimes/lifetimes.h"
#include "analyse/lifetimes/replay.h"
#include "base/mem/hash.h"

/* Room for one more in a list; a history without memory has failed. */
#define ROOM(history, name)                                                        \
	(GROW((history)->name, (history)->name##_n, (history)->name##_size, 16) || \
	 !((history)->failed = true))

/* --- what repeats: places, threads, calls --- */

static bool same_place(const struct history_place *a, const struct history_place *b)
{
	return a->pool == b->pool && a->device == b->device && a->space == b->space &&
	       a->foreign == b->foreign && a->handle == b->handle;
}

/* Places are few, and the one of the event before is likely. */
static uint32_t place_of(struct history *history, const struct history_place *place)
{
	uint32_t likely = history->events_n ? history->events[history->events_n - 1].place : 0;

	if (likely < history->places_n && same_place(&history->places[likely], place))
		return likely;
	for (size_t i = 0; i < history->places_n; i++) {
		if (same_place(&history->places[i], place))
			return (uint32_t)i;
	}
	if (!ROOM(history, places))
		return 0;
	history->places[history->places_n] = *place;
	return (uint32_t)history->places_n++;
}

static uint32_t thread_of(struct history *history, uint64_t thread)
{
	uint32_t id = map_get(&history->known_threads, hash_mix(thread, 1));

	if (id)
		return id - 1;
	if (!ROOM(history, threads))
		return 0;
	history->threads[history->threads_n++] = thread;
	if (!map_put(&history->known_threads, hash_mix(thread, 1), (uint32_t)history->threads_n))
		history->failed = true;
	return (uint32_t)history->threads_n - 1;
}

/* There are as many as rows of hooks.def; a made-up trace with more has the last for the rest. */
static uint16_t api_of(struct history *history, uint32_t api)
{
	for (size_t i = 0; i < history->apis_n; i++) {
		if (history->apis[i] == api || i == UINT16_MAX)
			return (uint16_t)i;
	}
	if (!ROOM(history, apis))
		return 0;
	history->apis[history->apis_n++] = api;
	return (uint16_t)(history->apis_n - 1);
}

/* --- the replay speaks --- */

static void on_lost(void *own, uint64_t dropped)
{
	struct history *history = own;
	struct history_event *events = history->events;

	history->lost = true;
	history->dropped = dropped;
	loose_forget(&history->loose);
	for (size_t i = history->first_event; i < history->events_n; i++) {
		if (events[i].born && events[i].death == HISTORY_NONE)
			events[i].death = (uint32_t)history->events_n;
	}
}

static void begin_stretch(struct history *history, const struct event *event)
{
	history->first_seq = event->seq;
	history->first_event = (uint32_t)history->events_n;
	if (!history->lost || !ROOM(history, gaps))
		return;
	history->gaps[history->gaps_n++] = (struct history_gap){
		.event = history->first_event,
		.dropped = history->dropped,
		.device = event->allocated == TRACE_NONE ? NO_DEVICE : event->device,
		.allocated = event->allocated,
		.reserved = event->reserved,
	};
	history->lost = false;
}

/*
 * Bytes without an address end where all that came with their event is gone. What only shrank lives
 * on whole: an event has one size.
 */
static void move_loose(struct history *history, const struct event *event)
{
	enum block_kind kind;
	enum pair_act act = pair_act((enum event_op)event->op, &kind);
	struct block block = { .size = event->size,
			       .stack = event->stack,
			       .pool = event->pool,
			       .device = event->device,
			       .space = event->space,
			       .kind = (uint8_t)kind };
	uint32_t now = (uint32_t)history->events_n - 1;
	uint64_t left = event->size, part;
	uint32_t born;
	bool whole;

	if (act == PAIR_BEGINS && loose_come(&history->loose, &block, now) < 0)
		history->failed = true;
	while (act == PAIR_ENDS && left &&
	       (part = loose_go(&history->loose, &block, left, &born, &whole))) {
		if (whole)
			history->events[born].death = now;
		left -= part;
	}
}

static void on_event(void *own, const struct event *event)
{
	struct history *history = own;
	struct history_place place = { .pool = event->pool,
				       .device = event->device,
				       .space = event->space,
				       .foreign = event->flags & EVENT_FOREIGN };

	if (history->lost || !history->events_n)
		begin_stretch(history, event);
	if (history->failed || history->events_n == HISTORY_NONE || !ROOM(history, events)) {
		history->failed = true;
		return;
	}
	history->events[history->events_n] = (struct history_event){
		.t = event->t,
		.size = event->size,
		.ptr = event->ptr,
		.stack = event->stack,
		.death = HISTORY_NONE,
		.thread = thread_of(history, event->thread),
		.text = event->op == EVENT_OOM ? event->error : event->name,
		.place = place_of(history, &place),
		.api = api_of(history, event->api),
		.op = event->op,
	};
	history->events_n++;
	if (!event->ptr)
		move_loose(history, event);
	if (history->categories && categories_event(history->categories, event))
		history->failed = true;
}

static void on_born(void *own, const struct block *block)
{
	struct history *history = own;
	struct history_event *event;
	struct history_place place;

	if (history->failed)
		return;
	event = &history->events[history->events_n - 1];
	event->born = true;
	if (!block->handle)
		return;
	place = history->places[event->place];
	place.handle = true;
	event->place = place_of(history, &place);
}

static void on_died(void *own, const struct block *block)
{
	struct history *history = own;
	uint64_t at = history->first_event + (block->seq - history->first_seq);

	if (!history->failed && at < history->events_n)
		history->events[at].death = (uint32_t)history->events_n - 1;
}

/* --- the whole --- */

/* Known once the last event is: what a block was for is told by how it ended. */
static int label_blocks(struct history *history)
{
	const struct categories *categories = history->categories;
	size_t alloc = 0;
	int error = categories_end(history->categories);

	for (size_t i = 0; !error && i < history->events_n; i++) {
		struct history_event *event = &history->events[i];

		if (event->op == EVENT_ALLOC && alloc < categories->allocs_n)
			event->text = categories->of_alloc[alloc++] + 1u;
	}
	return error;
}

int history_read(struct history *history, struct trace *trace, struct categories *categories)
{
	const struct replay_watcher watcher = { history, on_lost, on_event, on_born, on_died };
	const struct replay_wish wish = { .device = NO_DEVICE,
					  .space = SPACES,
					  .to = UINT64_MAX,
					  .last = UINT64_MAX,
					  .moment = REPLAY_END,
					  .watcher = &watcher };
	struct replay replay;
	int error;

	*history = (struct history){ .categories = categories };
	error = replay_run(&replay, trace, &wish);
	if (!error)
		replay_clear(&replay);
	if (!error && history->failed)
		error = err("%s: no memory left for %zu events", trace->path, history->events_n);
	if (!error && categories)
		error = label_blocks(history);
	if (error)
		history_clear(history);
	return error;
}

void history_clear(struct history *history)
{
	free(history->events);
	free(history->sums);
	free(history->places);
	free(history->gaps);
	free(history->threads);
	free(history->apis);
	map_clear(&history->known_threads);
	loose_clear(&history->loose);
	*history = (struct history){ 0 };
}
