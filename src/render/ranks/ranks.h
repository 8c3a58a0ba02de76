/*
 * Many ranks in one report, in the formats of ranks_formats.def.
 *
 * Every format contains sentences, the ranks, the spread of their peaks, the cards and the sites.
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
	size_t sites; /* in JSON: the sites of device memory that differ most, 0 for all */
	bool full;    /* whole names, paths of traces, memory live at exit */
	bool colour;
};

/* Writes the merge. Returns 0, or -errno with err_text(). */
typedef int merge_format_fn(struct merge *merge, struct out *out,
			    const struct merge_options *options);

struct merge_format {
	const char *name, *help;
	merge_format_fn *write;
};

/* The last row has no name. */
extern const struct merge_format merge_formats[];

#define MERGE_FORMAT(name, help) merge_format_fn merge_##name;
#include "render/ranks/ranks_formats.def"
#undef MERGE_FORMAT

/* --- texts that the formats share: ranks_words.c --- */

/* The sentences that come first, the most important one at the top. */
const char **merge_sentences(struct merge *merge, size_t *count);

/* These return texts that live as long as the merge: "3", "-" for a rank of another job. */
const char *merge_rank_word(struct merge *merge, const struct merge_rank *rank);

/* The end of the process: "exit", "signal 9", "status 1", "running", "unfinished". */
const char *merge_exit_word(struct merge *merge, const struct merge_rank *rank);

/* The ranks that use the card: "3", "0, 1, 2", "64 ranks". */
const char *merge_users_word(struct merge *merge, const struct merge_card *card);

/* The card's headroom: "1.00 GiB", "-1.00 GiB", "-" if the card's size is not known. */
const char *merge_headroom_word(struct merge *merge, const struct merge_card *card);

/* The ranks in the order to show: by number, or, if not all are shown, the highest peaks first. A
 * list of merge->order_n positions in the memory of the merge. */
const size_t *merge_shown_ranks(struct merge *merge, const struct merge_options *options);

/* --- the ranks as rows, and the columns that all formats share: ranks_tables.c --- */

struct merge_rank_row {
	struct merge_rank of;
	const char *exit;
	struct emit_rows devices; /* of the type struct merge_device_row */
	size_t devices_end;       /* rows of devices that it and the ranks before it have in all */
};

struct merge_device_row {
	struct merge_device of;
	const char *number, *host, *exit, *left;
	const char *path; /* written below the row, NULL for none */
};

struct merge_first_row {
	uint64_t rank, card;
	int64_t headroom;
};

struct merge_tables {
	/* Set by the caller: */
	bool whole;    /* names are not cut */
	bool paths;    /* the paths of the traces are shown */
	bool repeated; /* each row of a rank's devices has the number of the rank */

	const char *schema;
	struct emit_rows sentences, missing, ranks, devices, spreads, cards, sites;
	uint64_t world_size;
	bool numbered;
	struct merge_first_row tightest;
	const struct merge_first_row *first; /* NULL: the size of no card is known */
};

extern const struct emit_column merge_document_columns[], merge_device_columns[],
	merge_spread_columns[], merge_card_columns[], merge_site_columns[];

/* Fills in all tables but the sites. With an order other than the merge's own, the cards with the
 * least memory left come first. */
void merge_find_tables(struct merge_tables *tables, struct merge *merge, const size_t *order);

/* Fills in the sites of a list, NULL for all in their order; text and Markdown show one column. */
void merge_find_sites(struct merge_tables *tables, struct merge *merge,
		      const struct merge_site **list, size_t count, size_t column);
