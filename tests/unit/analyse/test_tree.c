/* Trees of random stacks: each node is the sum of its children and its own, and the root of all. */
#include "check.h"

#include "analyse/findings/tree.h"
#include "analyse/trace/trace.h"
#include "unit/chance.h"

enum { RUNS = 200, FRAMES = 9, STACKS = 60, DEEPEST = 12 };

static struct trace_frame frames[FRAMES];
static uint32_t lists[STACKS][DEEPEST];
static struct trace_stack stacks[STACKS];
static struct trace_share shares[STACKS];
static struct trace trace = {
	.path = "t.json", .frames = frames, .frames_n = FRAMES, .stacks = stacks, .stacks_n = STACKS
};
static uint64_t chance;

static void make(void)
{
	for (size_t i = 0; i < FRAMES; i++)
		frames[i] = (struct trace_frame){ .function = "f",
						  .file = i % 3 ? "/home/u/a.py"
								: "/x/site-packages/torch/b.py",
						  .line = (uint32_t)i + 1,
						  .module = UINT32_MAX,
						  .language = TRACE_PYTHON };
	for (size_t i = 0; i < STACKS; i++) {
		stacks[i].frames = lists[i];
		stacks[i].frames_n = chance_below(&chance, DEEPEST);
		for (size_t k = 0; k < DEEPEST; k++)
			lists[i][k] = (uint32_t)chance_below(&chance, FRAMES);
		shares[i] = (struct trace_share){ .stack = (uint32_t)i,
						  .bytes = chance_below(&chance, 1000),
						  .count = chance_below(&chance, 5) };
	}
}

static void check_sums(const struct tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_node *node = &tree->nodes[i];
		uint64_t bytes = node->own_bytes;
		uint64_t count = node->own_count;

		for (uint32_t k = 0; k < node->children_n; k++) {
			const struct tree_node *child = &tree->nodes[node->first + k];

			OK(node->first > i && node->first + k < tree->count);
			EQ(child->parent, i);
			EQ(child->depth, node->depth + 1);
			OK(!k || child[-1].bytes >= child->bytes);
			bytes += child->bytes;
			count += child->count;
		}
		EQ(bytes, node->bytes);
		EQ(count, node->count);
	}
}

/* Bytes of the stacks that run through this path of frames, from the root. */
static uint64_t through(const struct tree *tree, uint32_t node, bool inverted)
{
	uint32_t path[DEEPEST];
	size_t depth = tree->nodes[node].depth;
	uint64_t bytes = 0;

	for (size_t i = depth; i--; node = tree->nodes[node].parent)
		path[i] = tree->nodes[node].frame;
	for (size_t i = 0; i < STACKS; i++) {
		size_t n = stacks[i].frames_n;
		bool fits = n >= depth;

		for (size_t k = 0; fits && k < depth; k++)
			fits = lists[i][inverted ? k : n - 1 - k] == path[k];
		bytes += fits ? shares[i].bytes : 0;
	}
	return bytes;
}

TEST(trees_sum_to_their_shares)
{
	for (chance = 1; chance <= RUNS; chance++) {
		uint64_t seed = chance;
		bool inverted = seed % 2;
		uint64_t total = 0;
		struct tree tree;

		make();
		for (size_t i = 0; i < STACKS; i++)
			total += shares[i].bytes;
		tree_build(&tree, &trace, shares, STACKS, inverted, true);
		EQ(tree.nodes[0].bytes, total);
		check_sums(&tree);
		for (uint32_t i = 0; i < tree.count; i++)
			EQ(through(&tree, i, inverted), tree.nodes[i].bytes);
		tree_clear(&tree);
		tree_build(&tree, &trace, shares, STACKS, inverted, false);
		EQ(tree.nodes[0].bytes, total);
		check_sums(&tree);
		tree_clear(&tree);
		chance = seed;
	}
}

TEST(frames_of_frameworks_are_left_out_but_for_the_innermost)
{
	struct trace_share share = { .stack = 0, .bytes = 10, .count = 1 };
	struct tree tree;

	make();
	stacks[0].frames_n = 4;
	memcpy(lists[0], (uint32_t[]){ 3, 0, 1, 2 }, 16); /* 0 and 3 are torch's */
	tree_build(&tree, &trace, &share, 1, false, false);
	EQ(tree.count, 4);
	EQ(tree.nodes[1].frame, 2);
	EQ(tree.nodes[2].frame, 1);
	EQ(tree.nodes[3].frame, 3);
	EQ(tree.nodes[3].own_bytes, 10);
	tree_clear(&tree);
}

TEST(nothing_is_a_root_alone)
{
	struct tree tree;

	tree_build(&tree, &trace, NULL, 0, false, false);
	EQ(tree.count, 1);
	EQ(tree.nodes[0].bytes, 0);
	EQ(tree.nodes[0].children_n, 0);
	tree_clear(&tree);
}
