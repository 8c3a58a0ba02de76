/*
 * The report: who held a peak, as a tree. `tree` goes from the outermost caller down, `inverted`
 * from the allocation up.
 *
 * Each row's bytes are the sum of the rows below it: small branches are summed in "... N more", and
 * what a frame allocates itself beside its callees has a row of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/findings/tree.h"
#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"

enum {
	SMALLEST = 100, /* a branch below a hundredth of the peak is a small one */
	INDENT_MOST = 24,
};

enum row_kind { ROW_NODE, ROW_MORE, ROW_OWN };

/* A row to be written, a node with all below it. */
struct row {
	enum row_kind kind;
	uint32_t node;  /* of ROW_MORE and ROW_OWN: whose */
	uint32_t depth; /* of the frame, in frames */
	unsigned indent;
	size_t rows; /* of ROW_MORE: branches */
	uint64_t bytes, count;
};

/* A row of the document. */
struct branch {
	const char *frame;
	uint64_t depth, more, bytes, count;
};

static const struct emit_column branch_members[] = {
	EMIT_MEMBER("depth", NUMBER, struct branch, depth),
	EMIT_MEMBER("frame", TEXT, struct branch, frame),
	EMIT_MEMBER("more", COUNT, struct branch, more),
	EMIT_MEMBER("bytes", BYTES, struct branch, bytes),
	EMIT_MEMBER("count", COUNT, struct branch, count),
	EMIT_END,
};

struct branches {
	int device;
	struct emit_rows rows;
};

static const struct emit_column branches_members[] = {
	EMIT_MEMBER("device", DEVICE, struct branches, device),
	EMIT_LIST("rows", "\n  ", struct branches, rows, branch_members),
	EMIT_END,
};

/* Does with a row what `with` is for. */
typedef void row_writer(const struct report *report, const struct tree *tree, const struct row *row,
			struct emit_rows *to);

/* How many of the node's children are told one by one. */
static size_t told(const struct report *report, const struct tree *tree,
		   const struct tree_node *node)
{
	size_t limit = report_limit(report, node->children_n);
	size_t count = 0;

	while (count < limit && (report->options->full || tree->nodes[node->first + count].bytes >=
								  tree->nodes[0].bytes / SMALLEST))
		count++;
	/* A rest of one is no shorter. */
	return node->children_n - count == 1 ? node->children_n : count;
}

/* Puts what is below the node on the pile, the first on top. */
static size_t push_children(const struct report *report, const struct tree *tree,
			    const struct row *of, struct row *pile, size_t height)
{
	const struct tree_node *node = &tree->nodes[of->node];
	size_t count = told(report, tree, node);
	bool branches = node->children_n > 1 || node->own_bytes;
	unsigned indent = of->indent + (branches && of->node ? 2 : 0);
	struct row more = { ROW_MORE, of->node, of->depth + 1, indent, 0, 0, 0 };

	for (size_t i = count; i < node->children_n; i++) {
		more.rows++;
		more.bytes += tree->nodes[node->first + i].bytes;
		more.count += tree->nodes[node->first + i].count;
	}
	if (more.rows)
		pile[height++] = more;
	if (node->own_bytes && node->children_n)
		pile[height++] = (struct row){ ROW_OWN, of->node,        of->depth + 1,  indent,
					       0,       node->own_bytes, node->own_count };
	for (size_t i = count; i--;) {
		const struct tree_node *child = &tree->nodes[node->first + i];

		pile[height++] = (struct row){ ROW_NODE,
					       node->first + (uint32_t)i,
					       child->depth,
					       indent,
					       0,
					       child->bytes,
					       child->count };
	}
	return height;
}

/* From the root down, children behind their parent, without recursion. */
static int walk(const struct report *report, const struct tree *tree, row_writer *write,
		struct emit_rows *to)
{
	/* Each node is on it once at most, and each may have two rows beside. */
	struct row *pile = calloc(3 * tree->count + 1, sizeof(*pile));
	const struct row root = { .node = 0 };
	size_t height;

	if (!pile)
		return err_no_memory(report->trace->path);
	height = push_children(report, tree, &root, pile, 0);
	while (height) {
		struct row row = pile[--height];

		write(report, tree, &row, to);
		if (row.kind == ROW_NODE)
			height = push_children(report, tree, &row, pile, height);
	}
	free(pile);
	return 0;
}

static void row_name(const struct report *report, const struct tree *tree, const struct row *row,
		     char *to, size_t size)
{
	if (row->kind == ROW_MORE)
		snprintf(to, size, "... %zu more", row->rows);
	else if (row->kind == ROW_OWN)
		text_copy(to, size, "(itself)");
	else if (tree->nodes[row->node].frame < report->trace->frames_n)
		trace_frame_text(report->trace, tree->nodes[row->node].frame, to, size);
}

static void write_text(const struct report *report, const struct tree *tree, const struct row *row,
		       struct emit_rows *to)
{
	unsigned indent = row->indent < INDENT_MOST ? row->indent : INDENT_MOST;
	char number[SHOW_NUMBER];
	char count[64];
	char name[400];

	(void)to;
	for (unsigned i = 0; i < indent; i++)
		name[i] = ' ';
	row_name(report, tree, row, name + indent, sizeof(name) - indent);
	show_count(number, row->count);
	text_copy(count, sizeof(count), number);
	report_site_row(report, name, row->bytes, tree->nodes[0].bytes, count);
}

/* There is room for it: walk() has no more rows. */
static void add_branch(const struct report *report, const struct tree *tree, const struct row *row,
		       struct emit_rows *to)
{
	struct branch *list = (struct branch *)to->rows;
	char name[400];

	row_name(report, tree, row, name, sizeof(name));
	list[to->count++] = (struct branch){
		row->kind == ROW_NODE ? report_text_kept(report, name) : NULL,
		row->depth,
		row->rows,
		row->bytes,
		row->count,
	};
}

static int text_of(const struct report *report, const struct trace_peak *peak, bool inverted)
{
	struct tree tree;
	char bytes[SHOW_NUMBER];
	char text[200];
	int error = tree_build(&tree, report->trace, peak->stacks, peak->stacks_n, inverted,
			       report->options->full);

	if (error)
		return error;
	snprintf(text, sizeof(text), "%s, %s, with blocks",
		 inverted ? "From the allocation up to its callers"
			  : "From the outermost caller down",
		 show_bytes(bytes, tree.nodes[0].bytes));
	if (peak->device != NO_DEVICE)
		snprintf(text, sizeof(text), "Peak of device %d %s: %s, with blocks", peak->device,
			 inverted ? "from the allocation up" : "from the outermost caller down",
			 show_bytes(bytes, tree.nodes[0].bytes));
	show_heading(&report->show, text);
	error = walk(report, &tree, write_text, NULL);
	tree_clear(&tree);
	return error;
}

/* The root is the first row. */
static int find_branches(const struct report *report, const struct trace_peak *peak, bool inverted,
			 struct branches *branches)
{
	struct branch *list;
	struct tree tree;
	int error = tree_build(&tree, report->trace, peak->stacks, peak->stacks_n, inverted,
			       report->options->full);

	if (error)
		return error;
	list = report_room(report, (3 * tree.count + 1) * sizeof(*list));
	branches->device = peak->device;
	branches->rows = EMIT_ROWS_OF(list, list ? 1 : 0);
	if (list) {
		list[0] = (struct branch){ .bytes = tree.nodes[0].bytes,
					   .count = tree.nodes[0].count };
		error = walk(report, &tree, add_branch, &branches->rows);
	} else {
		error = err_no_memory(report->trace->path);
	}
	branches->rows.shown = branches->rows.count;
	tree_clear(&tree);
	return error;
}

static bool is_told(const struct report *report, const struct trace_peak *peak)
{
	return peak->metric == TRACE_ALLOCATED && !peak->pool && peak->bytes &&
	       (peak->device == NO_DEVICE || report_wants(report, peak->device));
}

static int tell_all(const struct report *report, const char *key, bool inverted)
{
	const struct trace *trace = report->trace;
	struct branches *list = report_room(report, (trace->peaks_n + 1) * sizeof(*list));
	struct emit_rows rows = EMIT_ROWS_OF(list, 0);
	int error = list ? 0 : err_no_memory(trace->path);

	for (size_t i = 0; !error && i < trace->peaks_n; i++) {
		const struct trace_peak *peak = &trace->peaks[i];

		if (!is_told(report, peak))
			continue;
		error = report->json ? find_branches(report, peak, inverted, &list[rows.count++])
				     : text_of(report, peak, inverted);
	}
	rows.shown = rows.count;
	if (!error && report->json)
		report_list(report, key, "\n", branches_members, &rows);
	return error;
}

int report_tell_tree(const struct report *report)
{
	return tell_all(report, "\ntree", false);
}

int report_tell_inverted(const struct report *report)
{
	return tell_all(report, "\ninverted", true);
}
