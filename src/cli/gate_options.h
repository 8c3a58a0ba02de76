/* Gates of `memtrace diff` and `check`: limits from options and from budget files. */
#pragma once

#include "render/compare/diff.h"

struct gates {
	struct gate **list;
	size_t count;
};

/* Adds the gate that an expression describes; false with err_text() if it cannot be parsed. */
bool gates_add(struct gates *gates, enum gate_kind kind, const char *text);

/* Adds the limits of a budget file (include/memtrace/budget.schema.json); on an error returns
 * false, and err_text() names the file. */
bool gates_read(struct gates *gates, const char *path);
void gates_clear(struct gates *gates);
