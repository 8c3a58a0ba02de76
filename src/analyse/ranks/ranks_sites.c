/*
 * Call sites over all ranks: finds each site's median, highest value, and the rank that has it.
 *
 * A site has an entry only for ranks in which it holds bytes, so a thousand ranks of a program with
 * a thousand sites need some tens of megabytes.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/ranks/ranks.h"
#include "base/mem/sort.h"

static const char device_memory[] = "device";

const enum column merge_columns[MERGE_COLUMNS] = { COLUMN_ALLOCATED, COLUMN_RESERVED, COLUMN_EXIT };

/* The site of a row, added if it is new. The pointer is valid until the next call. */
static struct merge_site *site_of(struct merge *merge, const struct run_row *row)
{
	struct texts *texts = &merge->texts;
	const uint32_t key[] = {
		texts_enter(texts, &merge->arena, row->group, strlen(row->group)),
		texts_enter(texts, &merge->arena, row->name, strlen(row->name)),
	};
	uint32_t id =
		KEYED_ENTER(merge->site_of, merge->sites, merge->sites_n, merge->sites_size, key);
	struct merge_site *site;

	NEED(key[0] && key[1] && id);
	site = &merge->sites[id - 1];
	site->group = texts->list[key[0] - 1];
	site->name = texts->list[key[1] - 1];
	return site;
}

static void add_share(struct merge *merge, struct merge_site *site, const struct run_row *row)
{
	struct merge_share *share;

	NEED(GROW(site->shares, site->shares_n, site->shares_size, 4));
	share = &site->shares[site->shares_n++];
	share->rank = merge->ranks_n;
	for (size_t i = 0; i < MERGE_COLUMNS; i++)
		share->values[i] = row->values[merge_columns[i]];
	if (!site->file && row->file) {
		site->file = need_text(&merge->arena, row->file);
		site->line = row->line;
	}
}

static bool holds_bytes(const struct run_row *row)
{
	size_t i = 0;

	while (i < MERGE_COLUMNS && !row->values[merge_columns[i]])
		i++;
	return i < MERGE_COLUMNS;
}

void merge_fold_sites(struct merge *merge, const struct run *run)
{
	foreach (row, run->rows) {
		if (row->dimension == DIMENSION_SITE && holds_bytes(row))
			add_share(merge, site_of(merge, row), row);
	}
}

void merge_clear_sites(struct merge *merge)
{
	foreach (site, merge->sites)
		free(site->shares);
	free(merge->sites);
	texts_clear(&merge->texts);
	map_clear(&merge->site_of);
}

static bool counts(const struct merge *merge, size_t rank)
{
	return !merge->ranks[rank].left_out && merge->ranks[rank].rank != TRACE_NONE;
}

int64_t merge_share_of(const struct merge_site *site, size_t rank, size_t column)
{
	const struct merge_share *shares = site->shares;
	size_t until = sort_until(shares, site->shares_n, sizeof(*shares),
				  offsetof(struct merge_share, rank), rank);

	return until && shares[until - 1].rank == rank ? shares[until - 1].values[column] : 0;
}

/* Finds a column's median and highest value. `values` has room for one value per rank. */
static void rank_column(const struct merge *merge, struct merge_site *site, size_t column,
			int64_t *values, size_t ranks)
{
	struct merge_column *to = &site->columns[column];
	size_t count = 0;

	memset(values, 0, ranks * sizeof(*values));
	to->rank = merge->ranks[0].rank;
	foreach (share, site->shares) {
		if (!counts(merge, share->rank))
			continue;
		if (!count || share->values[column] > to->highest) {
			to->highest = share->values[column];
			to->rank = merge->ranks[share->rank].rank;
		}
		values[count++] = share->values[column];
	}
	to->median = median_of(values, ranks);
	/* Only the site "[no site]" can be negative. If a rank lacks that site, the highest
	 * value is 0. */
	for (size_t i = 0; i < merge->order_n && to->highest < 0; i++) {
		if (!counts(merge, merge->order[i]) ||
		    merge_share_of(site, merge->order[i], column) < 0)
			continue;
		to->highest = 0;
		to->rank = merge->ranks[merge->order[i]].rank;
	}
}

void merge_rank_sites(struct merge *merge)
{
	int64_t *values = NEED_ROOM(&merge->arena, values, merge->ranks_n);
	size_t ranks = 0;

	for (size_t i = 0; i < merge->ranks_n; i++)
		ranks += counts(merge, i);
	foreach (site, merge->sites) {
		for (size_t column = 0; column < MERGE_COLUMNS; column++)
			rank_column(merge, site, column, values, ranks);
	}
}

const struct merge_site *merge_culprit(const struct merge *merge, enum trace_metric metric,
				       size_t rank, int64_t *excess)
{
	size_t column = metric == TRACE_RESERVED ? 1 : 0;
	const struct merge_site *culprit = NULL;

	*excess = 0;
	for (size_t i = 0; metric != TRACE_USED && i < merge->sites_n; i++) {
		const struct merge_site *site = &merge->sites[i];
		int64_t more = merge_share_of(site, rank, column) - site->columns[column].median;

		if (strcmp(site->group, device_memory) != 0 || more <= *excess)
			continue;
		*excess = more;
		culprit = site;
	}
	return culprit;
}

static int by_excess(const void *a, const void *b, void *of)
{
	const size_t *column = of;
	const struct merge_site *x = *(const struct merge_site *const *)a;
	const struct merge_site *y = *(const struct merge_site *const *)b;
	const struct merge_column *p = &x->columns[*column];
	const struct merge_column *q = &y->columns[*column];

	if (p->highest - p->median != q->highest - q->median)
		return p->highest - p->median > q->highest - q->median ? -1 : 1;
	if (p->highest != q->highest)
		return p->highest > q->highest ? -1 : 1;
	return strcmp(x->name, y->name);
}

const struct merge_site **merge_by_excess(struct merge *merge, size_t column, size_t *count)
{
	const struct merge_site **list =
		need(&merge->arena, (merge->sites_n + 1) * sizeof(const void *));

	*count = 0;
	foreach (site, merge->sites) {
		if (!strcmp(site->group, device_memory) &&
		    site->columns[column].highest > site->columns[column].median)
			list[(*count)++] = site;
	}
	if (*count)
		qsort_r(list, *count, sizeof(const void *), by_excess, &column);
	return list;
}
