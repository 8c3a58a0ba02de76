/*
 * Prepares traces for being shown to strangers: hides private names, and folders of the machine.
 *
 * Functions and files of the program and of packages that are not frameworks become "function 3" or
 * "file 1.py". Call sites, libraries, phases ("step 7" becomes "phase 2 7"), threads, pools,
 * kernels, host and command line are replaced as well. Frameworks, CUDA's libraries and the
 * interpreter keep their names, which reveal nothing about the program. Sums, times and sizes stay.
 * A name becomes the same word in all traces that are given to one anonymizer.
 */
#pragma once

#include "analyse/input/string_table.h"
#include "base/mem/arena.h"

struct diff;
struct history;
struct merge;
struct trace;

enum hidden {
	HIDDEN_FUNCTION,
	HIDDEN_FILE,
	HIDDEN_LIBRARY,
	HIDDEN_SITE,
	HIDDEN_PHASE,
	HIDDEN_KERNEL,
	HIDDEN_POOL,
	HIDDEN_THREAD,
	HIDDEN_HOST,
	HIDDEN_KINDS,
};

struct anonymizer {
	struct texts known[HIDDEN_KINDS]; /* the original names of each kind */
	struct arena arena;               /* holds the new names, to which the traces point */
};

void anonymizer_clear(struct anonymizer *anonymizer);

/* Replaces the names in a trace, but not in copies of the trace's texts made before. */
void anonymize_trace(struct anonymizer *anonymizer, struct trace *trace);

/* Replaces the texts that the trace's events use. To be called after the events have been read. */
void anonymize_history(struct anonymizer *anonymizer, struct trace *trace,
		       const struct history *history);

/* Replaces the names in a diff, after diff_make(), which pairs rows by their original names. */
void anonymize_diff(struct anonymizer *anonymizer, struct diff *diff);

/* Replaces the names in a merge, after merge_end(), which needs the original hosts and UUIDs. */
void anonymize_merge(struct anonymizer *anonymizer, struct merge *merge);
