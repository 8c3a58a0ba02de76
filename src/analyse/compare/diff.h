/*
 * Two runs, or two sets of runs, compared row by row: what grew, what shrank, and why.
 *
 * The rows are those of each side's middle run (by its peak of allocated memory), so that every
 * column of sites sums exactly to the difference of the totals. The other runs show how far a
 * number varies by itself: a change within that counts as none. Runs that are ranks of a job are no
 * repetitions: those are compared rank by rank, and the rows are of the rank that grew most.
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
#undef WHY
	WHYS
};

struct diff_row {
	uint8_t dimension; /* enum dimension */
	uint8_t why;       /* enum diff_why, of a site */
	const char *name, *group;
	int64_t base[COLUMNS], head[COLUMNS];
	int64_t noise[COLUMNS]; /* the larger spread of the two sides */
	const char *file;       /* as of struct run_row; NULL */
	uint32_t line, base_line;
	uint64_t base_lifetime, lifetime; /* as of struct run_row */
};

struct diff_side {
	struct run *runs;
	size_t count;
	size_t middle; /* the run that the rows are of */
};

/* The same rank on both sides: positions of its runs. */
struct diff_pair {
	size_t base, head;
};

/* A key in which two runs differ: "torch" was "2.10" and is "2.11". */
struct diff_key {
	const char *key, *base, *head;
};

struct diff {
	struct diff_side base, head;
	struct diff_pair *pairs; /* the sides are ranks of a job; none: they are repetitions */
	size_t pairs_n;
	struct diff_row *rows; /* of every dimension; those of a dimension side by side */
	size_t rows_n;
	size_t first[DIMENSIONS + 1]; /* the rows of a dimension: [first[d], first[d + 1]) */
	int device;                   /* the device that is compared; NO_DEVICE: all */
	bool moved;                   /* a device's peak was reached at another moment */
	struct diff_key *unlike;
	size_t unlike_n, unlike_size;
	struct gate_result *gates;
	size_t gates_n;
	struct arena arena;
};

/* The sides, opened; count 0 for none. The diff owns them from here on, also after a failure. */
int diff_make(struct diff *diff, const struct diff_side *base, const struct diff_side *head,
	      int device);
void diff_clear(struct diff *diff);

/* Judges the runs by the gates: 0, or -errno with err_text(). */
int diff_judge(struct diff *diff, struct gate *const *gates, size_t count);
/* The number of gates that are broken. */
size_t diff_broken(const struct diff *diff);

/* The middle runs; base NULL without a base. */
const struct run *diff_base(const struct diff *diff);
const struct run *diff_head(const struct diff *diff);

/* The change of a row that counts: 0 within its noise. */
int64_t diff_change(const struct diff_row *row, enum column column);

/* True if a row of the dimension and group (NULL: any) changed in the column. */
bool diff_any(const struct diff *diff, enum dimension dimension, const char *group,
	      enum column column);

/* Those rows, the largest change first: a list of the arena's. */
size_t diff_changed(struct diff *diff, enum dimension dimension, const char *group,
		    enum column column, const struct diff_row ***list);

/* Bit COLUMN_x: the dimension has the column. */
unsigned diff_columns(const struct diff *diff, enum dimension dimension);

/* The totals of sites in a group: the sums of the column's rows. */
void diff_totals(const struct diff *diff, const char *group, enum column column, int64_t *base,
		 int64_t *head);

/* The peak of allocated memory, of all devices. */
int64_t diff_peak(const struct run *run);

/* diff_ranks.c: when the runs of a side are different ranks of a job, pairs them with those of the
 * other side and takes the pair that grew most as the middle one. 0, or -errno with err_text(). */
int diff_pair_ranks(struct diff *diff);

/* The gate's verdict on the rank in which it is worst; without a base, on the worst of the runs. */
int diff_judge_ranks(const struct diff *diff, const struct gate *gate, struct gate_result *result);

/* Of pairs: the rank that the rows are of, and how many runs have no counterpart. */
uint64_t diff_rank(const struct diff *diff);
size_t diff_unpaired(const struct diff *diff);

/* diff_why.c: fills `why` of the sites, which have all their columns. */
void diff_find_why(struct diff *diff);

/* Why the row changed in this column: `why` is of the peak, another column may differ. */
enum diff_why diff_why_of(const struct diff_row *row, enum column column);

/* comparable.c: fills `unlike` with the keys in which the runs of the two sides differ. */
void diff_compare_keys(struct diff *diff);
