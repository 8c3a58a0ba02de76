/*
 * The ranks of a job together: which rank has the highest peak, which comes closest to running out
 * of memory, and at which call sites ranks differ.
 *
 * One trace at a time is read, reduced to sums and closed, so the memory needed grows with the
 * ranks and sites, not with the size of traces. No events are read.
 *
 * Memory that a process imported from another (IPC, shareable handles) counts 0 in its sums, so
 * memory shared by two ranks counts once, for the rank that exported it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/compare/metrics.h"
#include "analyse/input/string_table.h"
#include "base/mem/arena.h"
#include "base/mem/map.h"

/* A device as one rank used it. */
struct merge_device {
	int device;                    /* the device's number in the rank's process */
	size_t card;                   /* position of the device's card in cards[] */
	uint64_t peaks[TRACE_METRICS]; /* TRACE_NONE if not known */
	uint64_t ooms;
	bool used_of_card; /* true if peaks[TRACE_USED] is of all processes on the card */
};

struct merge_rank {
	uint64_t rank;                 /* TRACE_NONE if the job had another size (--force) */
	uint64_t world_size;           /* 1 if not known, or if the job has one rank */
	uint64_t local_rank;           /* TRACE_NONE if not known */
	uint64_t pid, start, duration; /* times in ns; start: since 1970, or TRACE_NONE */
	const char *path, *host, *start_time;
	int exit;                /* a value of enum trace_exit */
	uint64_t status, signal; /* TRACE_NONE if not known */
	struct merge_device *devices;
	size_t devices_n;
	/* For each metric, the highest peak of any device, TRACE_NONE if not known. `used` is
	 * measured only now and then, so its peak is raised to the device's peak of `reserved`. */
	uint64_t peaks[TRACE_METRICS];
	uint64_t ooms;
	bool baseline; /* true if the trace is a baseline, which has no events */
	bool left_out; /* true if another trace of the same process counts instead */
};

/* A physical device, identified by host and UUID. */
struct merge_card {
	uint32_t host_text, uuid_text;  /* the key in merge.card_of: text ids; without a UUID,
					   uuid_text is a number that no other card has */
	const char *host, *uuid, *name; /* uuid and name may be NULL */
	const char *sorted_by;          /* the UUID, "" for none */
	uint64_t total;                 /* bytes of the card; TRACE_NONE if not known */
	/* The largest sum of the peaks of processes that ran at the same time: they cannot have
	 * held more together. If only one process used the card, its peak. */
	uint64_t peak;
	int64_t headroom; /* total - peak; negative if `peak` exceeds `total` */
	size_t ranks_n;   /* number of ranks that use the card */
	size_t fullest;   /* position in ranks[] of the rank with the highest peak */
	uint64_t ooms;
	size_t at; /* position of the card before sorting */
};

/* The columns of struct run_row that are kept for each rank of a site. */
enum { MERGE_COLUMNS = 3 };
extern const enum column merge_columns[MERGE_COLUMNS];

struct merge_share {
	uint64_t rank; /* position in ranks[] */
	int64_t values[MERGE_COLUMNS];
};

struct merge_site {
	uint32_t group_text, name_text; /* text ids of group and name: the key in merge.site_of */
	const char *name, *group;       /* as in struct run_row */
	const char *file;               /* source file, from the first rank that has one; or NULL */
	uint64_t line;
	struct merge_share *shares; /* one per rank in which the site holds bytes, sorted by rank */
	size_t shares_n, shares_size;
	/* Set by merge_end(): values over all ranks; a rank without the site counts as 0. */
	struct merge_column {
		int64_t median, highest;
		uint64_t rank; /* number of the rank with the highest value */
	} columns[MERGE_COLUMNS];
};

struct merge_spread {
	size_t count; /* number of ranks that have the metric; if 0, nothing else is set */
	uint64_t lowest, median, highest;
	size_t lowest_rank, highest_rank; /* positions in ranks[] */
};

/* Ranks that have no trace: all from `first` to `last`. */
struct merge_gap {
	uint64_t first, last;
};

struct merge {
	struct merge_rank *ranks; /* in the order of the traces */
	size_t ranks_n, ranks_size;
	struct merge_card *cards; /* completed by merge_end() */
	size_t cards_n, cards_size;
	size_t devices_n; /* number of devices of all ranks */
	struct merge_site *sites;
	size_t sites_n, sites_size;
	struct texts texts; /* names and groups of sites, hosts, and UUIDs of cards */
	struct map site_of; /* from group and name to 1 + position in sites[] */
	struct map card_of; /* from host and UUID to 1 + the card's number */

	/* Set by merge_end(): */
	size_t *order; /* positions in ranks[] of all not left out, sorted by rank, then start */
	size_t order_n;
	uint64_t world_size; /* number of ranks in the job; 0 if no trace records more than 1 */
	bool numbered; /* true if several traces without a rank got their positions as ranks */
	struct merge_gap *gaps;
	size_t gaps_n;
	uint64_t missing;
	/* True if the ranks did not all run together. Then `ended` is the position of a rank that
	 * had ended long before another rank began, and `began` is the position of the latter. */
	bool apart;
	size_t ended, began;
	size_t left_out, strangers; /* with --force. left_out: second traces of a process, not
				       counted; strangers: ranks of another world size, counted */
	struct merge_spread spreads[TRACE_METRICS];
	size_t tightest; /* position of the card with least headroom; SIZE_MAX: no headroom known */
	struct arena arena;
};

/* Adds a run (an open trace) as a rank. `merge` must be all zero before the first call. The run may
 * be closed afterwards. */
void merge_fold(struct merge *merge, const struct run *run);

/* Opens the trace, spool or baseline, adds it and closes it. 0, or -errno with err_text(). */
int merge_add(struct merge *merge, const char *path);

/*
 * Completes the merge; to be called once, after all traces were added. Returns 0, or -EINVAL with
 * err_text() if there is no trace. Two traces of a rank, or different world sizes, are errors, too,
 * unless `force` is true: then the first trace of each process counts, and ranks whose world size
 * is not the largest one lose their numbers.
 */
int merge_end(struct merge *merge, bool force);
void merge_clear(struct merge *merge);

/* Returns the site's bytes in a rank (position in ranks[]), by column; 0 if it has none. */
int64_t merge_share_of(const struct merge_site *site, size_t rank, size_t column);

/* Returns the first metric in which the highest peak of a rank is more than 2% and 1 MiB above the
 * median of the ranks (at least two); TRACE_METRICS if there is no such metric. */
enum trace_metric merge_uneven(const struct merge *merge);

/* Returns the site of device memory whose bytes in this rank exceed the site's median over all
 * ranks by the most, and sets *excess to the difference. NULL if no site exceeds its median,
 * and for TRACE_USED, because sites have no used bytes. */
const struct merge_site *merge_culprit(const struct merge *merge, enum trace_metric metric,
				       size_t rank, int64_t *excess);

/* Returns the sites of device memory whose highest value in a rank exceeds the median, sorted by
 * the difference, then by the highest value. The list is in merge->arena. */
const struct merge_site **merge_by_excess(struct merge *merge, size_t column, size_t *count);

/* Returns the rank whose trace should be opened first: of ranks with events, that with the highest
 * peak of allocated bytes (the first of equal ranks). NULL if all are baselines. */
const struct merge_rank *merge_worth_a_look(const struct merge *merge);

/* Returns the cards by rising headroom, those of unknown size last. The list is in merge->arena. */
const struct merge_card **merge_by_headroom(struct merge *merge);

/* The parts of merge_end() in ranks_order.c (which returns as merge_end()), ranks_spread.c,
 * ranks_cards.c and ranks_sites.c. */
int merge_put_in_order(struct merge *merge, bool force);
void merge_find_spreads(struct merge *merge);
void merge_find_cards(struct merge *merge);
void merge_rank_sites(struct merge *merge);

/* ranks_sites.c: adds the sites of the run, whose rank is ranks[ranks_n]. */
void merge_fold_sites(struct merge *merge, const struct run *run);
void merge_clear_sites(struct merge *merge);
