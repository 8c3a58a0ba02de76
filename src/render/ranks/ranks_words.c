/* The words that the formats of a merge share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "facts/trace_rows.h"
#include "render/emit/term.h"
#include "render/ranks/ranks.h"

enum { NAME_COLUMNS = 72, MOST_NAMED = 8 };

static const char *bytes(char *to, int64_t amount)
{
	return show_bytes(to, amount < 0 ? 0 : (uint64_t)amount);
}

const char *merge_rank_word(char *to, const struct merge_rank *rank)
{
	if (rank->rank == TRACE_NONE)
		text_copy(to, MERGE_WORD, "-");
	else
		snprintf(to, MERGE_WORD, "%llu", (unsigned long long)rank->rank);
	return to;
}

const char *merge_exit_word(char *to, const struct merge_rank *rank)
{
	static const char *const words[] = { "exit", "running", "unfinished" };

	if (rank->signal != TRACE_NONE)
		snprintf(to, MERGE_WORD, "signal %llu", (unsigned long long)rank->signal);
	else if (rank->status != TRACE_NONE)
		snprintf(to, MERGE_WORD, "status %llu", (unsigned long long)rank->status);
	else
		text_copy(to, MERGE_WORD, words[rank->exit]);
	return to;
}

const char *merge_keep(struct merge *merge, const char *text)
{
	const char *kept = arena_text(&merge->arena, text, strlen(text));

	return kept ? kept : "";
}

static bool uses(const struct merge *merge, const struct merge_rank *rank,
		 const struct merge_card *card)
{
	for (size_t i = 0; i < rank->devices_n; i++) {
		if (&merge->cards[rank->devices[i].card] == card)
			return true;
	}
	return false;
}

const char *merge_users_word(char *to, const struct merge *merge, const struct merge_card *card)
{
	size_t named = 0;
	size_t count = 0;

	text_copy(to, MERGE_WORD, "");
	for (size_t i = 0; i < merge->order_n; i++) {
		const struct merge_rank *rank = &merge->ranks[merge->order[i]];

		if (!uses(merge, rank, card) || ++count > MOST_NAMED)
			continue;
		text_append(to, MERGE_WORD, named++ ? ", " : "");
		text_append(to, MERGE_WORD, SAY_RANK(rank));
	}
	if (count > MOST_NAMED)
		snprintf(to, MERGE_WORD, "%zu ranks", count);
	return to;
}

const char *merge_headroom_word(char *to, const struct merge_card *card)
{
	if (card->total == TRACE_NONE)
		text_copy(to, MERGE_WORD, "-");
	else if (card->headroom >= 0)
		text_copy(to, MERGE_WORD, SAY_BYTES((uint64_t)card->headroom));
	else
		text_join(to, MERGE_WORD, "-", SAY_BYTES(0 - (uint64_t)card->headroom));
	return to;
}

/* --- sentences --- */

/* Who stands out, and at which call site; or that nobody does. */
static bool say_uneven(const struct merge *merge, char *to, size_t size)
{
	enum trace_metric metric = merge_uneven(merge);
	const struct merge_spread *spread =
		&merge->spreads[metric == TRACE_METRICS ? TRACE_ALLOCATED : metric];
	const struct merge_site *site;
	char numbers[3][SHOW_NUMBER];
	char rank[MERGE_WORD];
	char name[SITE_LONGEST];
	int64_t excess;

	if (!spread->count) {
		snprintf(to, size, "No rank tells what it allocated on a device.");
		return true;
	}
	merge_rank_word(rank, &merge->ranks[spread->highest_rank]);
	if (metric == TRACE_METRICS) {
		if (spread->count == 1)
			snprintf(to, size, "Rank %s is alone: %s allocated at its peak.", rank,
				 show_bytes(numbers[0], spread->highest));
		else if (spread->highest == spread->median)
			snprintf(to, size, "All %zu ranks peak alike: %s allocated.", spread->count,
				 show_bytes(numbers[0], spread->median));
		else
			snprintf(to, size,
				 "All %zu ranks peak alike: %s allocated, at most %s above the "
				 "median (rank %s).",
				 spread->count, show_bytes(numbers[0], spread->median),
				 show_bytes(numbers[1], spread->highest - spread->median), rank);
		return true;
	}
	snprintf(to, size, "Rank %s peaks %s above the median of %zu ranks (%s %s)", rank,
		 show_bytes(numbers[0], spread->highest - spread->median), spread->count,
		 show_bytes(numbers[1], spread->median), rows_word(WORDS_METRICS, (int)metric));
	site = merge_culprit(merge, metric, spread->highest_rank, &excess);
	if (site) {
		show_safe(name, sizeof(name), site->name, NAME_COLUMNS);
		text_append(to, size, ": ");
		text_append(to, size, name);
		text_append(to, size, " holds ");
		text_append(to, size, bytes(numbers[2], excess));
		text_append(to, size, " more there");
	}
	text_append(to, size, ".");
	return true;
}

static bool say_ooms(const struct merge *merge, char *to, size_t size)
{
	size_t ranks = 0;
	uint64_t times = 0;
	char names[300] = "";

	for (size_t i = 0; i < merge->order_n; i++) {
		const struct merge_rank *rank = &merge->ranks[merge->order[i]];

		if (!rank->ooms)
			continue;
		times += rank->ooms;
		if (++ranks > MOST_NAMED)
			continue;
		text_append(names, sizeof(names), ranks > 1 ? ", " : "");
		text_append(names, sizeof(names), SAY_RANK(rank));
	}
	if (!ranks)
		return false;
	if (ranks > MOST_NAMED)
		snprintf(names, sizeof(names), "%zu of %zu", ranks, merge->order_n);
	snprintf(to, size, "%s %s ran out of memory, %llu time%s (memtrace report explains each).",
		 ranks == 1 ? "Rank" : "Ranks", names, (unsigned long long)times,
		 times == 1 ? "" : "s");
	return true;
}

/* " (GPU-1234 on node7)", what is known of it: baselines name neither. */
static void card_place(const struct merge_card *card, char *to, size_t size)
{
	char host[128];
	char uuid[128];

	show_safe(host, sizeof(host), card->host && strcmp(card->host, "?") != 0 ? card->host : "",
		  60);
	show_safe(uuid, sizeof(uuid), card->uuid ? card->uuid : "", 60);
	snprintf(to, size, "%s%s%s%s%s", host[0] || uuid[0] ? " (" : "", uuid,
		 host[0] && uuid[0] ? " " : "", host[0] ? "on " : "", host);
	if (to[0])
		text_append(to, size, ")");
}

static bool say_tightest(const struct merge *merge, char *to, size_t size)
{
	const struct merge_card *card;
	char place[300];
	char words[3][MERGE_WORD];
	char numbers[2][SHOW_NUMBER];

	if (merge->tightest == SIZE_MAX)
		return false;
	card = &merge->cards[merge->tightest];
	card_place(card, place, sizeof(place));
	merge_rank_word(words[0], &merge->ranks[card->fullest]);
	merge_users_word(words[1], merge, card);
	show_bytes(numbers[0], card->total);
	if (card->headroom >= 0)
		show_bytes(numbers[1], (uint64_t)card->headroom);
	else
		show_bytes(numbers[1], 0 - (uint64_t)card->headroom);
	if (card->ranks_n == 1)
		snprintf(to, size,
			 "Rank %s would run out first: of its card's %s%s %s were left at "
			 "the peak.",
			 words[0], numbers[0], place, merge_headroom_word(words[2], card));
	else if (card->headroom >= 0)
		snprintf(to, size,
			 "Rank %s would run out first: it shares a card of %s%s (ranks %s), "
			 "of which %s are left should those that ran at once peak together.",
			 words[0], numbers[0], place, words[1], numbers[1]);
	else
		snprintf(to, size,
			 "Rank %s would run out first: it shares a card of %s%s (ranks %s), "
			 "and the peaks of those that ran at once pass that by %s.",
			 words[0], numbers[0], place, words[1], numbers[1]);
	return true;
}

static bool say_missing(const struct merge *merge, char *to, size_t size)
{
	char names[300] = "";

	if (!merge->missing)
		return false;
	for (size_t i = 0; i < merge->gaps_n && i <= MOST_NAMED; i++) {
		const struct merge_gap *gap = &merge->gaps[i];
		char word[64];

		if (i == MOST_NAMED)
			snprintf(word, sizeof(word), " and others");
		else if (gap->first == gap->last)
			snprintf(word, sizeof(word), "%s%llu", i ? ", " : "",
				 (unsigned long long)gap->first);
		else
			snprintf(word, sizeof(word), "%s%llu-%llu", i ? ", " : "",
				 (unsigned long long)gap->first, (unsigned long long)gap->last);
		text_append(names, sizeof(names), word);
	}
	snprintf(to, size, "Of %llu ranks %llu %s here: %s %s missing.",
		 (unsigned long long)merge->world_size,
		 (unsigned long long)(merge->world_size - merge->missing),
		 merge->world_size - merge->missing == 1 ? "is" : "are", names,
		 merge->missing == 1 ? "is" : "are");
	return true;
}

static bool say_apart(const struct merge *merge, char *to, size_t size)
{
	const struct merge_rank *ended = &merge->ranks[merge->ended];
	const struct merge_rank *began = &merge->ranks[merge->began];

	if (!merge->apart)
		return false;
	snprintf(to, size,
		 "Rank %s (%.100s) had ended %s before rank %s (%.100s) began: are they of one "
		 "job?",
		 SAY_RANK(ended), ended->path,
		 SAY_TIME(began->start - ended->start - ended->duration), SAY_RANK(began),
		 began->path);
	return true;
}

static bool say_numbered(const struct merge *merge, char *to, size_t size)
{
	if (!merge->numbered)
		return false;
	snprintf(to, size,
		 "No trace tells a rank (RANK, OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID): they "
		 "are numbered in the order in which they were given.");
	return true;
}

static bool say_forced(const struct merge *merge, char *to, size_t size)
{
	if (!merge->left_out && !merge->strangers)
		return false;
	snprintf(to, size,
		 "By force: %zu of another world size, without a number; %zu left out, whose "
		 "process is here already.",
		 merge->strangers, merge->left_out);
	return true;
}

const char **merge_sentences(struct merge *merge, size_t *count)
{
	bool (*const all[])(const struct merge *, char *, size_t) = {
		say_uneven, say_ooms,     say_tightest, say_missing,
		say_apart,  say_numbered, say_forced,
	};
	const char **list = arena_alloc(&merge->arena, sizeof(all));
	char text[MERGE_SENTENCE];

	*count = 0;
	for (size_t i = 0; list && i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i](merge, text, sizeof(text)))
			list[(*count)++] = merge_keep(merge, text);
	}
	return list;
}

/* --- order --- */

static uint64_t weight(const struct merge_rank *rank)
{
	return rank->peaks[TRACE_ALLOCATED] == TRACE_NONE ? 0 : rank->peaks[TRACE_ALLOCATED];
}

static int by_peak(const void *a, const void *b, void *of)
{
	const struct merge *merge = of;
	const struct merge_rank *x = &merge->ranks[*(const size_t *)a];
	const struct merge_rank *y = &merge->ranks[*(const size_t *)b];

	if (weight(x) != weight(y))
		return weight(x) > weight(y) ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x < y ? -1 : x > y;
}

size_t merge_shown(const struct merge_options *options, size_t count)
{
	return !options->limit || count <= options->limit + 1 ? count : options->limit;
}

const size_t *merge_shown_ranks(struct merge *merge, const struct merge_options *options)
{
	size_t *list = arena_alloc(&merge->arena, (merge->order_n + 1) * sizeof(*list));

	if (!list)
		return NULL;
	memcpy(list, merge->order, merge->order_n * sizeof(*list));
	if (merge_shown(options, merge->order_n) < merge->order_n)
		qsort_r(list, merge->order_n, sizeof(*list), by_peak, merge);
	return list;
}
