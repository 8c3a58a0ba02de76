/*
 * Many ranks of one job as one picture: which has the highest peak, which would run out of memory
 * first, at which call site they differ.
 *
 * One trace at a time is read, folded into sums and closed, so the memory needed grows with ranks
 * and sites, not with traces. Folding takes the facts of a trace alone, however many events it has.
 *
 * Memory that a process imported from another (IPC, shareable handles) counts 0 in its own sums, so
 * memory that two ranks share is in these sums once, as its exporter's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/compare/metrics.h"
#include "analyse/input/texts.h"
#include "base/mem/arena.h"
#include "base/mem/map.h"

/* A rank's part of a card. */
struct merge_device {
	int device;                    /* the rank's own number of it */
	size_t card;                   /* position in cards */
	uint64_t peaks[TRACE_METRICS]; /* TRACE_NONE: not known */
	uint64_t ooms;
	bool used_of_card; /* used is what all processes on the card occupied, not this one alone */
};

struct merge_rank {
	uint64_t rank;                 /* TRACE_NONE: of another job, included by force */
	uint64_t world_size;           /* 1: not known, or alone */
	uint64_t local_rank;           /* TRACE_NONE: not known */
	uint64_t pid, start, duration; /* ns, since 1970; start TRACE_NONE: not known */
	const char *path, *host, *start_time;
	int exit;                /* enum trace_exit */
	uint64_t status, signal; /* TRACE_NONE: not known */
	struct merge_device *devices;
	size_t devices_n;
	/* Of its fullest device, used at least what was reserved; TRACE_NONE: not known. */
	uint64_t peaks[TRACE_METRICS];
	uint64_t ooms;
	bool baseline; /* of figures alone: there are no events to look at */
	bool left_out; /* the same process is there already */
};

/* A physical device: of a host, by UUID. */
struct merge_card {
	uint32_t host_text, uuid_text;  /* a card is found by them */
	const char *host, *uuid, *name; /* the last two may be NULL */
	const char *sorted_by;          /* the UUID, "" for none */
	uint64_t total;                 /* TRACE_NONE: not known */
	/* The highest sum that its processes held, counting the peaks of those that ran at the same
	 * time as if they coincided: exact for one process, a bound for several. */
	uint64_t peak;
	int64_t headroom; /* total - peak, negative when the bound passes the card */
	size_t ranks_n;   /* processes that use it */
	size_t fullest;   /* the position among ranks of the one that holds most of it */
	uint64_t ooms;
	size_t at; /* the position in which it came */
};

/* The columns of struct run_row that are kept for each rank of a site. */
enum { MERGE_COLUMNS = 3 };
extern const enum column merge_columns[MERGE_COLUMNS];

struct merge_share {
	uint64_t rank; /* position among ranks */
	int64_t values[MERGE_COLUMNS];
};

struct merge_site {
	uint32_t group_text, name_text; /* a site is found by them */
	const char *name, *group;       /* as of struct run_row */
	const char *file;               /* of its line, in the first rank that has one; NULL */
	uint64_t line;
	struct merge_share *shares; /* of the ranks in which it holds anything, in their order */
	size_t shares_n, shares_size;
	/* Set by merge_end(): over all ranks, those without the site holding 0. */
	struct merge_column {
		int64_t median, highest;
		uint64_t rank; /* that holds the highest */
	} columns[MERGE_COLUMNS];
};

/* The spread of a metric's peaks over ranks. */
struct merge_spread {
	size_t count; /* ranks that have it; the other members are set when it is not 0 */
	uint64_t lowest, median, highest;
	size_t lowest_rank, highest_rank; /* positions among ranks */
};

/* Ranks that are not there: first to last. */
struct merge_gap {
	uint64_t first, last;
};

struct merge {
	struct merge_rank *ranks; /* in the order in which they were folded */
	size_t ranks_n, ranks_size;
	struct merge_card *cards; /* by merge_end() */
	size_t cards_n, cards_size;
	size_t devices_n; /* of all ranks */
	struct merge_site *sites;
	size_t sites_n, sites_size;
	struct texts texts; /* names and groups of sites, hosts and UUIDs of cards */
	struct map site_of; /* 1 + site, by group and name */
	struct map card_of; /* 1 + card, by host and UUID, in the order in which they came */

	/* Set by merge_end(): */
	size_t *order; /* positions of the ranks that count, by rank, then by start */
	size_t order_n;
	uint64_t world_size; /* 0: no trace records one */
	bool numbered;       /* no trace records a rank: they have the order in which they came */
	struct merge_gap *gaps;
	size_t gaps_n;
	uint64_t missing;
	/* Ranks of one job run together. If not: the positions of a rank that had ended long before
	 * another began, and of that other. */
	bool apart;
	size_t ended, began;
	size_t left_out, strangers; /* included or left out by force: the same process again; ranks
				       of other world sizes */
	struct merge_spread spreads[TRACE_METRICS];
	size_t tightest; /* the card with the least headroom; SIZE_MAX when the size of no card is
			    known */
	struct arena arena;
};

/* Adds the run to the merge, which begins all zero. The run may be closed afterwards. */
void merge_fold(struct merge *merge, const struct run *run);

/* Opens the trace, spool or baseline, folds it and closes it. */
int merge_add(struct merge *merge, const char *path);

/*
 * Makes the picture, once, of what was folded. A rank that is there twice and world sizes that
 * differ are errors, -EINVAL with err_text(), unless by `force`: then of two traces of one process
 * the first counts, and ranks of a smaller world have no number.
 */
int merge_end(struct merge *merge, bool force);
void merge_clear(struct merge *merge);

/* The site's share of a rank in a column, 0 when it holds nothing there. */
int64_t merge_share_of(const struct merge_site *site, size_t rank, size_t column);

/* The metric in which the highest rank exceeds the others most clearly: by more than 2% and 1 MiB
 * above the median of at least two; TRACE_METRICS when all peak alike. */
enum trace_metric merge_uneven(const struct merge *merge);

/* The site of device memory with most of the rank's excess above the median; NULL for none. */
const struct merge_site *merge_culprit(const struct merge *merge, enum trace_metric metric,
				       size_t rank, int64_t *excess);

/* Sites of device memory, the most uneven first, then the largest: a list of the arena's. */
const struct merge_site **merge_by_excess(struct merge *merge, size_t column, size_t *count);

/* The rank whose trace is shown: of those with events the one with the highest peak, of equal ones
 * the first. NULL when all are baselines. */
const struct merge_rank *merge_worth_a_look(const struct merge *merge);

/* Cards, the least headroom first: a list of the arena's. */
const struct merge_card **merge_by_headroom(struct merge *merge);

/* ranks_cards.c, ranks_sites.c: the parts of merge_end(). */
void merge_find_cards(struct merge *merge);
void merge_rank_sites(struct merge *merge);

/* ranks_sites.c: the sites of a run that is folded as the newest rank. */
void merge_fold_sites(struct merge *merge, const struct run *run);
void merge_clear_sites(struct merge *merge);
