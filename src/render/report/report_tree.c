/*
 * The sections `tree` and `inverted`: a peak's stacks as a tree of frames. `tree` begins with the
 * outermost callers, `inverted` with the frames that allocate.
 *
 * An only child is written in the same column as its parent; siblings are indented and begin with
 * "- ". The bytes of a row are the sum of its children's rows: small children share a row "... N
 * more", and the bytes of stacks that end at the row's frame are in a row "(itself)".
 */
#include <stdio.h>

#include "analyse/findings/tree.h"
#include "render/report/report_parts.h"

enum {
	SMALLEST = 100, /* branches below 1/100 of the peak share a row, unless --full is given */
	INDENT_MOST = 24,
};

struct branch {
	struct emit_part part;
	const char *name, *frame;    /* `frame` is NULL in a row "... N more" or "(itself)" */
	uint64_t depth, more, count; /* distance from the root; children without a row; blocks */
	uint32_t node;
	unsigned indent; /* columns before the name, including a "- " */
	bool sibling;    /* the row begins with "- " */
};

static const struct emit_column branch_columns[] = {
	EMIT_FIELD(NUMBER, struct branch, depth),
	EMIT_FIELD(TEXT, struct branch, frame),
	EMIT_FIELD(COUNT, struct branch, more),
	EMIT_COLUMN("bytes", "", 11, BYTES, struct branch, part),
	EMIT_CELL("", 8, SHARE, struct branch, part),
	EMIT_CELL("", 0, TEXT, struct branch, name, .gap = 3),
	EMIT_COLUMN("count", "", 0, COUNT, struct branch, count, .gap = 2),
	EMIT_END,
};

struct branches {
	int device;
	struct emit_rows rows; /* the rows of the tree; the first is the root */
};

static const struct emit_column branches_columns[] = {
	EMIT_FIELD(DEVICE, struct branches, device),
	EMIT_LIST("rows", "\n  ", struct branches, rows, branch_columns),
	EMIT_END,
};

/* Returns how many of the node's children get a row each. The others share a row "... N more". */
static size_t told(const struct report *report, const struct tree *tree,
		   const struct tree_node *node)
{
	size_t limit = report_limit(report);
	size_t count = 0;

	while (count < limit && count < node->children_n &&
	       (report->options->full ||
		tree->nodes[node->first + count].bytes >= tree->nodes[0].bytes / SMALLEST))
		count++;
	/* A single remaining child gets its own row rather than a row "... 1 more". */
	return node->children_n - count == 1 ? node->children_n : count;
}

/* Returns a copy of `row` with `text`, indented, as its name and, if `frame`, also as its frame. */
static struct branch branch_of(const struct report *report, const struct tree *tree,
			       const struct branch *row, const char *text, bool frame)
{
	unsigned indent = row->indent < INDENT_MOST ? row->indent : INDENT_MOST;
	struct branch branch = *row;

	branch.part.of = tree->nodes[0].bytes;
	branch.name = report_format(report, "%*s%s", (int)indent, row->sibling ? "- " : "", text);
	if (frame)
		branch.frame = branch.name + indent;
	return branch;
}

/* Pushes rows for the children of the row `of` onto the stack `pile`, the first child last, so that
 * this child is popped first. Returns the new height of the stack. */
static size_t push_children(const struct report *report, const struct tree *tree,
			    const struct branch *of, struct branch *pile, size_t height)
{
	const struct tree_node *node = &tree->nodes[of->node];
	size_t count = told(report, tree, node);
	bool branches = node->children_n > 1 || node->own_bytes;
	struct branch row = { .depth = of->depth + 1,
			      .indent = of->indent + (branches ? 2 : 0),
			      .sibling = branches,
			      .more = node->children_n - count };
	char text[440 - INDENT_MOST];

	for (size_t i = count; i < node->children_n; i++) {
		row.part.bytes += tree->nodes[node->first + i].bytes;
		row.count += tree->nodes[node->first + i].count;
	}
	snprintf(text, sizeof(text), "... %zu more", node->children_n - count);
	if (row.more)
		pile[height++] = branch_of(report, tree, &row, text, false);
	row.more = 0;
	row.part.bytes = node->own_bytes;
	row.count = node->own_count;
	if (node->own_bytes && node->children_n)
		pile[height++] = branch_of(report, tree, &row, "(itself)", false);
	for (size_t i = count; i--;) {
		const struct tree_node *child = &tree->nodes[node->first + i];

		row.node = node->first + (uint32_t)i;
		row.depth = child->depth;
		row.part.bytes = child->bytes;
		row.count = child->count;
		text[0] = '\0';
		if (child->frame < report->trace->frames_n)
			trace_frame_text(report->trace, child->frame, text, sizeof(text));
		pile[height++] = branch_of(report, tree, &row, text, true);
	}
	return height;
}

/* Returns the rows in depth-first order from the root. The stack `pile` replaces recursion. */
static struct emit_rows find_rows(const struct report *report, const struct tree *tree)
{
	struct emit_rows rows = EMIT_NONE_OF(struct branch, SIZE_MAX);
	/* Each node adds at most three rows: itself, "... N more" and "(itself)". */
	struct branch *pile = report_room(report, (3 * tree->count + 1) * sizeof(*pile));
	size_t height = 1;

	pile[0] = (struct branch){ .part = { tree->nodes[0].bytes, 0 },
				   .frame = "",
				   .count = tree->nodes[0].count };
	while (height) {
		struct branch row = pile[--height];

		report_add(report, &rows, &row);
		if (row.frame)
			height = push_children(report, tree, &row, pile, height);
	}
	((struct branch *)rows.rows)->frame = NULL;
	return rows;
}

static void say_branches(const struct report *report, const struct branches *branches,
			 bool inverted)
{
	const struct branch *list = branches->rows.rows;
	const struct emit_rows below = EMIT_ROWS_OF(list + 1, branches->rows.count - 1);

	if (branches->device != NO_DEVICE)
		report_say(report, SAID_HEADING, "Peak of device %d, %s: %s (at the right: blocks)",
			   branches->device,
			   inverted ? "allocating function first" : "outermost caller first",
			   SAY_BYTES(list->part.bytes));
	else
		report_say(report, SAID_HEADING, "%s: %s (at the right: blocks)",
			   inverted ? "Call tree, allocating function first"
				    : "Call tree, outermost caller first",
			   SAY_BYTES(list->part.bytes));
	report_put(report, (struct emit_table){
				   .columns = branch_columns, .rows = &below, .headless = true });
}

static bool is_told(const struct report *report, const struct trace_peak *peak)
{
	return peak->metric == TRACE_ALLOCATED && !peak->pool && peak->bytes &&
	       (peak->device == NO_DEVICE || report_wants(report, peak->device));
}

static void tell_all(const struct report *report, const char *key, bool inverted)
{
	const struct trace *trace = report->trace;
	struct emit_rows rows = EMIT_NONE_OF(struct branches, SIZE_MAX);

	foreach (peak, trace->peaks) {
		struct branches branches = { .device = peak->device };
		struct tree tree;

		if (!is_told(report, peak))
			continue;
		tree_build(&tree, trace, peak->stacks, peak->stacks_n, inverted,
			   report->options->full);
		branches.rows = find_rows(report, &tree);
		tree_clear(&tree);
		report_add(report, &rows, &branches);
		say_branches(report, &branches, inverted);
	}
	report_list(report, key, branches_columns, &rows);
}

void report_tell_tree(const struct report *report)
{
	tell_all(report, "\ntree", false);
}

void report_tell_inverted(const struct report *report)
{
	tell_all(report, "\ninverted", true);
}
