/*
 * Many ranks as one picture, in the formats of ranks_formats.def.
 *
 * Every format tells the same: sentences, the ranks, how unlike they are, the cards, the sites.
 * Names come from the traced programs and are escaped by the rules of each format.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/ranks/ranks.h"
#include "render/emit/emit.h"

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

/* --- the ranks as rows, and the columns of them that all formats have: ranks_tables.c --- */

struct merge_rank_row {
	struct merge_rank of;
	const char *exit;
	struct emit_rows devices; /* of the type struct merge_device_row */
};

struct merge_device_row {
	struct merge_device of;
	const char *number, *host, *exit, *left;
	const char *path; /* to be told below the row, NULL for none */
};

struct merge_first_row {
	uint64_t rank, card;
	const int64_t *headroom; /* NULL: the card's size is not told */
};

struct merge_tables {
	/* To be set before: */
	bool whole;    /* names are not cut */
	bool paths;    /* traces have theirs told */
	bool repeated; /* each row of a rank's devices tells the rank */

	const char *schema;
	struct emit_rows sentences, missing, ranks, devices, spreads, cards, sites;
	uint64_t world_size;
	bool numbered;
	struct merge_first_row tightest;
	const struct merge_first_row *first; /* NULL: no card tells its size */
};

extern const struct emit_column merge_document_columns[], merge_device_columns[],
	merge_spread_columns[], merge_card_columns[], merge_site_columns[];

/*
 * All but the sites, the ranks in that order: the merge's own, or another, and then the cards with
 * the least left come first. False without memory, also when there is no order.
 */
bool merge_find_tables(struct merge_tables *tables, struct merge *merge, const size_t *order);

/* The sites of a list, NULL for the first of all; people are told of one column. */
bool merge_find_sites(struct merge_tables *tables, struct merge *merge,
		      const struct merge_site **list, size_t count, size_t column);
