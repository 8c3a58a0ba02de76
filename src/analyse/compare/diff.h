/*
 * Compares two runs, or two sets of runs, row by row: what grew, what shrank, and why.
 *
 * The rows show one run of each side, the one with the median peak of allocated memory, so that
 * every column of sites sums exactly to the difference of the totals. The side's other runs show
 * how far a number varies by chance: a change within this spread counts as none. Ranks of a job are
 * no such repetitions: they are compared rank by rank, and the rows show the one that grew most.
 *
 * Without a base (memtrace check) there are no rows, only gates.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/compare/gate.h"
#include "analyse/compare/run_totals.h"
#include "base/mem/arena.h"

enum diff_why {
#define WHY(id, way, word, verb) WHY_##id,
#include "analyse/compare/diff_why.def"
	WHYS
};

struct diff_row {
	uint8_t dimension; /* enum dimension */
	uint8_t why;       /* enum diff_why, for a site */
	const char *name, *group;
	int64_t base[COLUMNS], head[COLUMNS];
	int64_t noise[COLUMNS]; /* the larger range (highest - lowest) of a side's runs */
	const char *file;       /* source file of a site; NULL if unknown */
	uint32_t line, base_line;
	uint64_t base_lifetime, lifetime; /* ns, longest of a site's blocks; TRACE_NONE: unknown */
};

struct diff_side {
	struct run *runs;
	size_t count;
	size_t middle; /* position of the run that the rows show */
	uint64_t ooms; /* allocations that failed for lack of memory, in all runs */
};

/* A rank that both sides have: the position of its run on each side. */
struct diff_pair {
	size_t base, head;
};

/* A property in which the runs differ: "torch" was "2.10" and is "2.11". */
struct diff_key {
	const char *key, *base, *head;
};

struct diff {
	struct diff_side base, head;
	struct diff_pair *pairs; /* NULL unless the runs are ranks of a job */
	size_t pairs_n;
	struct diff_row *rows; /* sorted by dimension */
	size_t rows_n;
	size_t first[DIMENSIONS + 1]; /* dimension d has rows [first[d], first[d + 1]) */
	int device;                   /* the device that is compared, NO_DEVICE for all */
	bool moved;              /* true if base and head have equal peaks of different sites */
	struct diff_key *unlike; /* properties in which the runs differ */
	size_t unlike_n, unlike_size;
	struct gate_result *gates;
	size_t gates_n;
	struct arena arena;
};

/* The rows of a dimension, for foreach(). */
#define DIFF_ROWS(diff, dimension)               \
	(diff)->rows + (diff)->first[dimension], \
		(diff)->first[(dimension) + 1] - (diff)->first[dimension]

/* Compares two sides of opened runs; base->count may be 0. Returns 0, or -errno with err_text().
 * Even after an error the diff owns the runs: diff_clear() closes them. */
int diff_make(struct diff *diff, const struct diff_side *base, const struct diff_side *head,
	      int device);
void diff_clear(struct diff *diff);

/* Checks the runs against the gates and fills `gates`. Returns 0, or -errno with err_text(). */
int diff_judge(struct diff *diff, struct gate *const *gates, size_t count);
size_t diff_broken(const struct diff *diff); /* the number of gates that the runs broke */

/* diff_gate_sites(), in gate_sites.c, lists up to GATE_SITES sites: for a broken budget those that
 * hold most, for a broken gate those that grew most. Returns their number, 0 if unknown. */
enum { GATE_SITES = 3 };

struct gate_site {
	const char *name, *file; /* `file` is NULL if unknown */
	uint32_t line;
	int64_t amount; /* bytes or count that the site holds (budget) or grew by (gate) */
};

size_t diff_gate_sites(const struct diff *diff, const struct gate_result *result,
		       struct gate_site *list);

/* The run that the rows show for a side. diff_base() returns NULL without a base. */
const struct run *diff_base(const struct diff *diff);
const struct run *diff_head(const struct diff *diff);

/* Returns the row's change in the column; 0 if it lies within the noise. */
int64_t diff_change(const struct diff_row *row, enum column column);

/* True if any row of the dimension and group changed in the column; a NULL group matches all. */
bool diff_any(const struct diff *diff, enum dimension dimension, const char *group,
	      enum column column);

/* Lists the rows that changed, largest change first, in the diff's arena. Returns their number. */
size_t diff_changed(struct diff *diff, enum dimension dimension, const char *group,
		    enum column column, const struct diff_row ***list);

/* Returns the columns of the dimension that can be compared: bit COLUMN_x for each column. */
unsigned diff_columns(const struct diff *diff, enum dimension dimension);

/* Sums a column over all sites of a group (a memory kind), for each side. */
void diff_totals(const struct diff *diff, const char *group, enum column column, int64_t *base,
		 int64_t *head);

/* Returns the sum, over all devices, of each device's own peak of allocated memory in the run. */
int64_t diff_peak(const struct run *run);

/* diff_ranks.c: if the runs of a side are ranks of a job, pairs them with the other side's ranks,
 * and lets the rows show the pair that grew most. Returns 0, or -errno with err_text(). */
int diff_pair_ranks(struct diff *diff);

/* Checks each pair of ranks (without a base: each run) against the gate. *result is the worst
 * result. Returns 0, or -errno with err_text() if no pair can be checked. */
int diff_judge_ranks(const struct diff *diff, const struct gate *gate, struct gate_result *result);

/* Return, if ranks are paired, the rank that the rows show, and the number of unpaired runs. */
uint64_t diff_rank(const struct diff *diff);
size_t diff_unpaired(const struct diff *diff);

/* diff_why.c: sets `why`, the reason for the change, in the rows of sites. */
void diff_find_why(struct diff *diff);

/* Returns the reason for a row's change in a column; row->why is the reason at the peak. */
enum diff_why diff_why_of(const struct diff_row *row, enum column column);

/* comparable.c: fills `unlike`, the properties in which the two sides differ. */
void diff_compare_keys(struct diff *diff);
