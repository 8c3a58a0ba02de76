/* What `diff` and `check` share: runs, formats, gates from options and from files. */
#ifndef CLI_GATES_H
#define CLI_GATES_H

#include "analyse/compare/diff.h"
#include "render/compare/diff.h"

struct traces;

/* Opens the runs, which refer to the paths: 0, or -errno with err_text(); free with diff_clear().
 */
int gates_open(struct diff_side *side, const struct traces *traces, int device);

/*
 * The categories of all runs of the sides, under the rules of the file (NULL: the built-in ones):
 * rows where all tell them alike, block by block; when a gate asks for them, whatever it takes. 0,
 * or -errno with err_text(). In front of diff_make().
 */
struct gates;
int gates_categorise(struct diff_side *sides, const struct gates *gates, const struct rules *rules,
		     int device);

struct gates {
	struct gate **list;
	size_t count;
};

/* Adds one expression: false, with err_text(), when it is none. */
bool gates_add(struct gates *gates, enum gate_kind kind, const char *text);

/*
 * Adds the limits of a budget file (include/memtrace/budget.schema.json): false, with err_text()
 * that names the file.
 */
bool gates_read(struct gates *gates, const char *path);
void gates_clear(struct gates *gates);

/* Writes the diff in the format and gives the exit status: STATUS_NO with a broken gate. */
int gates_tell(const char *command, struct diff *diff, const struct diff_format *format,
	       const struct diff_options *options, const char *output);

#endif
