/* The ranks as rows, and the columns of them that all formats have. */
#ifndef RENDER_RANKS_RANKS_TABLES_H
#define RENDER_RANKS_RANKS_TABLES_H

#include "render/emit/emit.h"
#include "render/ranks/ranks.h"

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

#endif
