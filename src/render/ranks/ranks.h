/*
 * Writes the ranks of a job, for `memtrace merge`, in the formats of ranks_formats.def.
 *
 * Every format contains sentences, the ranks, the spread of their peaks, the sites and, except for
 * Markdown, the cards. Each format escapes names that come from the traced programs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/ranks/ranks.h"
#include "render/emit/emit.h"

struct out;

struct merge_options {
	size_t limit; /* at most this many rows of a list, 0 for all; not used by JSON */
	size_t sites; /* JSON: only this many sites, those that differ most between ranks; 0: all */
	bool full;    /* text: whole names, paths of traces, also the sites of reserved memory and
			 those of memory live at exit */
	bool colour;
};

typedef void merge_format_fn(struct merge *merge, struct out *out,
			     const struct merge_options *options);

struct merge_format {
	const char *name, *help;
	merge_format_fn *write;
};

/* All formats. The last row, without a name, ends the list. */
extern const struct merge_format merge_formats[];

#define MERGE_FORMAT(name, help) merge_format_fn merge_##name;
#include "render/ranks/ranks_formats.def"

/* --- texts that the formats share: ranks_words.c --- */

/* Returns the sentences that begin the output, the most important first, and sets *count. */
const char **merge_sentences(struct merge *merge, size_t *count);

/* The functions merge_*_word() return texts that live as long as the merge. merge_rank_word()
 * returns the rank's number, "3", or "-" for a rank of another job (merge --force). */
const char *merge_rank_word(struct merge *merge, const struct merge_rank *rank);

/* The state of the rank's process: "exit", "signal 9", "status 1", "running" or "unfinished". */
const char *merge_exit_word(struct merge *merge, const struct merge_rank *rank);

/* The ranks that use the card: "3", "0, 1, 2"; if they are many, their number, "64 ranks". */
const char *merge_users_word(struct merge *merge, const struct merge_card *card);

/* The memory left on the card when its ranks peak: "1.00 GiB", "-1.00 GiB", "-" if not known. */
const char *merge_headroom_word(struct merge *merge, const struct merge_card *card);

/* Returns merge->order_n indexes into merge->ranks, in the merge's memory: the order in which ranks
 * are shown, by number or, if the limit leaves out ranks, by peak, highest first. */
const size_t *merge_shown_ranks(struct merge *merge, const struct merge_options *options);

/* --- the ranks as rows, and the columns that all formats share: ranks_tables.c --- */

struct merge_rank_row {
	struct merge_rank of;
	const char *exit;
	struct emit_rows devices; /* rows of struct merge_device_row */
	size_t devices_end;       /* the number of device rows up to and including this rank's */
};

struct merge_device_row {
	struct merge_device of;
	const char *number, *host, *exit, *left;
	const char *path; /* the trace's path, written below the row; NULL for none */
};

struct merge_first_row {
	uint64_t rank, card;
	int64_t headroom;
};

struct merge_tables {
	/* The caller sets these three: */
	bool whole;    /* names are not cut */
	bool paths;    /* the paths of the traces are shown */
	bool repeated; /* each row of a rank has its number, not only the first row */

	const char *schema;
	struct emit_rows sentences, missing, ranks, devices, spreads, cards, sites;
	uint64_t world_size;
	bool numbered;
	struct merge_first_row tightest;
	const struct merge_first_row *first; /* the rank that comes closest to running out of
						memory; NULL if no card's size is known */
};

extern const struct emit_column merge_document_columns[], merge_device_columns[],
	merge_spread_columns[], merge_card_columns[], merge_site_columns[];

/* Fills in all tables except the sites, with the ranks in `order`. Cards are sorted by number if
 * `order` is merge->order, else by the memory left, the least first. */
void merge_find_tables(struct merge_tables *tables, struct merge *merge, const size_t *order);

/* Fills in the table of sites from `list` or, if `list` is NULL, from all sites. Text and Markdown
 * show the values of one column only, the site's columns[column]. */
void merge_find_sites(struct merge_tables *tables, struct merge *merge,
		      const struct merge_site **list, size_t count, size_t column);
