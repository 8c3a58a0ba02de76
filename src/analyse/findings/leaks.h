/*
 * Memory that was never freed, by call site: live at the end, less the memory that libraries hold
 * on purpose (expected_leaks.def) and less suppressed sites.
 *
 * It is found from the figures of stacks, without events.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"

struct trace;

/*
 * A file of patterns for leaks that are known and are not to be reported again.
 *
 * One pattern a line, a glob as of fnmatch(3), that must fit the whole of a call site's name, or of
 * a frame's text ("Net.forward (train.py:12)"), function, file or module of a stack (files and
 * modules also without their folders). Blanks around it do not count; a # at the beginning of a
 * line or after a blank begins a comment.
 */
struct suppression {
	const char *pattern;
	unsigned line; /* number of its line in the file */
	uint64_t used; /* number of stacks that it matched */
};

struct suppressions {
	struct suppression *list;
	size_t count, size;
	struct arena arena;
};

/* Reads a file of suppressions: 0, or -errno with err_text(), and then nothing is allocated. */
int suppressions_read(struct suppressions *suppressions, const char *path);
void suppressions_clear(struct suppressions *suppressions);

/* True if a pattern matches the stack. All that do are marked as used. */
bool suppressions_fit(struct suppressions *suppressions, const struct trace *trace, uint32_t stack);

struct leak {
	uint32_t site;
	uint32_t stack; /* the site's stack that holds most */
	uint64_t bytes, count;
	uint64_t allocations, frees; /* of the site's stacks since the start; 0 if not known */
	uint64_t most;               /* bytes that `stack` holds */
};

struct leaks {
	struct leak *list; /* sorted, most bytes first */
	size_t count;
	uint64_t bytes, blocks;
	uint64_t held, suppressed; /* bytes held by libraries on purpose, and suppressed bytes */
};

/* Finds the leaks; `suppressions` may be NULL. */
void leaks_find(struct leaks *leaks, const struct trace *trace, struct suppressions *suppressions);
void leaks_clear(struct leaks *leaks);

/* What a library holds on purpose there, "cuBLAS workspace"; NULL for nothing. */
const char *leaks_held(const struct trace *trace, uint32_t stack);
