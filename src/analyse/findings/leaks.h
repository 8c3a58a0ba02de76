/*
 * Finds memory that was never freed, by call site. A leak is memory that is live at the end, except
 * memory that libraries hold on purpose (expected_leaks.def) and memory of suppressed stacks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"

struct trace;

/*
 * A file of patterns for known leaks that must not be reported again.
 *
 * Each line has one pattern, a glob as in fnmatch(3). It must match the whole name of a call site,
 * or the whole text ("Net.forward (train.py:12)"), function, file or module of a frame in the stack
 * (files and modules also without their folders). Blanks around a pattern are ignored; a # at the
 * beginning of a line or after a blank begins a comment.
 */
struct suppression {
	const char *pattern;
	unsigned line; /* number of the pattern's line in the file */
	uint64_t used; /* number of stacks that the pattern matched */
};

struct suppressions {
	struct suppression *list;
	size_t count, size;
	struct arena arena;
};

/* Reads a file of suppressions. Returns 0, or -EINVAL with err_text() and an empty list. */
int suppressions_read(struct suppressions *suppressions, const char *path);
void suppressions_clear(struct suppressions *suppressions);

/* True if a pattern matches the stack. All patterns that match are marked as used. */
bool suppressions_fit(struct suppressions *suppressions, const struct trace *trace, uint32_t stack);

struct leak {
	uint32_t site;
	uint32_t stack; /* the one of the site's stacks that leaks most bytes */
	uint64_t bytes, count;
	uint64_t allocations, frees; /* of the site's leaking stacks in the whole run */
	uint64_t most;               /* bytes that `stack` leaks */
};

struct leaks {
	struct leak *list; /* sorted, most bytes first */
	size_t count;
	uint64_t bytes, blocks;
	uint64_t held, suppressed; /* bytes held by libraries on purpose, and suppressed bytes */
};

/* Finds the leaks; `suppressions` may be NULL. The caller frees them with leaks_clear(). */
void leaks_find(struct leaks *leaks, const struct trace *trace, struct suppressions *suppressions);
void leaks_clear(struct leaks *leaks);

/* Returns a name for memory of this stack that a library holds on purpose, or NULL if none does. */
const char *leaks_held(const struct trace *trace, uint32_t stack);
