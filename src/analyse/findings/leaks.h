/*
 * What was never given back, by call site: live at the end, less what libraries hold on purpose
 * (expected_leaks.def) and less what is suppressed.
 *
 * It comes from the figures of stacks, so no events are needed.
 */
#ifndef ANALYSE_FINDINGS_LEAKS_H
#define ANALYSE_FINDINGS_LEAKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct suppressions;
struct trace;

struct leak {
	uint32_t site;
	uint32_t stack; /* of its stacks that which holds most */
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

/* `suppressions` may be NULL. 0 or -errno with err_text(). */
int leaks_find(struct leaks *leaks, const struct trace *trace, struct suppressions *suppressions);
void leaks_clear(struct leaks *leaks);

/* What the stack's memory is held for on purpose, "cuBLAS workspace"; NULL for nothing known. */
const char *leaks_held(const struct trace *trace, uint32_t stack);

#endif
