/* Shortens a long history: folds (events with sums) replace the blocks that are not kept. */

#include <stdlib.h>

#include "analyse/input/grow.h"
#include "analyse/input/string_table.h"
#include "analyse/lifetimes/history.h"
#include "analyse/lifetimes/history_downsample_choice.h"
#include "base/mem/map.h"

/* The folded blocks of one stack, place and category that are live. */
struct fold_entry {
	struct fold_key {
		uint32_t stack, place, category;
	} key;
	uint32_t fold;        /* 1 + position of the last fold event; 0: none, or of no blocks */
	uint64_t bytes, told; /* bytes now, and bytes in the last fold event */
	uint32_t count, told_count;
	bool waiting; /* true if the entry's position is in fold.changed */
};

struct fold {
	struct history *history;
	struct history_folded *folded;
	struct history_keep keep;
	struct history_running running;
	uint32_t *renamed; /* by position in the old list of events: position in the new list */

	struct map known;
	struct fold_entry *entries;
	uint32_t *changed;
	size_t entries_n, entries_size, changed_n, changed_size;

	struct history_event *events; /* the new list of events */
	struct history_sums *sums;
	size_t events_n, events_size, sums_size;
};

static void push_event(struct fold *fold, const struct history_event *event)
{
	NEED(GROW(fold->events, fold->events_n, fold->events_size, 1024) &&
	     GROW_TO(fold->sums, fold->events_size, fold->sums_size));
	fold->sums[fold->events_n] = (struct history_sums){
		.device = fold->running.now[fold->running.device_of[event->place]],
		.pool = fold->running.now[fold->running.pool_of[event->place]],
		.blocks = 1,
	};
	fold->events[fold->events_n++] = *event;
}

/* Counts the allocation (if `born`) or else the free of a folded block, allocated by `birth`. */
static void take_block(struct fold *fold, const struct history_event *birth, bool born)
{
	const struct fold_key key = { birth->stack, birth->place, birth->text };
	uint32_t id =
		KEYED_ENTER(fold->known, fold->entries, fold->entries_n, fold->entries_size, key);
	struct fold_entry *entry;

	NEED(id && GROW_TO(fold->changed, fold->entries_size, fold->changed_size));
	entry = &fold->entries[id - 1];
	entry->bytes += born ? birth->size : 0 - birth->size;
	entry->count += born ? 1 : (uint32_t)-1;
	fold->folded->blocks += born;
	if (birth->size > fold->folded->largest)
		fold->folded->largest = birth->size;
	if (!entry->waiting)
		fold->changed[fold->changed_n++] = id - 1;
	entry->waiting = true;
}

/* Adds a fold event at time t for each entry that has changed since its last fold event. */
static void tell_totals(struct fold *fold, uint64_t t)
{
	for (size_t i = 0; i < fold->changed_n; i++) {
		struct fold_entry *entry = &fold->entries[fold->changed[i]];
		struct history_event event = { .t = t,
					       .size = entry->bytes,
					       .stack = entry->key.stack,
					       .death = HISTORY_NONE,
					       .place = entry->key.place,
					       .text = entry->key.category,
					       .op = HISTORY_FOLD,
					       .born = entry->count > 0 };
		uint32_t at = (uint32_t)fold->events_n;

		entry->waiting = false;
		if (entry->bytes == entry->told && entry->count == entry->told_count)
			continue;
		push_event(fold, &event);
		fold->sums[at].blocks = entry->count;
		if (entry->fold)
			fold->events[entry->fold - 1].death = at;
		entry->fold = event.born ? at + 1 : 0;
		entry->told = entry->bytes;
		entry->told_count = entry->count;
		fold->folded->folds++;
	}
	fold->changed_n = 0;
}

/* At a gap: ends all folds, because the live blocks are unknown after it. */
static void forget_births(struct fold *fold)
{
	for (size_t i = 0; i < fold->entries_n; i++) {
		struct fold_entry *entry = &fold->entries[i];

		if (entry->fold)
			fold->events[entry->fold - 1].death = (uint32_t)fold->events_n;
		*entry = (struct fold_entry){ .key = entry->key };
	}
	fold->changed_n = 0;
}

static void rebuild(struct fold *fold)
{
	const struct history *history = fold->history;
	size_t gap = 0;

	for (uint32_t i = 0; i < history->events_n; i++) {
		const struct history_event *event = &history->events[i];

		if (fold->keep.edges[i])
			tell_totals(fold, history->events[i ? i - 1 : 0].t);
		if (gap < history->gaps_n && history->gaps[gap].event == i) {
			forget_births(fold);
			gap++;
		}
		history_running_add(&fold->running, event);
		fold->renamed[i] = (uint32_t)fold->events_n;
		if (fold->keep.stays[i])
			push_event(fold, event);
		else
			take_block(fold,
				   event->born ? event : &history->events[fold->keep.birth[i]],
				   event->born);
	}
	tell_totals(fold, history->events[history->events_n - 1].t);
}

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
}

static void clear(struct fold *fold)
{
	history_keep_clear(&fold->keep);
	history_running_clear(&fold->running);
	map_clear(&fold->known);
	free(fold->renamed);
	free(fold->entries);
	free(fold->changed);
}

void history_fold(struct history *history, size_t most, struct history_folded *folded)
{
	struct fold fold = { .history = history, .folded = folded };

	*folded = (struct history_folded){ 0 };
	if (history->events_n <= most)
		return;
	history_keep(&fold.keep, history, most);
	history_running_start(&fold.running, history);
	fold.renamed = calloc(history->events_n, sizeof(*fold.renamed));
	NEED(fold.renamed);
	rebuild(&fold);
	folded->slices = fold.keep.slices;
	rename_all(&fold);
	clear(&fold);
}
