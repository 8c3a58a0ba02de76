/* Gates of `diff` and `check`, from options and from files. */
#pragma once

#include "render/compare/diff.h"

struct gates {
	struct gate **list;
	size_t count;
};

/* Adds one expression; false, with err_text(), when it cannot be parsed. */
bool gates_add(struct gates *gates, enum gate_kind kind, const char *text);

/* Adds the limits of a budget file (include/memtrace/budget.schema.json): false, with err_text()
 * that names the file. */
bool gates_read(struct gates *gates, const char *path);
void gates_clear(struct gates *gates);
