/* Completes a merge: checks whether the ranks belong to one job, and which ranks are missing. */
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/ranks/ranks.h"

/* Ranks run together if at most these ns pass between the end of one and the beginning of another:
 * the clocks of hosts differ, and ranks start and end one after the other. */
#define TOGETHER (60ull * 1000000000)

/* --- the size of the job --- */

/* True if a launcher gave the process its rank. Without a launcher, traces have rank 0 of 1. */
static bool tells_rank(const struct merge_rank *rank)
{
	return rank->world_size > 1 || rank->rank;
}

static int find_world(struct merge *merge, bool force)
{
	const struct merge_rank *largest = &merge->ranks[0];

	for (size_t i = 1; i < merge->ranks_n; i++) {
		if (merge->ranks[i].world_size > largest->world_size)
			largest = &merge->ranks[i];
	}
	foreach (rank, merge->ranks) {
		if (rank->world_size == largest->world_size)
			continue;
		if (!force)
			return err("the traces are not of one job: %s has world size %llu, %s has "
				   "%llu; memtrace merge --force merges them anyway",
				   rank->path, (unsigned long long)rank->world_size, largest->path,
				   (unsigned long long)largest->world_size);
		rank->rank = TRACE_NONE;
		merge->strangers++;
	}
	merge->world_size = largest->world_size > 1 ? largest->world_size : 0;
	return 0;
}

/* If no launcher numbered the processes, gives each the position of its trace as its rank. */
static void number_ranks(struct merge *merge)
{
	foreach (rank, merge->ranks) {
		if (tells_rank(rank))
			return;
	}
	merge->numbered = merge->ranks_n > 1;
	for (size_t i = 0; i < merge->ranks_n; i++)
		merge->ranks[i].rank = i;
}

/* --- missing ranks, and ranks that ran at another time --- */

static void add_gap(struct merge *merge, uint64_t first, uint64_t end)
{
	if (first >= end)
		return;
	merge->gaps[merge->gaps_n++] = (struct merge_gap){ first, end - 1 };
	merge->missing += end - first;
}

static void find_missing(struct merge *merge)
{
	uint64_t next = 0;

	if (!merge->world_size)
		return;
	merge->gaps = NEED_ROOM(&merge->arena, merge->gaps, merge->order_n);
	foreach (at, merge->order) {
		uint64_t rank = merge->ranks[*at].rank;

		if (rank >= merge->world_size)
			break; /* ranks without a number come last */
		add_gap(merge, next, rank);
		next = rank + 1;
	}
	add_gap(merge, next, merge->world_size);
}

/* Finds a rank that ended long before another began: a trace that an earlier job left in the folder
 * may have taken the place of a missing rank. */
static void find_apart(struct merge *merge)
{
	const struct merge_rank *ended = NULL;
	const struct merge_rank *began = NULL;

	foreach (at, merge->order) {
		const struct merge_rank *rank = &merge->ranks[*at];

		if (rank->start == TRACE_NONE || !rank->pid ||
		    rank->duration >= UINT64_MAX / 2 - rank->start)
			continue;
		if (!ended || rank->start + rank->duration < ended->start + ended->duration)
			ended = rank;
		if (!began || rank->start > began->start)
			began = rank;
	}
	if (!ended || began->start <= ended->start + ended->duration + TOGETHER)
		return;
	merge->apart = true;
	merge->ended = (size_t)(ended - merge->ranks);
	merge->began = (size_t)(began - merge->ranks);
}

int merge_end(struct merge *merge, bool force)
{
	int error = merge->ranks_n ? find_world(merge, force) : err("there is no trace to merge");

	if (error)
		return error;
	number_ranks(merge);
	error = merge_put_in_order(merge, force);
	if (error)
		return error;
	find_missing(merge);
	find_apart(merge);
	merge_find_spreads(merge);
	merge_find_cards(merge);
	merge_rank_sites(merge);
	return 0;
}

const struct merge_rank *merge_worth_a_look(const struct merge *merge)
{
	const struct merge_rank *found = NULL;

	foreach (at, merge->order) {
		const struct merge_rank *rank = &merge->ranks[*at];
		uint64_t peak = rank->peaks[TRACE_ALLOCATED];

		if (!rank->baseline && (!found || (peak != TRACE_NONE &&
						   (found->peaks[TRACE_ALLOCATED] == TRACE_NONE ||
						    peak > found->peaks[TRACE_ALLOCATED]))))
			found = rank;
	}
	return found;
}
