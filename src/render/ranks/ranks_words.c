/* Sentences and words on the ranks of a job, for several formats of memtrace merge. */
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/ranks/ranks.h"

enum { NAME_COLUMNS = 140, MOST_NAMED = 8 };

const char *merge_rank_word(struct merge *merge, const struct merge_rank *rank)
{
	return rank->rank == TRACE_NONE
		       ? "-"
		       : show_kept(&merge->arena, "%llu", (unsigned long long)rank->rank);
}

const char *merge_exit_word(struct merge *merge, const struct merge_rank *rank)
{
	static const char *const words[] = { "exit", "running", "unfinished" };
	bool killed = rank->signal != TRACE_NONE;
	uint64_t number = killed ? rank->signal : rank->status;

	return number == TRACE_NONE
		       ? words[rank->exit]
		       : show_kept(&merge->arena, "%s %llu", killed ? "signal" : "status",
				   (unsigned long long)number);
}

static bool uses(const struct merge *merge, const struct merge_rank *rank,
		 const struct merge_card *card)
{
	foreach (device, rank->devices) {
		if (&merge->cards[device->card] == card)
			return true;
	}
	return false;
}

static const char *add_name(struct merge *merge, const char *list, size_t named, const char *name)
{
	return named < MOST_NAMED
		       ? show_kept(&merge->arena, "%s%s%s", list, named ? ", " : "", name)
		       : list;
}

const char *merge_users_word(struct merge *merge, const struct merge_card *card)
{
	const char *users = "";
	size_t count = 0;

	foreach (at, merge->order) {
		const struct merge_rank *rank = &merge->ranks[*at];

		if (uses(merge, rank, card))
			users = add_name(merge, users, count++, merge_rank_word(merge, rank));
	}
	return count > MOST_NAMED ? show_kept(&merge->arena, "%zu ranks", count) : users;
}

const char *merge_headroom_word(struct merge *merge, const struct merge_card *card)
{
	return card->total == TRACE_NONE
		       ? "-"
		       : show_kept(&merge->arena, "%s", SAY_AMOUNT(card->headroom, true));
}

/* --- sentences: each function returns one, or NULL --- */

static const char *even_sentence(struct merge *merge)
{
	const struct merge_spread *spread = &merge->spreads[TRACE_ALLOCATED];
	uint64_t above = spread->highest - spread->median;
	const char *highest;

	if (!spread->count)
		return "No rank has data for a device.";
	highest = merge_rank_word(merge, &merge->ranks[spread->highest_rank]);
	if (spread->count == 1)
		return show_kept(&merge->arena, "Only rank %s is given: its peak is %s allocated.",
				 highest, SAY_BYTES(spread->highest));
	return show_kept(&merge->arena, "All %zu ranks have about the same peak: %s allocated%s.",
			 spread->count, SAY_BYTES(spread->median),
			 spread->highest > spread->median
				 ? show_kept(&merge->arena, ", at most %s more (rank %s)",
					     SAY_BYTES(above), highest)
				 : "");
}

static const char *uneven_sentence(struct merge *merge)
{
	enum trace_metric metric = merge_uneven(merge);
	const struct merge_spread *spread = &merge->spreads[metric];
	const struct merge_site *site;
	char name[SITE_LONGEST];
	const char *culprit = "";
	int64_t excess;

	if (metric == TRACE_METRICS)
		return even_sentence(merge);
	site = merge_culprit(merge, metric, spread->highest_rank, &excess);
	if (site) {
		show_cut(name, sizeof(name), site->name, NAME_COLUMNS, SHOW_MIDDLE);
		culprit = show_kept(&merge->arena, ": %s holds %s more there", name,
				    SAY_BYTES((uint64_t)excess));
	}
	return show_kept(&merge->arena, "Rank %s peaks %s above the median of %zu ranks (%s %s)%s.",
			 merge_rank_word(merge, &merge->ranks[spread->highest_rank]),
			 SAY_BYTES(spread->highest - spread->median), spread->count,
			 SAY_BYTES(spread->median), rows_word(WORDS_METRICS, (int)metric), culprit);
}

static const char *ooms_sentence(struct merge *merge)
{
	size_t ranks = 0;
	uint64_t times = 0;
	const char *names = "";

	foreach (at, merge->order) {
		const struct merge_rank *rank = &merge->ranks[*at];

		times += rank->ooms;
		if (rank->ooms)
			names = add_name(merge, names, ranks++, merge_rank_word(merge, rank));
	}
	if (!ranks)
		return NULL;
	if (ranks > MOST_NAMED)
		names = show_kept(&merge->arena, "%zu of %zu", ranks, merge->order_n);
	return show_kept(&merge->arena,
			 "%s %s ran out of memory, %llu time%s (see memtrace report --oom).",
			 ranks == 1 ? "Rank" : "Ranks", names, (unsigned long long)times,
			 times == 1 ? "" : "s");
}

/* Returns the card's UUID and host, " (GPU-1234 on node7)", without a part that is not known. */
static const char *card_place(struct merge *merge, const struct merge_card *card)
{
	char host[128];
	char uuid[128];

	show_safe(host, sizeof(host), card->host && strcmp(card->host, "?") != 0 ? card->host : "",
		  60);
	show_safe(uuid, sizeof(uuid), card->uuid ? card->uuid : "", 60);
	if (!host[0] && !uuid[0])
		return "";
	return show_kept(&merge->arena, " (%s%s%s%s)", uuid, host[0] && uuid[0] ? " " : "",
			 host[0] ? "on " : "", host);
}

static const char *tightest_sentence(struct merge *merge)
{
	const struct merge_card *card;
	const char *first;
	const char *place;

	if (merge->tightest == SIZE_MAX)
		return NULL;
	card = &merge->cards[merge->tightest];
	if (card->headroom > (int64_t)(card->total / 2))
		return NULL; /* no rank is close to running out */
	place = card_place(merge, card);
	first = merge_rank_word(merge, &merge->ranks[card->fullest]);
	if (card->ranks_n == 1)
		return show_kept(&merge->arena,
				 "Rank %s is closest to running out of memory: %s of %s%s were "
				 "free at its peak.",
				 first, merge_headroom_word(merge, card), SAY_BYTES(card->total),
				 place);
	return show_kept(
		&merge->arena,
		"Rank %s is closest to running out of memory: it shares a card of %s%s (ranks "
		"%s). If ranks that ran at the same time peaked together, %s would be %s.",
		first, SAY_BYTES(card->total), place, merge_users_word(merge, card),
		card->headroom < 0 ? SAY_BYTES(0 - (uint64_t)card->headroom)
				   : merge_headroom_word(merge, card),
		card->headroom < 0 ? "missing" : "left");
}

static const char *missing_sentence(struct merge *merge)
{
	unsigned long long here = merge->world_size - merge->missing;
	const char *names = "";

	if (!merge->missing)
		return NULL;
	for (size_t i = 0; i < merge->gaps_n; i++) {
		const struct merge_gap *gap = &merge->gaps[i];
		unsigned long long first = gap->first;
		unsigned long long last = gap->last;

		names = add_name(merge, names, i,
				 first == last
					 ? show_kept(&merge->arena, "%llu", first)
					 : show_kept(&merge->arena, "%llu-%llu", first, last));
	}
	return show_kept(&merge->arena, "Of %llu ranks, %llu %s given; missing: %s%s.",
			 (unsigned long long)merge->world_size, here, here == 1 ? "is" : "are",
			 names, merge->gaps_n > MOST_NAMED ? " and others" : "");
}

static const char *apart_sentence(struct merge *merge)
{
	const struct merge_rank *ended = &merge->ranks[merge->ended];
	const struct merge_rank *began = &merge->ranks[merge->began];

	return merge->apart
		       ? show_kept(&merge->arena,
				   "Rank %s (%.100s) had ended %s before rank %s (%.100s) began: "
				   "they may be from different jobs.",
				   merge_rank_word(merge, ended), ended->path,
				   SAY_TIME(began->start - ended->start - ended->duration),
				   merge_rank_word(merge, began), began->path)
		       : NULL;
}

static const char *numbered_sentence(struct merge *merge)
{
	return merge->numbered ? "No trace records its rank (RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, "
				 "SLURM_PROCID): ranks are numbered in the order given."
			       : NULL;
}

static const char *forced_sentence(struct merge *merge)
{
	return merge->left_out || merge->strangers
		       ? show_kept(&merge->arena,
				   "Because of --force: %zu of the traces have another world size, "
				   "and so no rank; %zu were left out, because another trace is of "
				   "the same process.",
				   merge->strangers, merge->left_out)
		       : NULL;
}

const char **merge_sentences(struct merge *merge, size_t *count)
{
	const char *(*const all[])(struct merge *) = {
		uneven_sentence, ooms_sentence,     tightest_sentence, missing_sentence,
		apart_sentence,  numbered_sentence, forced_sentence,
	};
	const char **list = need(&merge->arena, sizeof(all));

	*count = 0;
	foreach (make, all, COUNT_OF(all)) {
		const char *sentence = (*make)(merge);

		if (sentence)
			list[(*count)++] = sentence;
	}
	return list;
}
