/*
 * Shares of stacks as a tree of frames: from the outermost caller down, or from the allocation up.
 *
 * Unless all frames are wanted, a stack is the frames of its user's own code and the innermost that
 * is not internal; recursion stays as it is. A node's bytes are those of its children and of the
 * stacks that end in it, always: the tree sums to the shares exactly.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;
struct trace_share;

struct tree_node {
	uint32_t frame;             /* UINT32_MAX: the root */
	uint32_t parent;            /* position; 0 for the root itself */
	uint32_t first, children_n; /* its children, most bytes first, lie side by side */
	uint32_t depth;             /* the root's is 0 */
	uint64_t bytes, count;
	uint64_t own_bytes, own_count; /* of stacks that end here */
	size_t from, to;               /* its stacks, in the order in which they are sorted */
};

struct tree {
	struct tree_node *nodes; /* [0] is the root */
	size_t count;
};

/* `whole`: all frames. */
void tree_build(struct tree *tree, const struct trace *trace, const struct trace_share *shares,
		size_t count, bool inverted, bool whole);
void tree_clear(struct tree *tree);
