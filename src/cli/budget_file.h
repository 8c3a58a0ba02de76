/* Parses gates, the limits of `memtrace diff` and `check`, from options and budget files. */
#pragma once

#include "render/compare/diff.h"

struct gates {
	struct gate **list;
	size_t count;
};

/* Adds the gate that `text` describes ("ooms<=0"). Returns 0, or -EINVAL with err_text(). */
int gates_add(struct gates *gates, enum gate_kind kind, const char *text);

/* Adds the limits of a budget file (include/memtrace/budget.schema.json). Returns 0, or -EINVAL
 * with err_text(), which names the file. */
int gates_read(struct gates *gates, const char *path);
void gates_clear(struct gates *gates);
