/*
 * What the ranks are together: one job, or not; who is missing; how their peaks are spread.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/ranks/ranks.h"

/* A difference that is worth a word: as of `memtrace diff --gate`. */
enum { WORTH_PERCENT = 2, WORTH_BYTES = 1 << 20 };

/* Clocks of hosts differ, and ranks start and end one after the other: ns. */
#define TOGETHER (60ull * 1000000000)

/* --- is it one job --- */

/* Documents say rank 0 of 1 where no launcher told them more. */
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
	for (size_t i = 0; i < merge->ranks_n; i++) {
		struct merge_rank *rank = &merge->ranks[i];

		if (rank->world_size == largest->world_size)
			continue;
		if (!force)
			return err("the traces are not of one job: %s is of a world of %llu, %s of "
				   "%llu; memtrace merge --force takes them all the same",
				   rank->path, (unsigned long long)rank->world_size, largest->path,
				   (unsigned long long)largest->world_size);
		rank->rank = TRACE_NONE;
		merge->strangers++;
	}
	merge->world_size = largest->world_size > 1 ? largest->world_size : 0;
	return 0;
}

/* Processes that no launcher numbered have the order in which they were given. */
static void number_ranks(struct merge *merge)
{
	for (size_t i = 0; i < merge->ranks_n; i++) {
		if (tells_rank(&merge->ranks[i]))
			return;
	}
	merge->numbered = merge->ranks_n > 1;
	for (size_t i = 0; i < merge->ranks_n; i++)
		merge->ranks[i].rank = i;
}

/* --- the same rank twice --- */

/* By what makes two traces one process's. */
static int by_process(const void *a, const void *b, void *of)
{
	const struct merge *merge = of;
	const struct merge_rank *x = &merge->ranks[*(const size_t *)a];
	const struct merge_rank *y = &merge->ranks[*(const size_t *)b];
	int order = strcmp(x->host, y->host);

	if (!order)
		order = strcmp(x->start_time, y->start_time);
	if (!order && x->pid != y->pid)
		order = x->pid < y->pid ? -1 : 1;
	return order;
}

static int by_rank(const void *a, const void *b, void *of)
{
	const struct merge *merge = of;
	size_t p = *(const size_t *)a;
	size_t q = *(const size_t *)b;
	const struct merge_rank *x = &merge->ranks[p];
	const struct merge_rank *y = &merge->ranks[q];

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return p < q ? -1 : p > q;
}

static int by_process_and_place(const void *a, const void *b, void *of)
{
	int order = by_process(a, b, of);

	return order ? order : *(const size_t *)a < *(const size_t *)b ? -1 : 1;
}

/* A document and the spool that it was written from, or a file given twice. */
static int find_same(struct merge *merge, bool force)
{
	qsort_r(merge->order, merge->order_n, sizeof(*merge->order), by_process_and_place, merge);
	for (size_t i = 1; i < merge->order_n; i++) {
		const struct merge_rank *first = &merge->ranks[merge->order[i - 1]];
		struct merge_rank *second = &merge->ranks[merge->order[i]];

		/* Baselines do not tell whose they are. */
		if (!second->pid || !second->start_time[0] ||
		    by_process(&merge->order[i - 1], &merge->order[i], merge) != 0)
			continue;
		if (!force)
			return err(
				"%s and %s are of the same process (rank %llu): leave one out, or "
				"memtrace merge --force counts it once",
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
				"or a process that the rank started): leave one out, or "
				"memtrace merge --force counts both",
				(unsigned long long)first->rank, first->path, second->path);
	}
	return 0;
}

static int put_in_order(struct merge *merge, bool force)
{
	size_t count = 0;
	int error;

	merge->order = calloc(merge->ranks_n + 1, sizeof(*merge->order));
	if (!merge->order)
		return merge_no_memory();
	for (size_t i = 0; i < merge->ranks_n; i++)
		merge->order[i] = i;
	merge->order_n = merge->ranks_n;
	error = find_same(merge, force);
	for (size_t i = 0; i < merge->order_n; i++) {
		if (!merge->ranks[merge->order[i]].left_out)
			merge->order[count++] = merge->order[i];
	}
	merge->order_n = count;
	qsort_r(merge->order, count, sizeof(*merge->order), by_rank, merge);
	return error ? error : find_twice(merge, force);
}

/* --- who is missing --- */

static void add_gap(struct merge *merge, uint64_t first, uint64_t end)
{
	if (first >= end)
		return;
	merge->gaps[merge->gaps_n++] = (struct merge_gap){ first, end - 1 };
	merge->missing += end - first;
}

static int find_missing(struct merge *merge)
{
	uint64_t next = 0;

	if (!merge->world_size)
		return 0;
	merge->gaps = calloc(merge->order_n + 1, sizeof(*merge->gaps));
	if (!merge->gaps)
		return merge_no_memory();
	for (size_t i = 0; i < merge->order_n; i++) {
		uint64_t rank = merge->ranks[merge->order[i]].rank;

		if (rank >= merge->world_size)
			break; /* of another job: the last in this order */
		add_gap(merge, next, rank);
		next = rank + 1;
	}
	add_gap(merge, next, merge->world_size);
	return 0;
}

/* --- did they run together --- */

/* What an earlier job left in the same folder has no other rank's number when that one is missing.
 */
static void find_apart(struct merge *merge)
{
	const struct merge_rank *ended = NULL;
	const struct merge_rank *began = NULL;

	for (size_t i = 0; i < merge->order_n; i++) {
		const struct merge_rank *rank = &merge->ranks[merge->order[i]];

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

/* --- how peaks are spread --- */

static int find_spread(struct merge *merge, enum trace_metric metric)
{
	struct merge_spread *spread = &merge->spreads[metric];
	int64_t *values = calloc(merge->order_n + 1, sizeof(*values));

	if (!values)
		return merge_no_memory();
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
	free(values);
	return 0;
}

int merge_end(struct merge *merge, bool force)
{
	int error = merge->ranks_n ? find_world(merge, force) : err("there is no trace to merge");

	if (error)
		return error;
	number_ranks(merge);
	error = put_in_order(merge, force);
	if (!error)
		error = find_missing(merge);
	find_apart(merge);
	for (enum trace_metric metric = 0; !error && metric < TRACE_METRICS; metric++)
		error = find_spread(merge, metric);
	if (!error)
		error = merge_find_cards(merge);
	return error ? error : merge_rank_sites(merge);
}

/* --- what is asked of it --- */

const struct merge_rank *merge_worth_a_look(const struct merge *merge)
{
	const struct merge_rank *found = NULL;

	for (size_t i = 0; i < merge->order_n; i++) {
		const struct merge_rank *rank = &merge->ranks[merge->order[i]];
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
