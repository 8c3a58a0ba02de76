/*
 * The lines table: what each line of the program took, less what it gave back, and what it holds.
 *
 * A free counts for the line that made it, whosever allocation it ended. So a line that only frees
 * has a row too, and all rows together are what is live at the end.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

struct line {
	const char *name;
	uint64_t allocations, bytes, frees, freed;
	uint64_t peak, peak_count, live, live_count;
};

struct lines {
	struct line *list; /* largest at the peak first */
	size_t count;
	struct line total;
};

static void add(struct line *to, const struct line *from)
{
	to->allocations += from->allocations;
	to->bytes += from->bytes;
	to->frees += from->frees;
	to->freed += from->freed;
	to->peak += from->peak;
	to->peak_count += from->peak_count;
	to->live += from->live;
	to->live_count += from->live_count;
}

static int by_weight(const void *a, const void *b)
{
	const struct line *x = a;
	const struct line *y = b;

	if (x->peak != y->peak)
		return x->peak > y->peak ? -1 : 1;
	if (x->live != y->live)
		return x->live > y->live ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->freed != y->freed)
		return x->freed > y->freed ? -1 : 1;
	return strcmp(x->name, y->name);
}

static enum trace_by by_of(const struct report *report)
{
	return report->trace->by == TRACE_BY_SITE ? TRACE_BY_LINE
						  : (enum trace_by)report->trace->by;
}

static struct line line_of(const struct trace_stack *stack)
{
	return (struct line){
		.allocations = stack->allocations,
		.bytes = stack->bytes,
		.frees = stack->frees_here,
		.freed = stack->freed_here_bytes,
		.peak = stack->peak_bytes,
		.peak_count = stack->peak_count,
		.live = stack->live_bytes,
		.live_count = stack->live_count,
	};
}

/* Rows in which nothing happened are left out. */
static int find_lines(const struct report *report, struct lines *lines)
{
	struct trace *trace = report->trace;
	struct trace_keys keys;
	size_t kept = 0;
	int error = trace_keys_find(&keys, trace, by_of(report));

	*lines = (struct lines){ 0 };
	if (error)
		return error;
	lines->list = calloc(keys.count + 1, sizeof(*lines->list));
	if (!lines->list)
		return err("no memory left");
	for (size_t i = 0; i < trace->stacks_n; i++) {
		struct line line = line_of(&trace->stacks[i]);

		add(&lines->list[keys.of[i]], &line);
		add(&lines->total, &line);
	}
	for (size_t i = 0; i < keys.count; i++) {
		struct line *line = &lines->list[i];

		if (!line->allocations && !line->frees && !line->peak && !line->live)
			continue;
		line->name = keys.keys[i].name;
		lines->list[kept++] = *line;
	}
	lines->count = kept;
	qsort(lines->list, lines->count, sizeof(*lines->list), by_weight);
	return 0;
}

/* --- for people --- */

/* "f (train.py:12)" as "train.py:12 f": what is cut at the right is worth less. */
static void line_name(const char *name, char *to, size_t size)
{
	const char *at = NULL;
	size_t length = strlen(name);

	for (const char *p = name; (p = strstr(p, " (")); p += 2)
		at = p;
	if (!at || name[length - 1] != ')' || !memchr(at, ':', length - (size_t)(at - name))) {
		text_copy(to, size, name);
		return;
	}
	text_copy_n(to, size, at + 2, (size_t)(name + length - 1 - (at + 2)));
	text_append(to, size, " ");
	length = strlen(to);
	text_copy_n(to + length, size - length, name, (size_t)(at - name));
}

static void signed_bytes(char *to, uint64_t in, uint64_t out)
{
	char number[SHOW_NUMBER];

	text_join(to, SHOW_NUMBER,
		  in > out   ? "+"
		  : in < out ? "-"
			     : "",
		  show_bytes(number, in > out ? in - out : out - in));
}

static void row(const struct report *report, const struct report_column *columns,
		const struct line *line)
{
	char number[SHOW_NUMBER];
	char name[600];

	line_name(line->name, name, sizeof(name));
	report_first_cell(report, &columns[0], name);
	signed_bytes(number, line->bytes, line->freed);
	report_cell(report, &columns[1], number);
	report_cell(report, &columns[2], show_bytes(number, line->peak));
	report_cell(report, &columns[3], show_bytes(number, line->live));
	report_cell(report, &columns[4], show_count(number, line->allocations));
	report_cell(report, &columns[5], show_count(number, line->frees));
	out_char(report->show.out, '\n');
}

static void rows(const struct report *report, const struct lines *lines)
{
	const struct report_column columns[] = {
		{ trace_by_title(by_of(report)), 25 },
		{ "net", 12 },
		{ "at peak", 12 },
		{ report->options->to ? "at end" : "at exit", 12 },
		{ "allocs", 9 },
		{ "frees", 8 },
		{ NULL, 0 },
	};
	size_t shown = report_limit(report, lines->count);
	struct line rest = { 0 };
	char name[64];

	report_header(report, columns);
	for (size_t i = 0; i < lines->count; i++) {
		if (i < shown)
			row(report, columns, &lines->list[i]);
		else
			add(&rest, &lines->list[i]);
	}
	if (shown < lines->count) {
		snprintf(name, sizeof(name), "... and %zu more", lines->count - shown);
		rest.name = name;
		row(report, columns, &rest);
	}
}

int report_text_lines(const struct report *report)
{
	struct lines lines;
	char text[100];
	int error;

	if (!report->selection->replayed && report->trace->capture.baseline)
		return 0;
	error = find_lines(report, &lines);
	if (!error && lines.count) {
		snprintf(text, sizeof(text), "What was allocated less what was freed there, by %s",
			 trace_by_title(by_of(report)));
		show_heading(&report->show, text);
		rows(report, &lines);
	}
	free(lines.list);
	return error;
}

/* --- for programs --- */

static void figures(const struct report *report, const struct line *line)
{
	report_json_number(report, "\"allocations\":", line->allocations);
	report_json_number(report, ",\"bytes\":", line->bytes);
	report_json_number(report, ",\"frees_here\":", line->frees);
	report_json_number(report, ",\"freed_here_bytes\":", line->freed);
	out_text(report->show.out, ",\"net_count\":");
	out_i64(report->show.out, (int64_t)(line->allocations - line->frees));
	out_text(report->show.out, ",\"net_bytes\":");
	out_i64(report->show.out, (int64_t)(line->bytes - line->freed));
	report_json_number(report, ",\"peak_bytes\":", line->peak);
	report_json_number(report, ",\"peak_count\":", line->peak_count);
	report_json_number(report, ",\"live_bytes\":", line->live);
	report_json_number(report, ",\"live_count\":", line->live_count);
	out_char(report->show.out, '}');
}

int report_json_lines(const struct report *report)
{
	struct line rest = { 0 };
	struct lines lines;
	size_t shown;
	int error;

	if (!report->selection->replayed && report->trace->capture.baseline) {
		out_text(report->show.out, ",\n\"lines\":null");
		return 0;
	}
	error = find_lines(report, &lines);
	if (error)
		return error;
	shown = report_limit(report, lines.count);
	report_json_text(report, ",\n\"lines\":{\"by\":", trace_by_name(by_of(report)));
	out_text(report->show.out, ",\"rows\":[");
	for (size_t i = 0; i < lines.count; i++) {
		if (i >= shown) {
			add(&rest, &lines.list[i]);
			continue;
		}
		report_json_text(report, i ? ",\n{\"name\":" : "\n{\"name\":", lines.list[i].name);
		out_char(report->show.out, ',');
		figures(report, &lines.list[i]);
	}
	report_json_number(report, "],\n\"other_rows\":", lines.count - shown);
	out_text(report->show.out, ",\"other\":{");
	figures(report, &rest);
	out_text(report->show.out, ",\n\"total\":{");
	figures(report, &lines.total);
	out_char(report->show.out, '}');
	free(lines.list);
	return 0;
}
