/*
 * A trace that may be shown to strangers: no paths, and only names that are public.
 *
 * Functions and files of the program and of packages that are no framework, its libraries, phases,
 * threads, pools, kernels, its host and command line become "function 3", "file 1.py", "phase 2 7"
 * (the number of a step stays). Frameworks, CUDA's libraries and the interpreter keep their names,
 * which reveal nothing of the program. Sums, times and sizes stay. The same name becomes the same
 * word in every trace that is given to one anonymizer.
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
	struct texts known[HIDDEN_KINDS];
	struct arena arena; /* memory of the words, which must outlive the traces */
};

void anonymizer_clear(struct anonymizer *anonymizer);

/* Replaces the names of a trace, before any of them is used elsewhere. */
void anonymize_trace(struct anonymizer *anonymizer, struct trace *trace);

/* Replaces the texts of the trace's events, after they have been read. */
void anonymize_history(struct anonymizer *anonymizer, struct trace *trace,
		       const struct history *history);

/* For a diff, after diff_make(), which pairs rows by their true names. */
void anonymize_diff(struct anonymizer *anonymizer, struct diff *diff);

/* For a merge, after merge_end(), which finds cards and sites by their true names. */
void anonymize_merge(struct anonymizer *anonymizer, struct merge *merge);
