/*
 * Compares sides whose traces are ranks of a job, rank by rank.
 *
 * Ranks are not repetitions of a run: pipeline stages differ by design, and their spread, if it
 * counted as noise, would hide growth in any rank. So each rank is compared with the same rank on
 * the other side. The rows show the rank that grew most; a gate is judged by the worst rank.
 */
#include <stdio.h>

#include "analyse/compare/diff.h"
#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "base/text/text.h"

static uint64_t rank_of(const struct run *run)
{
	return run->trace.process.rank;
}

static bool tells_rank(const struct run *run)
{
	return run->trace.process.world_size != TRACE_NONE && run->trace.process.world_size > 1 &&
	       rank_of(run) != TRACE_NONE;
}

/* True if the side has more than one rank. Several runs of one rank are repetitions. */
static bool has_ranks(const struct diff_side *side)
{
	for (size_t i = 1; i < side->count; i++) {
		if (tells_rank(&side->runs[0]) && tells_rank(&side->runs[i]) &&
		    rank_of(&side->runs[i]) != rank_of(&side->runs[0]))
			return true;
	}
	return false;
}

static const struct run *find_rank(const struct diff_side *side, uint64_t rank)
{
	foreach (run, side->runs, side->count) {
		if (tells_rank(run) && rank_of(run) == rank)
			return run;
	}
	return NULL;
}

static int check_side(const struct diff_side *side)
{
	foreach (run, side->runs, side->count) {
		if (!tells_rank(run))
			return err("%s has no rank, but the other traces are ranks of a job, which "
				   "are compared rank by rank: leave this trace out",
				   run->trace.path);
		if (find_rank(side, rank_of(run)) != run)
			return err(
				"%s and %s are both rank %llu, but other traces have other ranks: "
				"give each rank once, or only traces of one rank",
				find_rank(side, rank_of(run))->trace.path, run->trace.path,
				(unsigned long long)rank_of(run));
	}
	return 0;
}

static int pair_up(struct diff *diff)
{
	diff->pairs = NEED_ROOM(&diff->arena, diff->pairs, diff->head.count);
	for (size_t i = 0; i < diff->head.count; i++) {
		const struct run *base = find_rank(&diff->base, rank_of(&diff->head.runs[i]));

		if (base)
			diff->pairs[diff->pairs_n++] =
				(struct diff_pair){ .base = (size_t)(base - diff->base.runs),
						    .head = i };
	}
	if (!diff->pairs_n)
		return err(
			"base and head have no rank in common (%s is rank %llu, %s is rank %llu): "
			"ranks of a job are compared rank by rank",
			diff->base.runs[0].trace.path,
			(unsigned long long)rank_of(&diff->base.runs[0]),
			diff->head.runs[0].trace.path,
			(unsigned long long)rank_of(&diff->head.runs[0]));
	return 0;
}

/* Chooses the pair whose peak grew most; of pairs that grew equally, that with the highest peak. */
static void choose(struct diff *diff)
{
	int64_t most = INT64_MIN;
	int64_t highest = INT64_MIN;

	foreach (pair, diff->pairs) {
		int64_t base = diff_peak(&diff->base.runs[pair->base]);
		int64_t head = diff_peak(&diff->head.runs[pair->head]);

		if (head - base < most || (head - base == most && head <= highest))
			continue;
		most = head - base;
		highest = head;
		diff->base.middle = pair->base;
		diff->head.middle = pair->head;
	}
}

int diff_pair_ranks(struct diff *diff)
{
	int error;

	if (!diff->base.count || (!has_ranks(&diff->base) && !has_ranks(&diff->head)))
		return 0;
	error = check_side(&diff->base);
	if (!error)
		error = check_side(&diff->head);
	if (!error)
		error = pair_up(diff);
	if (!error)
		choose(diff);
	return error;
}

uint64_t diff_rank(const struct diff *diff)
{
	return rank_of(diff_head(diff));
}

size_t diff_unpaired(const struct diff *diff)
{
	return diff->base.count + diff->head.count - 2 * diff->pairs_n;
}

/* Appends the rank to the result's `place`: "device 0 of rank 3". */
static void add_rank(struct gate_result *result, const struct run *run)
{
	char place[FIGURE_PLACE];

	if (!tells_rank(run))
		return;
	snprintf(place, sizeof(place), "%.*s of rank %llu", FIGURE_PLACE - 40, result->place,
		 (unsigned long long)rank_of(run));
	text_copy(result->place, sizeof(result->place), place);
}

int diff_judge_ranks(const struct diff *diff, const struct gate *gate, struct gate_result *result)
{
	bool alone = !diff->base.count;
	size_t count = alone ? diff->head.count : diff->pairs_n;
	int error = 0;

	*result = (struct gate_result){ .gate = NULL };
	for (size_t i = 0; i < count; i++) {
		const struct run *base = alone ? NULL : &diff->base.runs[diff->pairs[i].base];
		const struct run *head = &diff->head.runs[alone ? i : diff->pairs[i].head];
		struct gate_result one;
		/* A rank may lack the device or phase that the gate names; if so, it is skipped. */
		int none = gate_judge(gate, base, !alone, head, 1, &one);

		error = none ? none : error;
		if (none || !gate_worse(&one, result))
			continue;
		*result = one;
		add_rank(result, head);
	}
	return result->gate ? 0 : error;
}
