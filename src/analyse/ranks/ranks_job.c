/*
 * Checks whether the ranks belong to one job and which ranks are missing, and finds the spread of
 * their peaks.
 */
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/ranks/ranks.h"
#include "base/mem/sort.h"

/* Smaller differences between peaks are not reported; `memtrace diff --gate` has the same
 * limits. */
enum { WORTH_PERCENT = 2, WORTH_BYTES = 1 << 20 };

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

/* --- two traces of one process or rank --- */

struct ordered {
	const char *host, *start_time;
	uint64_t pid, rank, start;
	size_t at; /* position in ranks[] */
};

static bool same_process(const struct ordered *a, const struct ordered *b)
{
	return a->pid == b->pid && !strcmp(a->host, b->host) &&
	       !strcmp(a->start_time, b->start_time);
}

/* Finds two traces of one process: its JSON and its spool, or a file that was given twice. */
static int find_same(struct merge *merge, struct ordered *list, bool force)
{
	static const struct sort_key by_process[] = {
		SORT_TEXT(struct ordered, host),
		SORT_TEXT(struct ordered, start_time),
		SORT_UP(struct ordered, pid),
		{ 0 },
	};

	sort_rows(list, merge->ranks_n, sizeof(*list), by_process);
	for (size_t i = 1; i < merge->ranks_n; i++) {
		const struct merge_rank *first = &merge->ranks[list[i - 1].at];
		struct merge_rank *second = &merge->ranks[list[i].at];

		/* Without a pid or a start, as in a baseline, the process is not known. */
		if (!second->pid || !second->start_time[0] || !same_process(&list[i - 1], &list[i]))
			continue;
		if (!force)
			return err("%s and %s are from the same process (rank %llu): leave one "
				   "out, or use memtrace merge --force to count it once",
				   first->path, second->path, (unsigned long long)second->rank);
		second->left_out = true;
		merge->left_out++;
	}
	return 0;
}

static int find_twice(const struct merge *merge, bool force)
{
	for (size_t i = 1; !force && i < merge->order_n; i++) {
		const struct merge_rank *first = &merge->ranks[merge->order[i - 1]];
		const struct merge_rank *second = &merge->ranks[merge->order[i]];

		if (first->rank == second->rank && first->rank != TRACE_NONE)
			return err(
				"rank %llu is given twice, by %s and %s (a restart, another job, "
				"or a process that the rank started): leave one out, or use "
				"memtrace merge --force to count both",
				(unsigned long long)first->rank, first->path, second->path);
	}
	return 0;
}

static int put_in_order(struct merge *merge, bool force)
{
	static const struct sort_key by_rank[] = {
		SORT_UP(struct ordered, rank),
		SORT_UP(struct ordered, start),
		SORT_UP(struct ordered, at),
		{ 0 },
	};
	struct ordered *list = NEED_ROOM(&merge->arena, list, merge->ranks_n);
	int error;

	merge->order = NEED_ROOM(&merge->arena, merge->order, merge->ranks_n);
	for (size_t i = 0; i < merge->ranks_n; i++) {
		const struct merge_rank *rank = &merge->ranks[i];

		list[i] = (struct ordered){ rank->host, rank->start_time, rank->pid,
					    rank->rank, rank->start,      i };
	}
	error = find_same(merge, list, force);
	sort_rows(list, merge->ranks_n, sizeof(*list), by_rank);
	foreach (row, list, merge->ranks_n) {
		if (!merge->ranks[row->at].left_out)
			merge->order[merge->order_n++] = row->at;
	}
	return error ? error : find_twice(merge, force);
}

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

static void find_spread(struct merge *merge, enum trace_metric metric)
{
	struct merge_spread *spread = &merge->spreads[metric];
	int64_t *values = NEED_ROOM(&merge->arena, values, merge->order_n);

	for (size_t i = 0; i < merge->order_n; i++) {
		size_t at = merge->order[i];
		uint64_t peak = merge->ranks[at].peaks[metric];

		if (peak == TRACE_NONE || merge->ranks[at].rank == TRACE_NONE)
			continue;
		if (!spread->count || peak < spread->lowest) {
			spread->lowest = peak;
			spread->lowest_rank = at;
		}
		if (!spread->count || peak > spread->highest) {
			spread->highest = peak;
			spread->highest_rank = at;
		}
		values[spread->count++] = (int64_t)peak;
	}
	spread->median = (uint64_t)median_of(values, spread->count);
}

int merge_end(struct merge *merge, bool force)
{
	int error = merge->ranks_n ? find_world(merge, force) : err("there is no trace to merge");

	if (error)
		return error;
	number_ranks(merge);
	error = put_in_order(merge, force);
	if (error)
		return error;
	find_missing(merge);
	find_apart(merge);
	for (enum trace_metric metric = 0; metric < TRACE_METRICS; metric++)
		find_spread(merge, metric);
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

enum trace_metric merge_uneven(const struct merge *merge)
{
	for (enum trace_metric metric = 0; metric < TRACE_METRICS; metric++) {
		const struct merge_spread *spread = &merge->spreads[metric];
		uint64_t above = spread->highest - spread->median;

		if (spread->count > 1 && above > WORTH_BYTES &&
		    (double)above * 100 > (double)spread->median * WORTH_PERCENT)
			return metric;
	}
	return TRACE_METRICS;
}
