/*
 * The formats of ranks_formats.def, in which `memtrace merge` writes the ranks of a job.
 *
 * Every format contains sentences, the ranks, the spread of their peaks, the sites and, except for
 * Markdown, the cards. Each format escapes names of the traced programs by its own rules.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/ranks/ranks.h"
#include "render/emit/emit.h"

struct out;

struct merge_options {
	size_t limit; /* the most rows of a list, 0 for all; not for JSON */
	size_t sites; /* in JSON: how many sites, of those that differ most; 0 for all */
	bool full;    /* text: whole names, paths of traces, sites of reserved memory and at exit */
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

/* The sentences that begin the output, the most important one first; their number in *count. */
const char **merge_sentences(struct merge *merge, size_t *count);

/* The functions merge_*_word() return texts that live as long as the merge. merge_rank_word(): the
 * rank's number, "3", or "-" for a rank of another job (merge --force). */
const char *merge_rank_word(struct merge *merge, const struct merge_rank *rank);

/* How the rank's process ended: "exit", "signal 9", "status 1", "running", "unfinished". */
const char *merge_exit_word(struct merge *merge, const struct merge_rank *rank);

/* The ranks that use the card: "3", "0, 1, 2", or the number of ranks, "64 ranks". */
const char *merge_users_word(struct merge *merge, const struct merge_card *card);

/* The memory left on the card when its ranks peak: "1.00 GiB", "-1.00 GiB", "-" if not known. */
const char *merge_headroom_word(struct merge *merge, const struct merge_card *card);

/* The ranks in the order in which they are shown: by number or, if the limit leaves some out, the
 * highest peaks first. Returns merge->order_n positions in the merge's memory. */
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
	bool repeated; /* the rank's number is in each of its rows, not only in the first */

	const char *schema;
	struct emit_rows sentences, missing, ranks, devices, spreads, cards, sites;
	uint64_t world_size;
	bool numbered;
	struct merge_first_row tightest;
	const struct merge_first_row *first; /* the rank that comes closest to the end of its card's
						memory; NULL if no card's size is known */
};

extern const struct emit_column merge_document_columns[], merge_device_columns[],
	merge_spread_columns[], merge_card_columns[], merge_site_columns[];

/* Fills in all tables except the sites, with the ranks in `order`. Cards are sorted by number if
 * `order` is merge->order; else those with the least memory left come first. */
void merge_find_tables(struct merge_tables *tables, struct merge *merge, const size_t *order);

/* Fills in the table of sites from `list` or, if that is NULL, from all sites. Text and Markdown
 * show the values of one column only: the site's columns[column]. */
void merge_find_sites(struct merge_tables *tables, struct merge *merge,
		      const struct merge_site **list, size_t count, size_t column);
