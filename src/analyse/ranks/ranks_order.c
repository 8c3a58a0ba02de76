/* Puts ranks in order, and finds traces that are of the same process or of the same rank. */
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "analyse/ranks/ranks.h"
#include "base/mem/sort.h"

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

int merge_put_in_order(struct merge *merge, bool force)
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
