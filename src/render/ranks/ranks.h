/*
 * Many ranks as one picture, in the formats of ranks_formats.def.
 *
 * Every format tells the same: sentences, the ranks, how unlike they are, the cards, the sites.
 * Names come from the traced programs and are escaped by the rules of each format.
 */
#ifndef RENDER_RANKS_RANKS_H
#define RENDER_RANKS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/ranks/ranks.h"

struct out;

struct merge_options {
	size_t limit; /* rows of a list, 0 for all; JSON always has all */
	size_t sites; /* of JSON, those that differ most, of device memory; 0 for all there are */
	bool full;    /* whole names, paths of traces, what is live at exit */
	bool colour;
};

/* Writes it: 0, or -errno with err_text(). */
typedef int merge_format_fn(struct merge *merge, struct out *out,
			    const struct merge_options *options);

struct merge_format {
	const char *name, *help;
	merge_format_fn *write;
};

/* Ended by a row without a name. */
extern const struct merge_format merge_formats[];

#define MERGE_FORMAT(name, help) merge_format_fn merge_##name;
#include "render/ranks/ranks_formats.def"
#undef MERGE_FORMAT

/* --- words that the formats share: ranks_words.c --- */

enum { MERGE_SENTENCE = 1024, MERGE_WORD = 48 };

/* The sentences in front, the most telling first; NULL without memory. */
const char **merge_sentences(struct merge *merge, size_t *count);

/* A text of the merge's own, "" without memory. */
const char *merge_keep(struct merge *merge, const char *text);

/* "3", "-" for one of another job: to MERGE_WORD bytes. */
const char *merge_rank_word(char *to, const struct merge_rank *rank);

/* How the process ended: "exit", "signal 9", "status 1", "running", "unfinished". */
const char *merge_exit_word(char *to, const struct merge_rank *rank);

/* "rank 3", "ranks 0, 1, 2", "ranks 0-63": those that use the card, to MERGE_WORD bytes. */
const char *merge_users_word(char *to, const struct merge *merge, const struct merge_card *card);

/* What headroom is, "over by 1.00 GiB" when it is less than none. */
const char *merge_headroom_word(char *to, const struct merge_card *card);

/* The same for the block that they stand in. */
#define SAY_RANK(rank) merge_rank_word((char[MERGE_WORD]){ 0 }, rank)
#define SAY_EXIT(rank) merge_exit_word((char[MERGE_WORD]){ 0 }, rank)
#define SAY_HEADROOM(card) merge_headroom_word((char[MERGE_WORD]){ 0 }, card)

/*
 * The ranks in the order to show: by number, or when not all are shown the highest peaks first. A
 * list of the arena's with `order_n` positions, NULL without memory.
 */
const size_t *merge_shown_ranks(struct merge *merge, const struct merge_options *options);

/* How many of so many rows are shown: a last row that says "1 more" could be that one. */
size_t merge_shown(const struct merge_options *options, size_t count);

#endif
