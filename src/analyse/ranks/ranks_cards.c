/*
 * Finds the physical cards that ranks use, and the memory left on each card.
 *
 * Devices with the same host and UUID are one card. Without a UUID (a baseline, an old trace) it is
 * not known whether ranks share a card, so each device of a rank has a card of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/ranks/ranks.h"
#include "base/mem/sort.h"

/* Sorts by host and UUID, so that the order of the traces does not matter. */
static void sort_cards(struct merge *merge)
{
	static const struct sort_key by_identity[] = {
		SORT_TEXT(struct merge_card, host),
		SORT_TEXT(struct merge_card, sorted_by),
		{ 0 },
	};
	size_t *to = NEED_ROOM(&merge->arena, to, merge->cards_n);

	sort_rows(merge->cards, merge->cards_n, sizeof(*merge->cards), by_identity);
	for (size_t i = 0; i < merge->cards_n; i++)
		to[merge->cards[i].at] = i;
	foreach (rank, merge->ranks) {
		foreach (device, rank->devices)
			device->card = to[device->card];
	}
}

/* The beginning or end of a process, which is assumed to hold its peak from beginning to end. */
struct edge {
	size_t card;
	uint64_t t;
	uint64_t bytes;
	bool ends;
};

static uint64_t own_peak(const struct merge_device *device)
{
	uint64_t reserved = trace_known(device->peaks[TRACE_RESERVED]);
	uint64_t used = device->used_of_card ? 0 : trace_known(device->peaks[TRACE_USED]);

	return used > reserved ? used : reserved;
}

static void take_device(struct merge *merge, size_t rank, const struct merge_device *device)
{
	struct merge_card *card = &merge->cards[device->card];
	uint64_t bytes = own_peak(device);
	bool fuller = !card->ranks_n;

	for (size_t i = 0; !fuller && i < merge->ranks[card->fullest].devices_n; i++) {
		const struct merge_device *other = &merge->ranks[card->fullest].devices[i];

		fuller = other->card == device->card && bytes > own_peak(other);
	}
	if (fuller)
		card->fullest = rank;
	card->ranks_n++;
	card->ooms += device->ooms;
	if (device->used_of_card && trace_known(device->peaks[TRACE_USED]) > card->peak)
		card->peak = device->peaks[TRACE_USED];
}

static size_t take_ranks(struct merge *merge, struct edge *edges)
{
	size_t count = 0;

	for (size_t i = 0; i < merge->order_n; i++) {
		size_t at = merge->order[i];
		const struct merge_rank *rank = &merge->ranks[at];
		/* A baseline has no times: it is assumed to have run together with all others. */
		bool known = rank->start != TRACE_NONE && rank->duration &&
			     rank->duration < UINT64_MAX - rank->start;
		uint64_t start = known ? rank->start : 0;
		uint64_t end = known ? start + rank->duration : UINT64_MAX;

		foreach (device, rank->devices) {
			uint64_t bytes = own_peak(device);

			take_device(merge, at, device);
			edges[count++] = (struct edge){ device->card, start, bytes, false };
			edges[count++] = (struct edge){ device->card, end, bytes, true };
		}
	}
	return count;
}

static void sum_edges(struct merge *merge, const struct edge *edges, size_t count)
{
	uint64_t held = 0;

	for (size_t i = 0; i < count; i++) {
		struct merge_card *card = &merge->cards[edges[i].card];

		if (!i || edges[i].card != edges[i - 1].card)
			held = 0;
		held = edges[i].ends ? held - edges[i].bytes : held + edges[i].bytes;
		if (held > card->peak)
			card->peak = held;
	}
}

static void find_tightest(struct merge *merge)
{
	merge->tightest = SIZE_MAX;
	for (size_t i = 0; i < merge->cards_n; i++) {
		struct merge_card *card = &merge->cards[i];

		if (card->total == TRACE_NONE || !card->ranks_n)
			continue;
		card->headroom = (int64_t)card->total - (int64_t)card->peak;
		if (merge->tightest == SIZE_MAX ||
		    card->headroom < merge->cards[merge->tightest].headroom)
			merge->tightest = i;
	}
}

void merge_find_cards(struct merge *merge)
{
	static const struct sort_key by_card_and_time[] = {
		SORT_UP(struct edge, card),
		SORT_UP(struct edge, t),
		SORT_DOWN(struct edge, ends), /* at equal times, ends come before beginnings */
		{ 0 },
	};
	struct edge *edges = NEED_ROOM(&merge->arena, edges, 2 * merge->devices_n);
	size_t count;

	sort_cards(merge);
	count = take_ranks(merge, edges);
	sort_rows(edges, count, sizeof(*edges), by_card_and_time);
	sum_edges(merge, edges, count);
	find_tightest(merge);
}

static int by_headroom(const void *a, const void *b)
{
	const struct merge_card *x = *(const struct merge_card *const *)a;
	const struct merge_card *y = *(const struct merge_card *const *)b;
	bool told_x = x->total != TRACE_NONE;
	bool told_y = y->total != TRACE_NONE;

	if (told_x != told_y)
		return told_x ? -1 : 1;
	if (told_x && x->headroom != y->headroom)
		return x->headroom < y->headroom ? -1 : 1;
	return x < y ? -1 : x > y;
}

const struct merge_card **merge_by_headroom(struct merge *merge)
{
	const struct merge_card **list =
		need(&merge->arena, (merge->cards_n + 1) * sizeof(const void *));

	for (size_t i = 0; i < merge->cards_n; i++)
		list[i] = &merge->cards[i];
	qsort(list, merge->cards_n, sizeof(const void *), by_headroom);
	return list;
}
