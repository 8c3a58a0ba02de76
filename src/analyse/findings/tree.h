/*
 * Bytes of stacks as a tree of frames: from the outermost caller down, or from the allocation up.
 *
 * Unless all frames are wanted, only the user's own frames, and the innermost frame that is not
 * internal, become nodes; recursive calls are not joined. A node's bytes are always the sum of its
 * children's bytes and of the stacks that end in it, so the tree sums to the shares exactly.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;
struct trace_share;

struct tree_node {
	uint32_t frame;             /* UINT32_MAX for the root */
	uint32_t parent;            /* position of the parent; 0 for the root */
	uint32_t first, children_n; /* the children: position of the first (most bytes), number */
	uint32_t depth;             /* number of nodes above this one */
	uint64_t bytes, count;
	uint64_t own_bytes, own_count; /* of the stacks that end in this node */
	size_t from, to;               /* [from, to): positions of the node's sorted stacks */
};

struct tree {
	struct tree_node *nodes; /* the first is the root */
	size_t count;
};

/* Builds a tree of all frames (`whole`) or relevant ones; `inverted`: from the allocation up. */
void tree_build(struct tree *tree, const struct trace *trace, const struct trace_share *shares,
		size_t count, bool inverted, bool whole);
void tree_clear(struct tree *tree);
