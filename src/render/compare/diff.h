/*
 * A comparison, or the verdict on budgets, in the formats of diff_formats.def.
 *
 * Every format contains the gates and the sites that changed. Names come from the traced programs
 * and are escaped by the rules of each format.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyse/compare/diff.h"
#include "facts/trace_model.h"
#include "render/emit/emit.h"

struct out;

struct diff_options {
	size_t limit; /* rows of a list, 0 for all */
	bool full;    /* every column, every dimension, lines */
	bool colour;
	bool ascii; /* the terminal shows ASCII only */
};

/* Writes the comparison. Returns 0, or -errno with err_text(). */
typedef int diff_format_fn(struct diff *diff, struct out *out, const struct diff_options *options);

struct diff_format {
	const char *name, *help;
	diff_format_fn *write;
};

/* The last row has no name. */
extern const struct diff_format diff_formats[];

#define DIFF_FORMAT(name, help) diff_format_fn diff_##name;
#include "render/compare/diff_formats.def"
#undef DIFF_FORMAT

/* --- texts that the formats share: diff_words.c --- */

enum { DIFF_PERCENT = 40 };

/* These return texts that live as long as the diff. */

/* diff_sentence.c: a sentence on the change of the peak and its reasons. */
const char *diff_sentence(struct diff *diff);

/* A sentence on the runs that the rows are of; "" if each side has one run. */
const char *diff_runs_words(struct diff *diff);

/* "allocated.peak>2%: device 0 went from 190.00 MiB to 198.00 MiB (+8.00 MiB, 4.2%)" */
const char *diff_gate_words(struct diff *diff, const struct gate_result *result);

/* "train (train.py:12) holds +2.00 MiB at exit (new)". */
const char *diff_holds_words(struct diff *diff, const struct diff_row *row, enum column column);

/* The reason in a table, "held longer"; "" if a change needs none. */
extern const char *const diff_why_words[WHYS];

/* "4.2%", or "new" if the base is 0; written to DIFF_PERCENT bytes. */
const char *diff_percent(char *to, int64_t base, int64_t head);

/* The path of a site's file relative to the head's working directory; NULL if it lies elsewhere. */
const char *diff_file(const struct diff *diff, const char *file);

/* The sites that changed most at the peak of allocated memory, or at exit when none did. */
size_t diff_culprits(struct diff *diff, const struct diff_row ***list, enum column *column);

/* Those of diff_culprits() that hold more for a reason in their own code. */
size_t diff_growers(struct diff *diff, const struct diff_row ***list, enum column *column);

/* The same in a buffer of the enclosing block. */
#define SAY_PERCENT(base, head) diff_percent((char[DIFF_PERCENT]){ 0 }, base, head)

/* A row of a table of changes. */
struct change_row {
	const struct diff_row *of; /* NULL: a sum */
	int64_t change, base, head;
	const char *name;
	const char *rest; /* of the name, in a line of its own; NULL for none */
	int why;          /* enum diff_why */
};

/* The rows of a dimension that changed in a column, and the table that shows them. */
struct changes {
	struct emit_column columns[6];
	unsigned before_names;        /* columns of a screen */
	struct emit_rows rows, after; /* of sites: the noise, and the sum of all */
};

/* Finds the rows, the first `limit` of them shown (0: all). Returns false if none changed. */
bool diff_changes(struct diff *diff, enum dimension dimension, const char *group,
		  enum column column, size_t limit, struct changes *to);

/* --- baseline.c --- */

/*
 * Writes the part of a run that is worth committing: a document memtrace/1 of some tens of kB, with
 * the same figures and sites as the whole one and nothing that differs between two equal runs.
 *
 * Each site has one stack, of the frames that name it (facts/sites.h), so that its name comes out
 * the same. "capture": {"baseline": true} marks the document as a baseline. Rows of the run's trace
 * become those of the baseline.
 */
void baseline_write(struct run *run, struct out *out);

/* baseline_sites.c: sites, modules, frames, stacks, whole peaks, in the run's memory. */
void baseline_sites(struct trace *to, struct run *run);

/* Rows in the memory of the run, cleared. */
void *baseline_room(struct run *run, enum rows_of of, size_t count);
