/* What `diff` and `check` share: gates from options and from files, and the comparison. */
#pragma once

#include "render/compare/diff.h"

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

struct comparison {
	const char *const *sides[2]; /* operands of base and head, each ended by NULL */
	struct gates gates;
	const char *rules, *output; /* NULL: the built-in ones, standard output */
	const struct diff_format *format;
	struct diff_options options;
	int device;
	bool force; /* unlike runs, too */
};

/* Opens the runs, compares them and writes that: the exit status, STATUS_NO with a broken gate. */
int gates_compare(const struct comparison *asked);
