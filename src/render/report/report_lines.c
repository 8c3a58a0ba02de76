/*
 * The table of lines: the bytes that each source line allocated and freed, their difference, and
 * the bytes that the line held at the peak and at the end.
 *
 * A free counts for the line that freed, whichever line allocated the block. So a line that only
 * frees has a row too, and the differences of all rows sum to the live bytes at the end. A line has
 * a second row for memory outside of devices, which is no part of a device's peak.
 */
#include "render/report/report_parts.h"

struct lines_entry {
	const char *name;
	struct trace_stack of; /* the sums over the line's stacks */
	int64_t net_count, net;
	const char *space; /* the result of host_space() */
};

/* The table of lines. The line that holds most bytes at the peak is first. */
struct lines {
	const char *by;
	struct emit_rows rows;
	struct lines_entry total;
};

static const struct emit_column line_figures[] = {
	EMIT_OF(COUNT, struct lines_entry, allocations),
	EMIT_OF(BYTES, struct lines_entry, bytes),
	EMIT_OF(COUNT, struct lines_entry, frees_here),
	EMIT_OF(BYTES, struct lines_entry, freed_here_bytes),
	EMIT_FIELD(CHANGE, struct lines_entry, net_count),
	EMIT_MEMBER("net_bytes", CHANGE, struct lines_entry, net),
	EMIT_OF(BYTES, struct lines_entry, peak_bytes),
	EMIT_OF(COUNT, struct lines_entry, peak_count),
	EMIT_OF(BYTES, struct lines_entry, live_bytes),
	EMIT_OF(COUNT, struct lines_entry, live_count),
	EMIT_END,
};

static const struct emit_column line_members[] = {
	EMIT_FIELD(TEXT, struct lines_entry, name),
	EMIT_NESTED(NULL, INLINED, struct lines_entry, name, line_figures),
	EMIT_END,
};

static const struct emit_column lines_all[] = {
	EMIT_FIELD(TEXT, struct lines, by),
	EMIT_LIST("rows", "\n", struct lines, rows, line_members),
	EMIT_MEMBER("\nother_rows", HIDDEN, struct lines, rows),
	EMIT_NESTED("other", OTHER, struct lines, rows, line_figures),
	EMIT_NESTED("\ntotal", OBJECT, struct lines, total, line_figures),
	EMIT_END,
};

static const struct sort_key line_order[] = {
	SORT_DOWN(struct lines_entry, of.peak_bytes),
	SORT_DOWN(struct lines_entry, of.live_bytes),
	SORT_DOWN(struct lines_entry, of.bytes),
	SORT_DOWN(struct lines_entry, of.freed_here_bytes),
	SORT_TEXT(struct lines_entry, name),
	{ 0 },
};

static enum trace_by by_of(const struct report *report)
{
	return report->trace->by == TRACE_BY_SITE ? TRACE_BY_LINE
						  : (enum trace_by)report->trace->by;
}

/* A source line has a second row, for memory outside of devices. Returns the kind of memory if the
 * stack belongs in that row; NULL for device memory, in a selection, and if no device was used. */
static const char *host_space(const struct report *report, size_t stack)
{
	const struct trace *trace = report->trace;

	if (report->selection->narrow || !trace->summary.devices_n ||
	    trace->site_of[stack] == UINT32_MAX || trace_is_of(trace, stack, SPACE_DEVICE) ||
	    trace_is_of(trace, stack, SPACE_ARRAY))
		return NULL;
	return trace->sites[trace->site_of[stack]].space;
}

static struct lines find_lines(const struct report *report)
{
	struct trace *trace = report->trace;
	struct lines lines = { .by = trace_by_name(by_of(report)),
			       .rows = report_rows(report, struct lines_entry) };
	struct trace_keys keys = { .count = 0 };
	struct lines_entry *list;

	trace_keys_find(&keys, trace, by_of(report));
	list = report_room(report, (2 * keys.count + 1) * sizeof(*list));
	for (size_t i = 0; i < trace->stacks_n; i++) {
		const struct trace_stack *stack = &trace->stacks[i];
		const char *space = host_space(report, i);
		struct lines_entry *to = &list[2 * keys.of[i] + (space != NULL)];
		struct lines_entry line = {
			.of = *stack,
			.net_count = (int64_t)(stack->allocations - stack->frees_here),
			.net = (int64_t)(stack->bytes - stack->freed_here_bytes),
		};

		if (space)
			line.of.peak_bytes = line.of.peak_count = 0;
		to->space = space;
		emit_sum(line_figures, &EMIT_ROWS_OF(&line, 1), 0, to);
	}
	for (size_t i = 0; i < 2 * keys.count; i++) {
		const struct trace_stack *of = &list[i].of;

		list[i].name = report_in_space(report, keys.names[i / 2],
					       list[i].space ? list[i].space : "device");
		if (of->allocations || of->frees_here || of->peak_bytes || of->live_bytes)
			report_add(report, &lines.rows, &list[i]);
	}
	emit_sort(&lines.rows, line_order);
	emit_sum(line_figures, &lines.rows, 0, &lines.total);
	return lines;
}

/* --- for people --- */

void report_tell_lines(const struct report *report)
{
	const struct emit_column line_cells[] = {
		EMIT_CELL(trace_by_title(by_of(report)), -27, TEXT, struct lines_entry, name),
		EMIT_CELL("net", 12, CHANGE, struct lines_entry, net),
		EMIT_CELL("at peak", 12, BYTES, struct lines_entry, of.peak_bytes),
		EMIT_CELL(report->options->select.to ? "at end" : "at exit", 12, BYTES,
			  struct lines_entry, of.live_bytes),
		EMIT_CELL("allocs", 8, COUNT, struct lines_entry, of.allocations),
		EMIT_CELL("frees", 7, COUNT, struct lines_entry, of.frees_here),
		EMIT_END,
	};
	struct lines lines;

	/* A baseline has no complete stacks. */
	if (!report->selection->replayed && report->trace->capture.baseline) {
		report_member(report, "\nlines", lines_all, NULL);
		return;
	}
	lines = find_lines(report);
	report_member(report, "\nlines", lines_all, &lines);
	if (lines.rows.count)
		report_put(report,
			   (struct emit_table){
				   .columns = line_cells,
				   .rows = &lines.rows,
				   .heading = report_format(report,
							    "Net allocation by %s (allocated "
							    "minus freed there)",
							    trace_by_title(by_of(report))),
				   .summed = true,
			   });
}
