/*
 * Memory that was never freed, by call site: live at the end, less what libraries hold on purpose
 * (expected_leaks.def) and less what is suppressed.
 *
 * It comes from the figures of stacks, so no events are needed.
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
	unsigned line; /* of the file */
	uint64_t used; /* stacks that it fitted */
};

struct suppressions {
	struct suppression *list;
	size_t count, size;
	struct arena arena;
};

/* 0 or -errno with err_text(). Nothing is held after a failure. */
int suppressions_read(struct suppressions *suppressions, const char *path);
void suppressions_clear(struct suppressions *suppressions);

/* True if a pattern fits the stack. Each that does is marked as used. */
bool suppressions_fit(struct suppressions *suppressions, const struct trace *trace, uint32_t stack);

struct leak {
	uint32_t site;
	uint32_t stack; /* the stack of the site that holds most */
	uint64_t bytes, count;
	uint64_t allocations, frees; /* of those stacks, ever; 0 without figures */
	uint64_t most;               /* bytes of `stack` */
};

struct leaks {
	struct leak *list; /* most bytes first */
	size_t count;
	uint64_t bytes, blocks;
	uint64_t held, suppressed; /* bytes left out */
};

/* `suppressions` may be NULL. */
void leaks_find(struct leaks *leaks, const struct trace *trace, struct suppressions *suppressions);
void leaks_clear(struct leaks *leaks);

/* What a library holds on purpose there, "cuBLAS workspace"; NULL for nothing. */
const char *leaks_held(const struct trace *trace, uint32_t stack);
