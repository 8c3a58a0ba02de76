/* A long history made shorter. */
#include "analyse/history_fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/history.h"
#include "base/hash.h"
#include "base/map.h"

enum {
	AREAS = 1 << 16, /* classes of bytes times events lived: the high half of a float */
	SLICES_MOST = 2048,
	SLICES_LEAST = 64,
};

/* What the folded blocks of one stack, place and category hold. */
struct entry {
	uint64_t bytes, told; /* now, and as the last fold says */
	uint32_t count, told_count;
	uint32_t stack, place, category;
	uint32_t fold; /* the last, HISTORY_NONE for none that lives */
	bool waiting;  /* in the list of those that changed */
};

struct fold {
	struct history *history;
	struct history_folded *folded;
	uint8_t *keep;     /* by event */
	uint32_t *birth;   /* by event: of the block that it ends, HISTORY_NONE */
	uint32_t *renamed; /* by event: its new position */
	uint8_t *edges;    /* by event: folds come in front of it */
	size_t slice;      /* events */

	/* Running sums. */
	uint32_t *device_of, *pool_of; /* by place: position in now[] */
	struct history_sum *now;
	size_t now_n;

	struct map known;
	struct entry *entries;
	uint32_t *changed;
	size_t entries_n, entries_size, changed_n;

	struct history_event *events; /* the new list */
	struct history_sums *sums;
	size_t events_n, events_size;
};

static bool is_gap(const struct history *history, uint32_t event)
{
	size_t low = 0;
	size_t high = history->gaps_n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (history->gaps[middle].event < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low < history->gaps_n && history->gaps[low].event == event;
}

static bool on_device(const struct history_place *place)
{
	return place->device >= 0 && !place->foreign &&
	       (place->space == SPACE_DEVICE || place->space == SPACE_ARRAY);
}

/* Ended by a free of its own, or not at all. */
static bool may_go(const struct history *history, size_t i)
{
	const struct history_event *event = &history->events[i];

	return event->op == EVENT_ALLOC && event->born &&
	       on_device(&history->places[event->place]) &&
	       (event->death == HISTORY_NONE ||
		(history->events[event->death].op == EVENT_FREE && !is_gap(history, event->death)));
}

/* --- sums --- */

static uint32_t sum_slot(struct fold *fold, size_t place, bool pool)
{
	const struct history_place *places = fold->history->places;
	const uint32_t *of = pool ? fold->pool_of : fold->device_of;

	for (size_t i = 0; i < place; i++) {
		if (places[i].device == places[place].device &&
		    (!pool || places[i].pool == places[place].pool))
			return of[i];
	}
	return (uint32_t)fold->now_n++;
}

static int start_sums(struct fold *fold)
{
	size_t places = fold->history->places_n;

	fold->device_of = calloc(places + 1, sizeof(*fold->device_of));
	fold->pool_of = calloc(places + 1, sizeof(*fold->pool_of));
	fold->now = calloc(2 * places + 1, sizeof(*fold->now));
	if (!fold->device_of || !fold->pool_of || !fold->now)
		return -ENOMEM;
	for (size_t i = 0; i < places; i++) {
		fold->device_of[i] = sum_slot(fold, i, false);
		fold->pool_of[i] = sum_slot(fold, i, true);
	}
	return 0;
}

static void add_up(struct fold *fold, const struct history_event *event)
{
	const struct history_place *place = &fold->history->places[event->place];
	struct event effect = { .op = event->op,
				.size = event->size,
				.pool = place->pool,
				.device = place->device,
				.space = place->space,
				.flags = place->foreign ? EVENT_FOREIGN : 0 };
	struct history_sum *device = &fold->now[fold->device_of[event->place]];
	struct history_sum *pool = &fold->now[fold->pool_of[event->place]];
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

/* --- what stays --- */

static unsigned area_class(const struct history *history, size_t i)
{
	const struct history_event *event = &history->events[i];
	size_t end = event->death == HISTORY_NONE ? history->events_n : event->death;
	float area = (float)event->size * (float)(end - i);
	uint32_t bits;

	memcpy(&bits, &area, sizeof(bits));
	return bits >> 16;
}

static void keep_block(struct fold *fold, uint32_t i)
{
	const struct history_event *event = &fold->history->events[i];

	fold->keep[i] = 1;
	if (event->born && event->death != HISTORY_NONE)
		fold->keep[event->death] = 1;
	if (fold->birth[i] != HISTORY_NONE)
		fold->keep[fold->birth[i]] = 1;
}

/* All that may not go, and of the others those that take most of the picture. */
static int keep_largest(struct fold *fold, size_t most)
{
	const struct history *history = fold->history;
	size_t *classes = calloc(AREAS, sizeof(*classes));
	size_t room = most / 2;
	unsigned least = AREAS;

	if (!classes)
		return -ENOMEM;
	memset(fold->keep, 1, history->events_n);
	for (size_t i = 0; i < history->events_n; i++)
		classes[may_go(history, i) ? area_class(history, i) : 0]++;
	while (least > 1 && classes[least - 1] * 2 <= room)
		room -= classes[--least] * 2;
	free(classes);
	for (size_t i = 0; i < history->events_n; i++) {
		const struct history_event *event = &history->events[i];

		if (!may_go(history, i) || area_class(history, i) >= least)
			continue;
		fold->keep[i] = 0;
		if (event->death != HISTORY_NONE)
			fold->keep[event->death] = 0;
		fold->folded->blocks++;
		if (event->size > fold->folded->largest)
			fold->folded->largest = event->size;
	}
	return 0;
}

/* How many slices there is room for, if every stack that is folded changes in each. */
static void choose_slices(struct fold *fold, size_t most)
{
	const struct history *history = fold->history;
	uint32_t stacks = 0;
	size_t slices;

	for (size_t i = 0; i < history->events_n; i++) {
		if (!fold->keep[i] && history->events[i].stack != HISTORY_NONE &&
		    history->events[i].stack >= stacks)
			stacks = history->events[i].stack + 1;
	}
	slices = most / 4 / (stacks ? stacks : 1);
	slices = slices > SLICES_MOST ? SLICES_MOST : slices < SLICES_LEAST ? SLICES_LEAST : slices;
	fold->slice = history->events_n / slices + 1;
	fold->folded->slices = (history->events_n + fold->slice - 1) / fold->slice;
}

struct extreme {
	uint64_t high, low, peak;
	uint32_t high_at, low_at, peak_at;
};

static void end_slice(struct fold *fold, struct extreme *extremes)
{
	for (size_t i = 0; i < fold->now_n; i++) {
		if (extremes[i].high_at != HISTORY_NONE)
			keep_block(fold, extremes[i].high_at);
		if (extremes[i].low_at != HISTORY_NONE)
			keep_block(fold, extremes[i].low_at);
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

/* Of each slice the events where a sum is highest and lowest, and the edges: slices and peaks. */
static int keep_extremes(struct fold *fold)
{
	const struct history *history = fold->history;
	struct extreme *extremes = calloc(fold->now_n + 1, sizeof(*extremes));

	if (!extremes)
		return -ENOMEM;
	for (size_t i = 0; i < fold->now_n; i++)
		extremes[i].high_at = extremes[i].low_at = extremes[i].peak_at = HISTORY_NONE;
	for (uint32_t i = 0; i < history->events_n; i++) {
		const struct history_event *event = &history->events[i];
		uint32_t device = fold->device_of[event->place];
		uint32_t pool = fold->pool_of[event->place];

		if (i && i % fold->slice == 0) {
			end_slice(fold, extremes);
			fold->edges[i] = 1;
		}
		if (!event_is_memory(event->op) || event->op == EVENT_OOM)
			continue;
		add_up(fold, event);
		see(&extremes[device], fold->now[device].allocated, i);
		see(&extremes[pool], fold->now[pool].allocated, i);
	}
	end_slice(fold, extremes);
	for (size_t i = 0; i < fold->now_n; i++) {
		if (extremes[i].peak_at == HISTORY_NONE)
			continue;
		fold->edges[extremes[i].peak_at] = 1;
		keep_block(fold, extremes[i].peak_at);
	}
	memset(fold->now, 0, fold->now_n * sizeof(*fold->now));
	free(extremes);
	return 0;
}

/* --- the new list --- */

static int push(struct fold *fold, const struct history_event *event)
{
	if (fold->events_n == fold->events_size) {
		size_t size = fold->events_size * 2 + 1024;
		struct history_event *events = reallocarray(fold->events, size, sizeof(*events));
		struct history_sums *sums;

		if (!events)
			return -ENOMEM;
		fold->events = events;
		sums = reallocarray(fold->sums, size, sizeof(*sums));
		if (!sums)
			return -ENOMEM;
		fold->sums = sums;
		fold->events_size = size;
	}
	fold->sums[fold->events_n] = (struct history_sums){
		.device = fold->now[fold->device_of[event->place]],
		.pool = fold->now[fold->pool_of[event->place]],
		.blocks = 1,
	};
	fold->events[fold->events_n++] = *event;
	return 0;
}

static struct entry *entry_of(struct fold *fold, const struct history_event *event)
{
	uint64_t key = hash_mix((uint64_t)event->text << 32 | event->stack, event->place);
	uint32_t id = map_get(&fold->known, key);

	if (id)
		return &fold->entries[id - 1];
	if (fold->entries_n == fold->entries_size) {
		size_t size = fold->entries_size * 2 + 256;
		struct entry *entries = reallocarray(fold->entries, size, sizeof(*entries));
		uint32_t *changed;

		if (!entries)
			return NULL;
		fold->entries = entries;
		changed = reallocarray(fold->changed, size, sizeof(*changed));
		if (!changed)
			return NULL;
		fold->changed = changed;
		fold->entries_size = size;
	}
	fold->entries[fold->entries_n] = (struct entry){
		.stack = event->stack,
		.place = event->place,
		.category = event->text,
		.fold = HISTORY_NONE,
	};
	if (!map_put(&fold->known, key, (uint32_t)fold->entries_n + 1))
		return NULL;
	return &fold->entries[fold->entries_n++];
}

/* A block that is not told by itself comes (sign 1) or goes (-1). */
static int take(struct fold *fold, const struct history_event *birth, int sign)
{
	struct entry *entry = entry_of(fold, birth);

	if (!entry)
		return -ENOMEM;
	entry->bytes += sign > 0 ? birth->size : 0 - birth->size;
	entry->count += (uint32_t)sign;
	if (!entry->waiting)
		fold->changed[fold->changed_n++] = (uint32_t)(entry - fold->entries);
	entry->waiting = true;
	return 0;
}

/* Says what the entries hold that have changed since they were last said. */
static int tell(struct fold *fold, uint64_t t)
{
	for (size_t i = 0; i < fold->changed_n; i++) {
		struct entry *entry = &fold->entries[fold->changed[i]];
		struct history_event event = { .t = t,
					       .size = entry->bytes,
					       .stack = entry->stack,
					       .death = HISTORY_NONE,
					       .place = entry->place,
					       .text = entry->category,
					       .op = HISTORY_FOLD,
					       .born = entry->count > 0 };
		uint32_t at = (uint32_t)fold->events_n;

		entry->waiting = false;
		if (entry->bytes == entry->told && entry->count == entry->told_count)
			continue;
		if (push(fold, &event))
			return -ENOMEM;
		fold->sums[at].blocks = entry->count;
		if (entry->fold != HISTORY_NONE)
			fold->events[entry->fold].death = at;
		entry->fold = event.born ? at : HISTORY_NONE;
		entry->told = entry->bytes;
		entry->told_count = entry->count;
		fold->folded->folds++;
	}
	fold->changed_n = 0;
	return 0;
}

/* Behind a gap nothing is known of what lived. */
static void forget(struct fold *fold)
{
	for (size_t i = 0; i < fold->entries_n; i++) {
		struct entry *entry = &fold->entries[i];

		if (entry->fold != HISTORY_NONE)
			fold->events[entry->fold].death = (uint32_t)fold->events_n;
		*entry = (struct entry){ .stack = entry->stack,
					 .place = entry->place,
					 .category = entry->category,
					 .fold = HISTORY_NONE };
	}
	fold->changed_n = 0;
}

static int rebuild(struct fold *fold)
{
	const struct history *history = fold->history;
	size_t gap = 0;
	int error = 0;

	for (uint32_t i = 0; !error && i < history->events_n; i++) {
		const struct history_event *event = &history->events[i];

		if (fold->edges[i])
			error = tell(fold, history->events[i ? i - 1 : 0].t);
		if (gap < history->gaps_n && history->gaps[gap].event == i) {
			forget(fold);
			gap++;
		}
		add_up(fold, event);
		fold->renamed[i] = (uint32_t)fold->events_n;
		if (fold->keep[i])
			error = error ? error : push(fold, event);
		else if (event->born)
			error = error ? error : take(fold, event, 1);
		else
			error = error ? error : take(fold, &history->events[fold->birth[i]], -1);
	}
	return error ? error : tell(fold, history->events[history->events_n - 1].t);
}

/* Positions in the old list become those in the new one. */
static void rename_all(struct fold *fold)
{
	struct history *history = fold->history;

	for (size_t i = 0; i < fold->events_n; i++) {
		struct history_event *event = &fold->events[i];

		if (event->op != HISTORY_FOLD && event->born && event->death != HISTORY_NONE)
			event->death = fold->renamed[event->death];
	}
	for (size_t i = 0; i < history->gaps_n; i++)
		history->gaps[i].event = fold->renamed[history->gaps[i].event];
	fold->folded->events = history->events_n - (fold->events_n - fold->folded->folds);
	free(history->events);
	history->events = fold->events;
	history->sums = fold->sums;
	history->events_n = fold->events_n;
	fold->events = NULL;
	fold->sums = NULL;
}

static int start(struct fold *fold)
{
	const struct history *history = fold->history;
	size_t count = history->events_n;

	fold->keep = malloc(count);
	fold->birth = malloc(count * sizeof(*fold->birth));
	fold->renamed = malloc(count * sizeof(*fold->renamed));
	fold->edges = calloc(count, 1);
	if (!fold->keep || !fold->birth || !fold->renamed || !fold->edges)
		return -ENOMEM;
	memset(fold->birth, 0xff, count * sizeof(*fold->birth));
	for (uint32_t i = 0; i < count; i++) {
		if (history->events[i].born && may_go(history, i) &&
		    history->events[i].death != HISTORY_NONE)
			fold->birth[history->events[i].death] = i;
	}
	return start_sums(fold);
}

int history_fold(struct history *history, size_t most, struct history_folded *folded)
{
	struct fold fold = { .history = history, .folded = folded };
	int error;

	*folded = (struct history_folded){ 0 };
	if (history->events_n <= most)
		return 0;
	error = start(&fold);
	if (!error)
		error = keep_largest(&fold, most);
	if (!error) {
		choose_slices(&fold, most);
		error = keep_extremes(&fold);
	}
	if (!error)
		error = rebuild(&fold);
	if (!error)
		rename_all(&fold);
	map_clear(&fold.known);
	free(fold.keep);
	free(fold.birth);
	free(fold.renamed);
	free(fold.edges);
	free(fold.device_of);
	free(fold.pool_of);
	free(fold.now);
	free(fold.entries);
	free(fold.changed);
	free(fold.events);
	free(fold.sums);
	return error;
}
