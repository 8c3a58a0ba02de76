/* The words that the formats of a merge share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem/sort.h"
#include "base/text/text.h"
#include "facts/trace_rows.h"
#include "render/emit/term.h"
#include "render/ranks/ranks.h"

enum { NAME_COLUMNS = 72, MOST_NAMED = 8 };

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
	size_t count = 0;

	text_copy(to, MERGE_WORD, "");
	for (size_t i = 0; i < merge->order_n; i++) {
		const struct merge_rank *rank = &merge->ranks[merge->order[i]];

		if (uses(merge, rank, card) && ++count <= MOST_NAMED)
			show_more(to, MERGE_WORD, "%s%s", count > 1 ? ", " : "", SAY_RANK(rank));
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

/* That nobody stands out. */
static bool say_even(const struct merge *merge, char *to, size_t size)
{
	const struct merge_spread *spread = &merge->spreads[TRACE_ALLOCATED];
	const struct merge_rank *highest = &merge->ranks[spread->highest_rank];

	if (!spread->count)
		snprintf(to, size, "No rank tells what it allocated on a device.");
	else if (spread->count == 1)
		snprintf(to, size, "Rank %s is alone: %s allocated at its peak.", SAY_RANK(highest),
			 SAY_BYTES(spread->highest));
	else
		snprintf(to, size, "All %zu ranks peak alike: %s allocated", spread->count,
			 SAY_BYTES(spread->median));
	if (spread->count > 1 && spread->highest > spread->median)
		show_more(to, size, ", at most %s above the median (rank %s)",
			  SAY_BYTES(spread->highest - spread->median), SAY_RANK(highest));
	if (spread->count > 1)
		text_append(to, size, ".");
	return true;
}

/* Who stands out, and at which call site. */
static bool say_uneven(const struct merge *merge, char *to, size_t size)
{
	enum trace_metric metric = merge_uneven(merge);
	const struct merge_spread *spread = &merge->spreads[metric];
	const struct merge_site *site;
	char name[SITE_LONGEST];
	int64_t excess;

	if (metric == TRACE_METRICS)
		return say_even(merge, to, size);
	snprintf(to, size, "Rank %s peaks %s above the median of %zu ranks (%s %s)",
		 SAY_RANK(&merge->ranks[spread->highest_rank]),
		 SAY_BYTES(spread->highest - spread->median), spread->count,
		 SAY_BYTES(spread->median), rows_word(WORDS_METRICS, (int)metric));
	site = merge_culprit(merge, metric, spread->highest_rank, &excess);
	if (site) {
		show_safe(name, sizeof(name), site->name, NAME_COLUMNS);
		show_more(to, size, ": %s holds %s more there", name, SAY_BYTES((uint64_t)excess));
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
		if (++ranks <= MOST_NAMED)
			show_more(names, sizeof(names), "%s%s", ranks > 1 ? ", " : "",
				  SAY_RANK(rank));
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
	char users[MERGE_WORD];

	if (merge->tightest == SIZE_MAX)
		return false;
	card = &merge->cards[merge->tightest];
	card_place(card, place, sizeof(place));
	merge_users_word(users, merge, card);
	snprintf(to, size, "Rank %s would run out first: ", SAY_RANK(&merge->ranks[card->fullest]));
	if (card->ranks_n == 1)
		show_more(to, size, "of its card's %s%s %s were left at the peak.",
			  SAY_BYTES(card->total), place, SAY_HEADROOM(card));
	else if (card->headroom >= 0)
		show_more(to, size,
			  "it shares a card of %s%s (ranks %s), of which %s are left should those "
			  "that ran at once peak together.",
			  SAY_BYTES(card->total), place, users, SAY_HEADROOM(card));
	else
		show_more(to, size,
			  "it shares a card of %s%s (ranks %s), and the peaks of those that ran at "
			  "once pass that by %s.",
			  SAY_BYTES(card->total), place, users,
			  SAY_BYTES(0 - (uint64_t)card->headroom));
	return true;
}

static bool say_missing(const struct merge *merge, char *to, size_t size)
{
	char names[300] = "";

	if (!merge->missing)
		return false;
	for (size_t i = 0; i < merge->gaps_n && i < MOST_NAMED; i++) {
		const struct merge_gap *gap = &merge->gaps[i];

		show_more(names, sizeof(names), "%s%llu", i ? ", " : "",
			  (unsigned long long)gap->first);
		if (gap->first != gap->last)
			show_more(names, sizeof(names), "-%llu", (unsigned long long)gap->last);
	}
	if (merge->gaps_n > MOST_NAMED)
		text_append(names, sizeof(names), " and others");
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

size_t merge_shown(const struct merge_options *options, size_t count)
{
	return !options->limit || count <= options->limit + 1 ? count : options->limit;
}

const size_t *merge_shown_ranks(struct merge *merge, const struct merge_options *options)
{
	struct weighed {
		uint64_t peak, rank;
		size_t at;
	};
	static const struct sort_key by_peak[] = {
		SORT_DOWN(struct weighed, peak),
		SORT_UP(struct weighed, rank),
		SORT_UP(struct weighed, at),
		{ 0 },
	};
	struct weighed *rows = arena_alloc(&merge->arena, (merge->order_n + 1) * sizeof(*rows));
	size_t *list = arena_alloc(&merge->arena, (merge->order_n + 1) * sizeof(*list));

	if (!rows || !list)
		return NULL;
	for (size_t i = 0; i < merge->order_n; i++) {
		const struct merge_rank *rank = &merge->ranks[merge->order[i]];

		rows[i] = (struct weighed){ trace_known(rank->peaks[TRACE_ALLOCATED]), rank->rank,
					    merge->order[i] };
	}
	if (merge_shown(options, merge->order_n) < merge->order_n)
		sort_rows(rows, merge->order_n, sizeof(*rows), by_peak);
	for (size_t i = 0; i < merge->order_n; i++)
		list[i] = rows[i].at;
	return list;
}
