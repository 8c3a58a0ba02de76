#include "analyse/lifetimes/history.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/categories/categories.h"
#include "analyse/input/grow.h"
#include "analyse/input/string_table.h"
#include "facts/lives.h"

/* Makes room for one more element of the list `name`. */
#define ROOM(history, name) \
	NEED(GROW((history)->name, (history)->name##_n, (history)->name##_size, 16))

/* Returns the position of `key` in the list (places, threads or apis); adds it if it is new. */
#define POSITION(history, name, key)                                                           \
	position_in(KEYED_ENTER((history)->known_##name, (history)->name, (history)->name##_n, \
				(history)->name##_size, key))

static uint32_t position_in(uint32_t id)
{
	NEED(id);
	return id - 1;
}

/* --- events --- */

/* Adds a gap: `missing` events are missing before `event`. Ends all live blocks, since each of them
 * may have been freed by a missing event. */
static void lose(struct history *history, const struct event *event, uint64_t missing)
{
	struct history_event *events = history->events;

	unattributed_forget(&history->loose);
	for (size_t i = history->first_event; i < history->events_n; i++) {
		if (events[i].born && events[i].death == HISTORY_NONE)
			events[i].death = (uint32_t)history->events_n;
	}
	ROOM(history, gaps);
	history->gaps[history->gaps_n++] = (struct history_gap){
		.event = history->events_n,
		.dropped = missing,
		.device = event->allocated == TRACE_NONE ? NO_DEVICE : event->device,
		.allocated = event->allocated,
		.reserved = event->reserved,
	};
}

/* Adds the bytes without an address that the last event allocated; or takes the bytes that it freed
 * from earlier events, each of which ends (`death`) once all of its bytes are freed. */
static void move_loose(struct history *history, const struct lives *lives)
{
	uint32_t now = (uint32_t)history->events_n - 1;
	uint64_t left = lives->ends ? lives->ended.size : 0;
	uint64_t part;
	uint32_t born;
	bool whole;

	if (lives->begins)
		unattributed_come(&history->loose, &lives->begun, now);
	while (left &&
	       (part = unattributed_go(&history->loose, &lives->ended, left, &born, &whole))) {
		if (whole)
			history->events[born].death = now;
		left -= part;
	}
}

static void add_event(struct history *history, const struct event *event, bool handle)
{
	struct history_place place = { .pool = event_is_memory(event->op) ? event->pool : 0,
				       .device = event->device,
				       .space = event->space,
				       .foreign = event->flags & EVENT_FOREIGN,
				       .handle = handle };

	uint64_t thread = event->thread;
	uint32_t api = POSITION(history, apis, event->api);

	NEED(history->events_n < HISTORY_NONE);
	ROOM(history, events);
	history->events[history->events_n] = (struct history_event){
		.t = event->t,
		.size = event->size,
		.ptr = event->ptr,
		.stack = event->stack,
		.death = HISTORY_NONE,
		.thread = POSITION(history, threads, thread),
		.text = event->op == EVENT_OOM ? event->error : event->name,
		.place = POSITION(history, places, place),
		.api = (uint16_t)(api < UINT16_MAX ? api : UINT16_MAX),
		.op = event->op,
	};
	history->events_n++;
}

static void take(struct history *history, const struct trace *trace, struct lives *lives,
		 const struct event *event)
{
	bool gap = lives_gap(lives, event);
	uint64_t dropped = trace->capture.events_dropped ? trace->capture.events_dropped : 1;

	/* If no event number is skipped, the first gap counts all dropped events, later gaps 0. */
	if (gap)
		lose(history, event,
		     event->seq > lives->next_seq ? event->seq - lives->next_seq
		     : history->gaps_n            ? 0
						  : dropped);
	if (gap || !history->events_n) {
		history->first_seq = event->seq;
		history->first_event = (uint32_t)history->events_n;
	}
	NEED(!lives_take(lives, event, trace_text(trace, event->api)));
	add_event(history, event, lives->begins && lives->begun.handle);
	history->events[history->events_n - 1].born = lives->begins;
	if (lives->ends && !lives->unseen)
		history->events[history->first_event + (lives->ended.seq - history->first_seq)]
			.death = (uint32_t)history->events_n - 1;
	if (!event->ptr)
		move_loose(history, lives);
	if (history->categories)
		categories_event(history->categories, event);
}

/* Sets the blocks' categories, which depend on how blocks ended. Called after the last event. */
static void label_blocks(struct history *history)
{
	const struct categories *categories = history->categories;
	size_t alloc = 0;

	categories_end(history->categories);
	for (size_t i = 0; i < history->events_n; i++) {
		struct history_event *event = &history->events[i];

		if (event->op == EVENT_ALLOC && alloc < categories->allocs_n)
			event->text = categories->of_alloc[alloc++] + 1u;
	}
}

int history_read(struct history *history, struct trace *trace, struct categories *categories)
{
	struct lives lives;
	struct event event;
	int more;

	*history = (struct history){ .categories = categories };
	lives_start(&lives, trace->capture.events_filtered);
	while ((more = trace_next(trace, &event)) == 1)
		take(history, trace, &lives, &event);
	lives_clear(&lives);
	if (more < 0)
		history_clear(history);
	else if (categories)
		label_blocks(history);
	return more;
}

void history_clear(struct history *history)
{
	free(history->events);
	free(history->sums);
	free(history->places);
	free(history->gaps);
	free(history->threads);
	free(history->apis);
	map_clear(&history->known_places);
	map_clear(&history->known_threads);
	map_clear(&history->known_apis);
	unattributed_clear(&history->loose);
	*history = (struct history){ 0 };
}
