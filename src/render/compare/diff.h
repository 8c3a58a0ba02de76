/*
 * Writes a comparison of runs, or a check of budgets, in the formats of diff_formats.def.
 *
 * All contain the gates and the sites that grew, except benchmark and bencher, which contain the
 * head run's figures. Each format escapes names that come from traced programs by its own rules.
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
	size_t limit; /* text, Markdown, JUnit: at most this many rows of a list, 0 for all */
	bool full;    /* text: all columns, dimensions, source lines; JSON: unchanged rows, too */
	bool colour;
	bool ascii; /* the terminal shows ASCII only */
};

typedef void diff_format_fn(struct diff *diff, struct out *out, const struct diff_options *options);

struct diff_format {
	const char *name, *help;
	diff_format_fn *write;
};

/* All formats. The last row, without a name, ends the list. */
extern const struct diff_format diff_formats[];

#define DIFF_FORMAT(name, help) diff_format_fn diff_##name;
#include "render/compare/diff_formats.def"

/* --- texts that the formats share: diff_words.c --- */

enum { DIFF_PERCENT = 40 };

/* The texts that these functions return live as long as the diff, except for diff_percent(). */

/* diff_sentence.c: returns a sentence on the change of the peak and its reasons. */
const char *diff_sentence(struct diff *diff);

/* Returns sentences, as rows of const char *, on differences of the machines and programs, on how
 * several runs were compared, and on allocations that failed because memory ran out. */
struct emit_rows diff_remarks(struct diff *diff);

/* Describes a gate's result, "ooms<=0: device 0 has 2, 2 over the limit", and the sites that broke
 * the gate. */
const char *diff_gate_words(struct diff *diff, const struct gate_result *result);

/* Describes a site's change: "train (train.py:12) holds +2.00 MiB at exit (new)". */
const char *diff_holds_words(struct diff *diff, const struct diff_row *row, enum column column);

/* For each enum diff_why, the reason for a change as a table shows it: "held longer", or "". */
extern const char *const diff_why_words[WHYS];

/* Writes the change without its sign, "4.2%", or "new" if only the base is 0. Returns `to`, which
 * must have DIFF_PERCENT bytes. */
const char *diff_percent(char *to, int64_t base, int64_t head);

/* The path of a site's file relative to the head's working directory; NULL if it lies elsewhere. */
const char *diff_file(const struct diff *diff, const char *file);

/* Lists the sites that hold more device memory at the allocated peak or, if none changed there, at
 * exit (*column is set to which), most growth first. Sites of WHY_MOMENT are left out. */
size_t diff_growers(struct diff *diff, const struct diff_row ***list, enum column *column);

/* The text of diff_percent(), which lives as long as the enclosing block. */
#define SAY_PERCENT(base, head) diff_percent((char[DIFF_PERCENT]){ 0 }, base, head)

struct change_row {
	const struct diff_row *of; /* NULL in a row of sums */
	int64_t change, base, head;
	const char *name;
	const char *rest; /* the end of a long name or, with --full, the site's line; written below
			     the row; NULL for none */
	int why;          /* enum diff_why */
};

/* A table of changes: rows of one dimension (sites, pools ...) that differ in one column. */
struct changes {
	struct emit_column columns[6];
	unsigned before_names;        /* columns of the screen to the left of the names */
	struct emit_rows rows, after; /* `after`: rows for noise and total, for sites only */
};

/* Finds the rows that changed; a table shows the first `limit` (0: all). False if none changed. */
bool diff_changes(struct diff *diff, enum dimension dimension, const char *group,
		  enum column column, size_t limit, struct changes *to);

/* --- baseline.c --- */

/*
 * Writes the run as a small JSON trace (memtrace/1) of some tens of kB, to be kept in a repository:
 * it has the totals and sites of the whole trace, the names of the program and its script, and
 * nothing that differs between two runs of one program.
 *
 * Each site has one stack, cut to the frames that give the site its name and line (facts/sites.h).
 * "capture": {"baseline": true} marks the trace as a baseline. The function overwrites the rows of
 * the run's trace.
 */
void baseline_write(struct run *run, struct out *out);

/* baseline_sites.c: fills sites, modules, frames, stacks and peaks of `to` in the run's arena. */
void baseline_sites(struct trace *to, struct run *run);

/* Returns room for `count` rows of the type `of`, cleared, in the run's arena. */
void *baseline_room(struct run *run, enum rows_of of, size_t count);
