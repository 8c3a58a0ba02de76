/*
 * The report: who held a peak, as a tree. `tree` goes from the outermost caller down, `inverted`
 * from the allocation up.
 *
 * Each row's bytes are the sum of the rows below it: small branches are summed in "... N more", and
 * what a frame allocates itself beside its callees has a row of its own.
 */
#include <stdio.h>

#include "analyse/findings/tree.h"
#include "base/text/text.h"
#include "render/report/report_parts.h"

enum {
	SMALLEST = 100, /* a branch below a hundredth of the peak is a small one */
	INDENT_MOST = 24,
};

enum row_kind { ROW_NODE, ROW_MORE, ROW_OWN };

/* A row to be written, a node with all below it. */
struct tree_row {
	enum row_kind kind;
	uint32_t node;  /* of ROW_MORE and ROW_OWN: whose */
	uint32_t depth; /* of the frame, in frames */
	unsigned indent;
	size_t rows; /* of ROW_MORE: branches */
	uint64_t bytes, count;
};

/* The same as it is told. */
struct branch {
	struct emit_part part;
	const char *name, *frame; /* frame: NULL for what is no frame */
	uint64_t depth, more, count;
};

static const struct emit_column branch_columns[] = {
	EMIT_MEMBER("depth", NUMBER, struct branch, depth),
	EMIT_MEMBER("frame", TEXT, struct branch, frame),
	EMIT_MEMBER("more", COUNT, struct branch, more),
	EMIT_COLUMN("bytes", "", 11, BYTES, struct branch, part),
	EMIT_CELL("", 8, SHARE, struct branch, part),
	{ EMIT_KEYED(NULL, TEXT, struct branch, name), .heading = "", .gap = 3 },
	{ EMIT_KEYED("count", COUNT, struct branch, count), .heading = "", .gap = 2 },
	EMIT_END,
};

struct branches {
	int device;
	struct emit_rows rows; /* the root is the first */
};

static const struct emit_column branches_columns[] = {
	EMIT_MEMBER("device", DEVICE, struct branches, device),
	EMIT_LIST("rows", "\n  ", struct branches, rows, branch_columns),
	EMIT_END,
};

/* How many of the node's children are told one by one. */
static size_t told(const struct report *report, const struct tree *tree,
		   const struct tree_node *node)
{
	size_t limit = report_limit(report);
	size_t count = 0;

	while (count < limit && count < node->children_n &&
	       (report->options->full ||
		tree->nodes[node->first + count].bytes >= tree->nodes[0].bytes / SMALLEST))
		count++;
	/* A rest of one is no shorter. */
	return node->children_n - count == 1 ? node->children_n : count;
}

/* Puts what is below the node on the pile, the first on top. */
static size_t push_children(const struct report *report, const struct tree *tree,
			    const struct tree_row *of, struct tree_row *pile, size_t height)
{
	const struct tree_node *node = &tree->nodes[of->node];
	size_t count = told(report, tree, node);
	bool branches = node->children_n > 1 || node->own_bytes;
	unsigned indent = of->indent + (branches && of->node ? 2 : 0);
	struct tree_row more = { ROW_MORE, of->node, of->depth + 1, indent, 0, 0, 0 };

	for (size_t i = count; i < node->children_n; i++) {
		more.rows++;
		more.bytes += tree->nodes[node->first + i].bytes;
		more.count += tree->nodes[node->first + i].count;
	}
	if (more.rows)
		pile[height++] = more;
	if (node->own_bytes && node->children_n)
		pile[height++] =
			(struct tree_row){ ROW_OWN, of->node,        of->depth + 1,  indent,
					   0,       node->own_bytes, node->own_count };
	for (size_t i = count; i--;) {
		const struct tree_node *child = &tree->nodes[node->first + i];

		pile[height++] = (struct tree_row){ ROW_NODE,
						    node->first + (uint32_t)i,
						    child->depth,
						    indent,
						    0,
						    child->bytes,
						    child->count };
	}
	return height;
}

static const char *row_name(const struct report *report, const struct tree *tree,
			    const struct tree_row *row, char *to, size_t size)
{
	if (row->kind == ROW_MORE)
		snprintf(to, size, "... %zu more", row->rows);
	else if (row->kind == ROW_OWN)
		text_copy(to, size, "(itself)");
	else if (tree->nodes[row->node].frame < report->trace->frames_n)
		trace_frame_text(report->trace, tree->nodes[row->node].frame, to, size);
	return to;
}

static void add_branch(const struct report *report, const struct tree *tree,
		       const struct tree_row *row, struct emit_rows *to)
{
	unsigned indent = row->indent < INDENT_MOST ? row->indent : INDENT_MOST;
	char text[440 - INDENT_MOST] = "";
	const char *name = report_format(report, "%*s%s", (int)indent, "",
					 row_name(report, tree, row, text, sizeof(text)));

	report_add(report, to,
		   &(struct branch){
			   { row->bytes, tree->nodes[0].bytes },
			   name,
			   row->kind != ROW_NODE ? NULL
			   : name[0]             ? name + indent
						 : "",
			   row->depth,
			   row->rows,
			   row->count,
		   });
}

/* From the root down, children behind their parent, without recursion. */
static struct emit_rows find_rows(const struct report *report, const struct tree *tree)
{
	struct emit_rows rows = EMIT_NONE_OF(struct branch, SIZE_MAX);
	/* Each node is on it once at most, and each may have two rows beside. */
	struct tree_row *pile = report_room(report, (3 * tree->count + 1) * sizeof(*pile));
	const struct tree_row root = { .node = 0 };
	size_t height;

	report_add(report, &rows,
		   &(struct branch){ .part = { tree->nodes[0].bytes, 0 },
				     .count = tree->nodes[0].count });
	height = pile ? push_children(report, tree, &root, pile, 0) : 0;
	while (height) {
		struct tree_row row = pile[--height];

		add_branch(report, tree, &row, &rows);
		if (row.kind == ROW_NODE)
			height = push_children(report, tree, &row, pile, height);
	}
	return rows;
}

static void say_branches(const struct report *report, const struct branches *branches,
			 bool inverted)
{
	const struct branch *list = branches->rows.rows;
	const struct emit_rows below = EMIT_ROWS_OF(list + 1, branches->rows.count - 1);

	if (branches->device != NO_DEVICE)
		report_say(report, SAID_HEADING, "Peak of device %d %s: %s, with blocks",
			   branches->device,
			   inverted ? "from the allocation up" : "from the outermost caller down",
			   SAY_BYTES(list->part.bytes));
	else
		report_say(report, SAID_HEADING, "%s, %s, with blocks",
			   inverted ? "From the allocation up to its callers"
				    : "From the outermost caller down",
			   SAY_BYTES(list->part.bytes));
	emit_table(&report->show, &(struct emit_table){ .columns = branch_columns,
							.rows = &below,
							.headless = true,
							.indent = 2 });
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

	for (size_t i = 0; i < trace->peaks_n; i++) {
		const struct trace_peak *peak = &trace->peaks[i];
		struct branches branches = { .device = peak->device };
		struct tree tree;
		int error;

		if (!is_told(report, peak))
			continue;
		error = tree_build(&tree, trace, peak->stacks, peak->stacks_n, inverted,
				   report->options->full);
		if (error) {
			report_fail(report, error);
			return;
		}
		branches.rows = find_rows(report, &tree);
		tree_clear(&tree);
		report_add(report, &rows, &branches);
		if (!report->json)
			say_branches(report, &branches, inverted);
	}
	if (report->json)
		report_list(report, key, "\n", branches_columns, &rows);
}

void report_tell_tree(const struct report *report)
{
	tell_all(report, "\ntree", false);
}

void report_tell_inverted(const struct report *report)
{
	tell_all(report, "\ninverted", true);
}
