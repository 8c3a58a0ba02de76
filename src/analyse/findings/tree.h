/*
 * The bytes of stacks as a tree of frames, from the outermost caller to the allocation or inverted.
 *
 * Unless all frames are wanted, only the user's own frames, and the innermost frame that is not
 * internal, become nodes; recursive calls are not joined. A node's bytes are always the sum of its
 * children's bytes and of the stacks that end in it, so the root has the sum of all shares.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;
struct trace_share;

struct tree_node {
	uint32_t frame;             /* position in the trace; UINT32_MAX for the root */
	uint32_t parent;            /* position of the parent in nodes[]; 0 for the root */
	uint32_t first, children_n; /* position of the largest child, number of children */
	uint32_t depth;             /* number of nodes above this one */
	uint64_t bytes, count;
	uint64_t own_bytes, own_count; /* of the stacks that end in this node */
	size_t from, to;               /* the node's stacks: [from, to) in the order of paths */
};

struct tree {
	struct tree_node *nodes; /* the first is the root */
	size_t count;
};

/* Builds a tree of all frames (`whole`) or relevant ones; `inverted`: from the allocation up. */
void tree_build(struct tree *tree, const struct trace *trace, const struct trace_share *shares,
		size_t count, bool inverted, bool whole);
void tree_clear(struct tree *tree);
