/*
 * The tree is built level by level, so that children lie side by side and nothing recurses: stacks
 * are sorted by their frames, then each node is a run of them that begin alike.
 */
#include "analyse/findings/tree.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"

/* A share with the frames that count, in the tree's order. */
struct path {
	const uint32_t *frames;
	size_t frames_n;
	uint64_t bytes, count;
};

/* What a node is made of: paths [from, to), all alike up to its depth. */
struct branch_run {
	size_t from, to;
};

struct building {
	struct tree *tree;
	struct path *paths;
	struct branch_run *runs; /* by node */
	uint32_t *frames;        /* of all paths */
	size_t size;             /* of nodes and runs */
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

/* Which frames are worth a node: the user's own, and the innermost that is not machinery. */
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

static bool make_paths(struct building *building, const struct trace *trace,
		       const struct trace_share *shares, size_t count, bool inverted, bool whole)
{
	size_t frames = 1;
	uint32_t *at;

	for (size_t i = 0; i < count; i++)
		frames += trace->stacks[shares[i].stack].frames_n;
	building->paths = calloc(count + 1, sizeof(*building->paths));
	building->frames = at = calloc(frames, sizeof(*at));
	/* Each frame of a path makes at most one node. */
	building->size = frames;
	building->runs = calloc(building->size, sizeof(*building->runs));
	building->tree->nodes = calloc(building->size, sizeof(*building->tree->nodes));
	if (!building->paths || !at || !building->runs || !building->tree->nodes)
		return false;
	for (size_t i = 0; i < count; i++) {
		size_t taken = take_frames(trace, shares[i].stack, inverted, whole, at);

		building->paths[i] = (struct path){ at, taken, shares[i].bytes, shares[i].count };
		at += taken;
	}
	qsort(building->paths, count, sizeof(*building->paths), by_frames);
	return true;
}

struct child {
	struct tree_node node;
	struct branch_run run;
};

static int compare_branches(const void *a, const void *b)
{
	const struct child *x = a;
	const struct child *y = b;

	if (x->node.bytes != y->node.bytes)
		return x->node.bytes > y->node.bytes ? -1 : 1;
	return x->run.from < y->run.from ? -1 : x->run.from > y->run.from;
}

/* The children of the node, behind all nodes there are; `room` holds as many as there are paths. */
static void add_children(struct building *building, uint32_t parent, struct child *room)
{
	struct tree *tree = building->tree;
	struct branch_run run = building->runs[parent];
	uint32_t depth = tree->nodes[parent].depth;
	size_t count = 0;

	for (size_t i = run.from; i < run.to; i++) {
		const struct path *path = &building->paths[i];
		struct child *child = count ? &room[count - 1] : NULL;

		if (path->frames_n == depth) {
			tree->nodes[parent].own_bytes += path->bytes;
			tree->nodes[parent].own_count += path->count;
			continue;
		}
		if (!child || child->node.frame != path->frames[depth]) {
			child = &room[count++];
			*child = (struct child){ .node = { .frame = path->frames[depth],
							   .parent = parent,
							   .depth = depth + 1 },
						 .run = { i, i } };
		}
		child->node.bytes += path->bytes;
		child->node.count += path->count;
		child->run.to = i + 1;
	}
	qsort(room, count, sizeof(*room), compare_branches);
	tree->nodes[parent].first = (uint32_t)tree->count;
	tree->nodes[parent].children_n = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		building->runs[tree->count] = room[i].run;
		tree->nodes[tree->count++] = room[i].node;
	}
}

int tree_build(struct tree *tree, const struct trace *trace, const struct trace_share *shares,
	       size_t count, bool inverted, bool whole)
{
	struct building building = { .tree = tree };
	struct child *room = calloc(count + 1, sizeof(*room));
	bool made;

	*tree = (struct tree){ 0 };
	made = room && make_paths(&building, trace, shares, count, inverted, whole);
	if (made) {
		tree->nodes[0] = (struct tree_node){ .frame = UINT32_MAX };
		building.runs[0] = (struct branch_run){ 0, count };
		tree->count = 1;
		for (size_t i = 0; i < count; i++) {
			tree->nodes[0].bytes += shares[i].bytes;
			tree->nodes[0].count += shares[i].count;
		}
		for (uint32_t i = 0; i < tree->count; i++)
			add_children(&building, i, room);
	}
	free(room);
	free(building.paths);
	free(building.frames);
	free(building.runs);
	if (made)
		return 0;
	tree_clear(tree);
	return err_no_memory(trace->path);
}

void tree_clear(struct tree *tree)
{
	free(tree->nodes);
	*tree = (struct tree){ 0 };
}
