/*
 * Builds the tree level by level, without recursion, so that a node's children lie side by side:
 * paths are sorted by their frames, so that a node's paths, which begin alike, are adjacent.
 */
#include "analyse/findings/tree.h"

#include <stdlib.h>

#include "analyse/input/grow.h"
#include "analyse/trace/trace.h"
#include "base/mem/sort.h"

/* A stack's share of the bytes, with those of its frames that become nodes, from the root down. */
struct path {
	const uint32_t *frames;
	size_t frames_n;
	uint64_t bytes, count;
};

static int by_frames(const void *a, const void *b)
{
	const struct path *x = a;
	const struct path *y = b;
	size_t most = x->frames_n < y->frames_n ? x->frames_n : y->frames_n;

	for (size_t i = 0; i < most; i++) {
		if (x->frames[i] != y->frames[i])
			return x->frames[i] < y->frames[i] ? -1 : 1;
	}
	return x->frames_n < y->frames_n ? -1 : x->frames_n > y->frames_n;
}

/* Copies the frames that become nodes: all if `whole`, else the user's and the innermost that is
 * not internal or, if there are none, the frame of trace_line(). Returns their number. */
static size_t take_frames(const struct trace *trace, uint32_t number, bool inverted, bool whole,
			  uint32_t *to)
{
	const struct trace_stack *stack = &trace->stacks[number];
	size_t innermost = 0;
	size_t taken = 0;

	while (innermost < stack->frames_n &&
	       trace_frame_internal(trace, &trace->frames[stack->frames[innermost]]))
		innermost++;
	for (size_t i = 0; i < stack->frames_n; i++) {
		size_t at = inverted ? i : stack->frames_n - 1 - i;
		uint32_t frame = stack->frames[at];

		if (whole || at == innermost || trace_frame_own(trace, &trace->frames[frame]))
			to[taken++] = frame;
	}
	if (!taken && stack->frames_n)
		to[taken++] = trace_line(trace, number);
	return taken;
}

static void add_children(struct tree *tree, const struct path *paths, struct tree_node *parent)
{
	static const struct sort_key by_bytes[] = { SORT_DOWN(struct tree_node, bytes), { 0 } };
	struct tree_node *children = &tree->nodes[tree->count];
	size_t count = 0;

	for (size_t i = parent->from; i < parent->to; i++) {
		const struct path *path = &paths[i];

		if (path->frames_n == parent->depth) {
			parent->own_bytes += path->bytes;
			parent->own_count += path->count;
			continue;
		}
		if (!count || children[count - 1].frame != path->frames[parent->depth])
			children[count++] =
				(struct tree_node){ .frame = path->frames[parent->depth],
						    .parent = (uint32_t)(parent - tree->nodes),
						    .depth = parent->depth + 1,
						    .from = i };
		children[count - 1].bytes += path->bytes;
		children[count - 1].count += path->count;
		children[count - 1].to = i + 1;
	}
	sort_rows(children, count, sizeof(*children), by_bytes);
	parent->first = (uint32_t)tree->count;
	parent->children_n = (uint32_t)count;
	tree->count += count;
}

void tree_build(struct tree *tree, const struct trace *trace, const struct trace_share *shares,
		size_t count, bool inverted, bool whole)
{
	struct arena arena = { 0 };
	struct path *paths = NEED_ROOM(&arena, paths, count);
	uint32_t *at;
	size_t frames = 1;

	foreach (share, shares, count)
		frames += trace->stacks[share->stack].frames_n;
	at = need(&arena, frames * sizeof(*at));
	/* There are at most as many nodes as frames in all paths, plus the root. */
	*tree = (struct tree){ .nodes = calloc(frames, sizeof(*tree->nodes)), .count = 1 };
	NEED(tree->nodes);
	tree->nodes[0] = (struct tree_node){ .frame = UINT32_MAX, .to = count };
	for (size_t i = 0; i < count; i++) {
		size_t taken = take_frames(trace, shares[i].stack, inverted, whole, at);

		paths[i] = (struct path){ at, taken, shares[i].bytes, shares[i].count };
		at += taken;
		tree->nodes[0].bytes += shares[i].bytes;
		tree->nodes[0].count += shares[i].count;
	}
	qsort(paths, count, sizeof(*paths), by_frames);
	foreach (node, tree->nodes, tree->count)
		add_children(tree, paths, node);
	arena_clear(&arena);
}

void tree_clear(struct tree *tree)
{
	free(tree->nodes);
	*tree = (struct tree){ 0 };
}
