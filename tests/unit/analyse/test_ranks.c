/*
 * Ranks folded into one picture, against the same counted anew with every value at hand.
 *
 * Runs are made up in memory: a rank, its devices, and rows of sites.
 */
#include "check.h"

#include <stdlib.h>
#include <time.h>

#include "analyse/compare/run_totals.h"
#include "analyse/input/error.h"
#include "analyse/ranks/ranks.h"
#include "unit/chance.h"

enum { RANKS = 24, SITES = 12, CARDS = 5, ROUNDS = 300 };

struct made {
	uint64_t rank, world, pid;
	uint64_t start, seconds; /* since 2026-11-21T02:00:00Z */
	unsigned card;
	uint64_t allocated, reserved, used; /* TRACE_NONE: not told */
	bool of_card, baseline;
	int64_t sites[SITES][MERGE_COLUMNS];
};

static struct merge merge;

/* Folds what was made as a trace would tell it. */
static void fold(const struct made *made)
{
	char uuid[40], start[40], name[40];
	struct trace_card card = { .device = 0, .uuid = uuid, .total_bytes = 1000000 };
	struct trace_device device = {
		.device = 0,
		.total_bytes = 1000000,
		.allocated = { .peak_bytes = made->allocated },
		.reserved = { .peak_bytes = made->reserved },
		.used = { .peak_bytes = made->used,
			  .source = made->of_card ? "cuMemGetInfo" : "nvml" },
	};
	struct run run = { .trace = { .path = name } };

	snprintf(uuid, sizeof(uuid), "GPU-%u", made->card);
	snprintf(name, sizeof(name), "t.%llu.json", (unsigned long long)made->pid);
	snprintf(start, sizeof(start), "2026-11-21T02:%02u:%02u.5Z", (unsigned)made->start / 60,
		 (unsigned)made->start % 60);
	run.trace.process = (struct trace_process){
		.rank = made->rank,
		.world_size = made->world,
		.local_rank = TRACE_NONE,
		.pid = made->pid,
		.host = "node7",
		.start_time = start,
		.duration_ns = made->seconds * 1000000000,
		.status = TRACE_NONE,
		.signal = TRACE_NONE,
	};
	run.trace.capture.baseline = made->baseline;
	run.trace.environment.devices = &card;
	run.trace.environment.devices_n = 1;
	run.trace.summary.devices = &device;
	run.trace.summary.devices_n = 1;
	for (size_t i = 0; i < SITES; i++) {
		char site[16];
		struct run_row *row;

		snprintf(site, sizeof(site), "f%zu (m)", i);
		row = run_row(&run, DIMENSION_SITE, i % 4 ? "device" : "pinned", site);
		OK(row);
		for (size_t k = 0; k < MERGE_COLUMNS; k++)
			row->values[merge_columns[k]] = made->sites[i][k];
	}
	merge_fold(&merge, &run);
	free(run.rows);
	texts_clear(&run.texts);
	map_clear(&run.row_of);
	arena_clear(&run.arena);
}

static struct made plain(uint64_t rank, uint64_t world)
{
	return (struct made){ .rank = rank,
			      .world = world,
			      .pid = 100 + rank,
			      .seconds = 9,
			      .card = (unsigned)rank,
			      .allocated = 100,
			      .reserved = 200,
			      .used = 300 };
}

/* --- against brute force --- */

static uint64_t amount(uint64_t *chance)
{
	return chance_one_in(chance, 4) ? 0 : chance_below(chance, 100000);
}

static void make(struct made *made, size_t rank, size_t ranks, uint64_t *chance)
{
	*made = plain(rank, ranks);
	made->start = chance_below(chance, 8);
	made->seconds = 1 + chance_below(chance, 8);
	made->card = (unsigned)chance_below(chance, CARDS);
	made->allocated = amount(chance);
	made->reserved = amount(chance);
	made->used = chance_one_in(chance, 3) ? TRACE_NONE : amount(chance);
	made->of_card = chance_one_in(chance, 4);
	for (size_t i = 0; i < SITES; i++) {
		bool absent = chance_one_in(chance, 2);

		for (size_t k = 0; k < MERGE_COLUMNS; k++)
			made->sites[i][k] = absent ? 0 : (int64_t)amount(chance) - 20000;
	}
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts them. */
static int64_t median(int64_t *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return count % 2 ? values[count / 2]
			 : values[count / 2 - 1] + (values[count / 2] - values[count / 2 - 1]) / 2;
}

static void compare_sites(const struct made *made, size_t ranks)
{
	size_t found = 0;

	for (size_t i = 0; i < SITES; i++) {
		char name[16];
		const struct merge_site *site = NULL;
		bool held = false;

		snprintf(name, sizeof(name), "f%zu (m)", i);
		for (size_t s = 0; s < merge.sites_n; s++) {
			if (!strcmp(merge.sites[s].name, name))
				site = &merge.sites[s];
		}
		for (size_t r = 0; r < ranks; r++) {
			for (size_t k = 0; k < MERGE_COLUMNS; k++)
				held |= made[r].sites[i][k] != 0;
		}
		EQ(site != NULL, held);
		if (!site)
			continue;
		found++;
		STR(site->group, i % 4 ? "device" : "pinned");
		for (size_t k = 0; k < MERGE_COLUMNS; k++) {
			int64_t values[RANKS];

			for (size_t r = 0; r < ranks; r++) {
				values[r] = made[r].sites[i][k];
				EQ(merge_share_of(site, r, k), values[r]);
			}
			EQ(made[site->columns[k].rank].sites[i][k], site->columns[k].highest);
			EQ(site->columns[k].median, median(values, ranks));
			EQ(site->columns[k].highest, values[ranks - 1]);
		}
	}
	EQ(merge.sites_n, found);
}

static void compare_spread(const struct made *made, size_t ranks, enum trace_metric metric)
{
	const struct merge_spread *spread = &merge.spreads[metric];
	int64_t values[RANKS];
	size_t count = 0;

	for (size_t r = 0; r < ranks; r++) {
		uint64_t value = metric == TRACE_ALLOCATED  ? made[r].allocated
				 : metric == TRACE_RESERVED ? made[r].reserved
							    : made[r].used;

		if (metric == TRACE_USED && value < made[r].reserved)
			value = made[r].reserved;
		if (value != TRACE_NONE)
			values[count++] = (int64_t)value;
	}
	EQ(spread->count, count);
	if (!count)
		return;
	EQ((int64_t)spread->median, median(values, count));
	EQ((int64_t)spread->lowest, values[0]);
	EQ((int64_t)spread->highest, values[count - 1]);
	EQ(merge.ranks[spread->highest_rank].peaks[metric], spread->highest);
	EQ(merge.ranks[spread->lowest_rank].peaks[metric], spread->lowest);
}

static uint64_t own(const struct made *made)
{
	uint64_t used = made->used == TRACE_NONE || made->of_card ? 0 : made->used;

	return used > made->reserved ? used : made->reserved;
}

/* At each start of a process: who lives then. */
static uint64_t peak_of_card(const struct made *made, size_t ranks, unsigned card)
{
	uint64_t peak = 0;

	for (size_t at = 0; at < ranks; at++) {
		uint64_t held = 0;

		for (size_t r = 0; r < ranks; r++) {
			if (made[r].card == card && made[r].start <= made[at].start &&
			    made[at].start < made[r].start + made[r].seconds)
				held += own(&made[r]);
		}
		peak = held > peak ? held : peak;
	}
	for (size_t r = 0; r < ranks; r++) {
		if (made[r].card == card && made[r].of_card && made[r].used != TRACE_NONE &&
		    made[r].used > peak)
			peak = made[r].used;
	}
	return peak;
}

static void compare_cards(const struct made *made, size_t ranks)
{
	int64_t least = INT64_MAX;
	size_t users = 0;

	for (size_t i = 0; i < merge.cards_n; i++) {
		const struct merge_card *card = &merge.cards[i];
		unsigned number = (unsigned)atoi(card->uuid + 4);

		EQ(card->peak, peak_of_card(made, ranks, number));
		EQ(card->headroom, 1000000 - (int64_t)card->peak);
		least = card->headroom < least ? card->headroom : least;
		users += card->ranks_n;
		for (size_t r = 0; r < ranks; r++) {
			if (made[r].card != number)
				continue;
			EQ(merge.ranks[r].devices[0].card, i);
			OK(own(&made[r]) <= own(&made[card->fullest]));
		}
		EQ(made[card->fullest].card, number);
	}
	EQ(users, ranks);
	EQ(merge.cards[merge.tightest].headroom, least);
}

TEST(medians_highest_and_cards_are_those_of_all_values)
{
	uint64_t chance = 7;

	for (size_t round = 0; round < ROUNDS; round++) {
		struct made made[RANKS];
		size_t ranks = 2 + chance_below(&chance, RANKS - 1);

		for (size_t r = 0; r < ranks; r++) {
			make(&made[r], r, ranks, &chance);
			fold(&made[r]);
		}
		EQ(merge_end(&merge, false), 0);
		EQ(merge.order_n, ranks);
		EQ(merge.missing, 0);
		for (enum trace_metric metric = 0; metric < TRACE_METRICS; metric++)
			compare_spread(made, ranks, metric);
		compare_sites(made, ranks);
		compare_cards(made, ranks);
		merge_clear(&merge);
	}
}

/* --- who is there --- */

TEST(ranks_come_in_any_order_and_gaps_are_told)
{
	static const uint64_t here[] = { 7, 2, 3, 9 };

	for (size_t i = 0; i < 4; i++) {
		struct made made = plain(here[i], 12);

		fold(&made);
	}
	EQ(merge_end(&merge, false), 0);
	EQ(merge.world_size, 12);
	EQ(merge.missing, 8);
	EQ(merge.gaps_n, 4);
	EQ(merge.gaps[0].first, 0);
	EQ(merge.gaps[0].last, 1);
	EQ(merge.gaps[1].first, 4);
	EQ(merge.gaps[1].last, 6);
	EQ(merge.gaps[3].first, 10);
	EQ(merge.gaps[3].last, 11);
	EQ(merge.ranks[merge.order[0]].rank, 2);
	EQ(merge.ranks[merge.order[3]].rank, 9);
	merge_clear(&merge);
}

TEST(a_world_without_end_is_no_loop)
{
	struct made made = plain(3, UINT64_MAX - 1);

	fold(&made);
	EQ(merge_end(&merge, false), 0);
	EQ(merge.gaps_n, 2);
	EQ(merge.missing, UINT64_MAX - 2);
	merge_clear(&merge);
}

TEST(a_rank_beyond_its_world_is_kept)
{
	struct made made = plain(30, 4);

	fold(&made);
	EQ(merge_end(&merge, false), 0);
	EQ(merge.missing, 4);
	EQ(merge.ranks[merge.order[0]].rank, 30);
	merge_clear(&merge);
}

TEST(processes_without_a_rank_have_their_order)
{
	for (uint64_t i = 0; i < 3; i++) {
		struct made made = plain(0, 1);

		made.pid = 50 + i;
		fold(&made);
	}
	EQ(merge_end(&merge, false), 0);
	OK(merge.numbered);
	EQ(merge.world_size, 0);
	EQ(merge.missing, 0);
	for (uint64_t i = 0; i < 3; i++)
		EQ(merge.ranks[merge.order[i]].rank, i);
	merge_clear(&merge);
}

/* The second process of rank 1 began when the first had ended: it needs no room beside it. */
static void fold_restart(void)
{
	struct made first = plain(1, 2);
	struct made second = plain(1, 2);

	second.pid = 77;
	second.start = 9;
	second.used = 500;
	fold(&first);
	fold(&second);
}

TEST(a_rank_given_twice_is_refused)
{
	fold_restart();
	OK(merge_end(&merge, false));
	OK(strstr(err_text(), "rank 1 is given twice, by t.101.json and t.77.json"));
	merge_clear(&merge);
	fold_restart();
	EQ(merge_end(&merge, true), 0);
	EQ(merge.order_n, 2);
	EQ(merge.cards_n, 1);
	EQ(merge.cards[0].peak, 500);
	merge_clear(&merge);
}

TEST(a_process_given_twice_counts_once_at_most)
{
	struct made made = plain(0, 2);

	for (int force = 0; force < 2; force++) {
		fold(&made);
		fold(&made);
		EQ(merge_end(&merge, force) == 0, force);
		if (!force) {
			OK(strstr(err_text(), "are from the same process (rank 0)"));
		} else {
			EQ(merge.order_n, 1);
			EQ(merge.left_out, 1);
			EQ(merge.cards[0].peak, 300);
			EQ(merge.cards[0].ranks_n, 1);
		}
		merge_clear(&merge);
	}
}

TEST(ranks_that_did_not_run_together_are_told)
{
	/* Each runs 9 s: 60 s between an end and a start may be a clock's. */
	for (uint64_t late = 69; late <= 70; late++) {
		for (uint64_t r = 0; r < 3; r++) {
			struct made made = plain(r, 3);

			made.start = r == 1 ? late : r;
			fold(&made);
		}
		EQ(merge_end(&merge, false), 0);
		EQ(merge.apart, late == 70);
		if (merge.apart) {
			EQ(merge.ended, 0);
			EQ(merge.began, 1);
		}
		merge_clear(&merge);
	}
}

/* Neither process nor time: two of them are two, and may have lived side by side. */
TEST(baselines_tell_no_process)
{
	for (uint64_t r = 0; r < 2; r++) {
		struct made made = plain(r, 2);

		made.pid = 0;
		made.seconds = 0;
		made.card = 0;
		fold(&made);
	}
	EQ(merge_end(&merge, false), 0);
	EQ(merge.order_n, 2);
	EQ(merge.cards_n, 1);
	EQ(merge.cards[0].peak, 600);
	merge_clear(&merge);
}

/* Rank 1 is the highest, rank 2 the highest with events; of equal ones the first. */
TEST(the_highest_rank_with_events_is_worth_a_look)
{
	static const uint64_t peaks[] = { TRACE_NONE, 900, 500, 500 };

	for (int all = 0; all < 2; all++) {
		const struct merge_rank *rank;

		for (uint64_t r = 0; r < 4; r++) {
			struct made made = plain(r, 4);

			made.allocated = peaks[r];
			made.baseline = all || r == 1;
			fold(&made);
		}
		EQ(merge_end(&merge, false), 0);
		rank = merge_worth_a_look(&merge);
		if (all)
			OK(!rank);
		else
			EQ(rank->rank, 2);
		merge_clear(&merge);
	}
}

TEST(unlike_worlds_are_refused)
{
	for (int force = 0; force < 2; force++) {
		struct made eight = plain(5, 8);
		struct made four = plain(1, 4);

		fold(&four);
		fold(&eight);
		EQ(merge_end(&merge, force) == 0, force);
		if (!force) {
			OK(strstr(err_text(), "t.101.json has world size 4, t.105.json has 8"));
		} else {
			EQ(merge.world_size, 8);
			EQ(merge.missing, 7);
			EQ(merge.strangers, 1);
			EQ(merge.ranks[0].rank, TRACE_NONE);
			EQ(merge.spreads[TRACE_ALLOCATED].count, 1);
			EQ(merge.cards_n, 2); /* it holds memory all the same */
		}
		merge_clear(&merge);
	}
}

TEST(who_stands_out_is_told_from_two_percent_and_a_mebibyte)
{
	static const struct {
		uint64_t peak;
		enum trace_metric metric;
	} cases[] = {
		{ 100ull << 20, TRACE_METRICS },
		{ (101ull << 20), TRACE_METRICS },     /* a mebibyte, and 1% */
		{ (102ull << 20) + 1, TRACE_METRICS }, /* 2% of what 100 MiB and 1 byte are */
		{ (103ull << 20), TRACE_ALLOCATED },
	};

	for (size_t i = 0; i < 4; i++) {
		for (uint64_t r = 0; r < 3; r++) {
			struct made made = plain(r, 3);

			made.allocated = r == 1 ? cases[i].peak : (100ull << 20) + 1;
			made.sites[1][0] = r == 1 ? 500 : 100;
			made.sites[2][0] = r == 1 ? 900 : 800;
			made.sites[4][0] = r == 1 ? 90000 : 0; /* pinned: no device's peak */
			fold(&made);
		}
		EQ(merge_end(&merge, false), 0);
		EQ(merge_uneven(&merge), cases[i].metric);
		if (cases[i].metric == TRACE_ALLOCATED) {
			int64_t excess;
			const struct merge_site *site =
				merge_culprit(&merge, TRACE_ALLOCATED, 1, &excess);

			OK(site);
			STR(site->name, "f1 (m)");
			EQ(excess, 400);
		}
		merge_clear(&merge);
	}
}

TEST(nothing_is_no_job)
{
	OK(merge_end(&merge, false));
	OK(strstr(err_text(), "no trace"));
	merge_clear(&merge);
}
