/*
 * Writes the memory of processes as text, for a page of a terminal or without a limit of rows.
 *
 * On a page with too few rows, fewer lines of source are shown; if that is not enough, the last
 * rows are left out.
 */
#include <math.h>
#include <stdio.h>
#include <sys/param.h>

#include "base/mem/each.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/document/document.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"
#include "render/live/top.h"

enum {
	WHERE = 12,      /* columns of the first cell */
	BYTES = 11,      /* columns of a cell with bytes */
	OPEN_RANGES = 4, /* maximum number of open ranges shown for a process */
	LONGEST = 1024,
};

struct page {
	struct out *out;
	unsigned left; /* rows still free, UINT32_MAX for no limit */
	bool erase;    /* clear the terminal to the right of each line */
};

/* An out_sink: writes text to the struct page `to`, and drops text after the page's last row. */
static int page_take(void *to, const char *bytes, size_t length)
{
	struct page *page = to;

	for (size_t i = 0; i < length && page->left; i++) {
		if (bytes[i] != '\n') {
			out_char(page->out, bytes[i]);
			continue;
		}
		if (page->left != UINT32_MAX)
			page->left--;
		out_text(page->out, page->erase ? "\033[K\n" : "\n");
	}
	return 0;
}

/* Rounds a rate, cut to 1e18 (a damaged spool can give any number); TRACE_NONE for NAN. */
static uint64_t to_whole(double rate)
{
	if (isnan(rate))
		return TRACE_NONE;
	return rate < 1e18 ? (uint64_t)(rate + 0.5) : (uint64_t)1e18;
}

/* Writes a line in a style (show_bold, show_dim), cut to the width of the page. */
static void put_line(const struct show *show, const char *line,
		     void style(const struct show *, const char *))
{
	char safe[LONGEST];

	show_safe(safe, sizeof(safe), line, show->columns);
	style(show, safe);
	out_char(show->out, '\n');
}

/* --- a process --- */

static void head(const struct show *show, const struct look *look)
{
	const char *stopped = document_stop_text(look->stop);
	char text[LONGEST] = "";

	show_more(text, sizeof(text), "%d  ", look->pid);
	if (look->rank)
		show_more(text, sizeof(text), "rank %s  ", look->rank);
	show_more(text, sizeof(text), "%s", look->command);
	put_line(show, text, show_bold);
	text[0] = '\0';
	show_more(text, sizeof(text), "  %s %s; %s events, %s/s; allocates %s/s",
		  look->running ? "running for" : "ended after", SAY_TIME(look->uptime),
		  SAY_COUNT(look->events), SAY_COUNT(to_whole(look->events_rate)),
		  SAY_BYTES(to_whole(look->bytes_rate)));
	if (look->ooms)
		show_more(text, sizeof(text), "; out of memory %s times", SAY_COUNT(look->ooms));
	if (!look->events_on && look->running)
		show_more(text, sizeof(text), "; recording of events is off");
	put_line(show, text, show_dim);
	if (!stopped)
		return;
	text_join(text, sizeof(text), "  ", stopped);
	put_line(show, text, show_bold);
}

/* --- devices, and memory outside of them --- */

struct scope_row {
	const char *where, *note;
	uint64_t allocated, reserved, cached, used;
	int64_t residual; /* used bytes that no call explains (may be < 0); INT64_MIN: unknown */
	uint64_t rate;
	const struct live_view_scope *of;
};

static const struct emit_column device_cells[] = {
	EMIT_CELL("", -WHERE, TEXT, struct scope_row, where),
	EMIT_CELL("allocated", BYTES, BYTES, struct scope_row, allocated),
	EMIT_CELL("reserved", BYTES, BYTES, struct scope_row, reserved),
	EMIT_CELL("cached", BYTES, BYTES, struct scope_row, cached),
	EMIT_CELL("used", BYTES, BYTES, struct scope_row, used),
	EMIT_CELL("residual", BYTES, AMOUNT, struct scope_row, residual),
	EMIT_CELL("allocs/s", BYTES, COUNT, struct scope_row, rate),
	EMIT_END,
};

static const struct emit_column peak_cells[] = {
	EMIT_CELL("", -WHERE, TEXT, struct scope_row, where, .flags = EMIT_DIM),
	EMIT_CELL("", BYTES, BYTES, struct scope_row, allocated, .flags = EMIT_DIM),
	EMIT_CELL("", BYTES, BYTES, struct scope_row, reserved, .flags = EMIT_DIM),
	EMIT_CELL("", BYTES, BYTES, struct scope_row, used, .gap = BYTES, .flags = EMIT_DIM),
	EMIT_CELL("", 0, TEXT, struct scope_row, note, .gap = 2, .flags = EMIT_DIM),
	EMIT_END,
};

static const struct emit_column space_cells[] = {
	EMIT_CELL("", -WHERE, TEXT, struct scope_row, where),
	EMIT_CELL("", BYTES, BYTES, struct scope_row, allocated),
	EMIT_CELL("", 0, TEXT, struct scope_row, note, .gap = 2),
	EMIT_END,
};

static void peak_below(const struct show *show, const void *row, const void *with)
{
	const struct live_view_scope *scope = ((const struct scope_row *)row)->of;
	const struct spool_sum *sums = scope->row.sums;
	char note[LONGEST] = "";
	const struct scope_row peak = {
		.where = "    peak",
		.note = note,
		.allocated = sums[METRIC_ALLOCATED].peak,
		.reserved = sums[METRIC_RESERVED].peak,
		.used = sums[METRIC_USED].peak,
	};

	(void)with;
	if (scope->total != TRACE_NONE)
		show_more(note, sizeof(note), "of %s", SAY_BYTES(scope->total));
	if (scope->name)
		show_more(note, sizeof(note), "%s%s", note[0] ? ", " : "", scope->name);
	emit_row(show, peak_cells, &peak, 0);
}

static void devices(const struct show *show, const struct look *look, struct arena *arena)
{
	const struct live_view_scope *scope = NULL;
	struct emit_rows rows = EMIT_NONE_OF(struct scope_row, SIZE_MAX);

	while ((scope = live_view_next(look, SCOPE_DEVICE, scope))) {
		const struct spool_sum *sums = scope->row.sums;

		emit_add(arena, &rows,
			 &(struct scope_row){
				 .where = show_kept(arena, "  GPU %d", scope->row.device),
				 .allocated = sums[METRIC_ALLOCATED].now,
				 .reserved = sums[METRIC_RESERVED].now,
				 .cached = scope->cached,
				 .used = sums[METRIC_USED].now,
				 .residual =
					 scope->row.used_samples ? scope->row.residual : INT64_MIN,
				 .rate = to_whole(scope->rate),
				 .of = scope,
			 });
	}
	emit_table(show, &(struct emit_table){
				 .columns = device_cells, .rows = &rows, .below = peak_below });
}

static void spaces(const struct show *show, const struct look *look, struct arena *arena)
{
	const struct live_view_scope *scope = NULL;

	while ((scope = live_view_next(look, SCOPE_SPACE, scope))) {
		const struct spool_sum *sum = &scope->row.sums[METRIC_ALLOCATED];
		const struct scope_row row = {
			.where = show_kept(arena, "  %s", scope->name ? scope->name : "?"),
			.note = show_kept(arena, "peak %s, %s allocations/s", SAY_BYTES(sum->peak),
					  SAY_COUNT(to_whole(scope->rate))),
			.allocated = sum->now,
		};

		if (sum->peak)
			emit_row(show, space_cells, &row, 0);
	}
}

/* --- lines of source --- */

struct line_row {
	uint64_t holds, count, rate;
	const struct live_view_line *of; /* NULL in the row that sums the lines not shown */
	const char *name;
};

/* Shows bytes per second, "-" if unknown: TRACE_NONE, or the sum of several TRACE_NONE, which wraps
 * to a slightly smaller number. */
static const char *show_rate(char *to, const void *row)
{
	uint64_t rate = ((const struct line_row *)row)->rate;

	return rate > INT64_MAX ? "-" : show_bytes(to, rate);
}

static const char *show_where(char *to, const void *row)
{
	const struct live_view_line *line = ((const struct line_row *)row)->of;

	if (!line)
		return "";
	if (line->device == NO_DEVICE)
		return line->space;
	snprintf(to, EMIT_CELL_MOST, "GPU %d", line->device);
	return to;
}

static void lines(const struct show *show, const struct look *look, unsigned most,
		  struct arena *arena)
{
	const struct live_view_lines *all = &look->lines;
	struct emit_rows rows = EMIT_NONE_OF(struct line_row, most);
	char line[LONGEST] = "line";
	const struct emit_column cells[] = {
		EMIT_CELL("holds", BYTES, BYTES, struct line_row, holds),
		EMIT_CELL("blocks", 10, COUNT, struct line_row, count),
		EMIT_SHOWN("bytes/s", BYTES, BYTES, struct line_row, rate, show_rate),
		EMIT_CELL("where", -8, POINTED, struct line_row, of, .gap = 2, .show = show_where),
		EMIT_CELL(line, 0, TEXT, struct line_row, name),
		EMIT_END,
	};

	if (!most)
		return;
	if (look->sample != TRACE_NONE)
		show_more(line, sizeof(line),
			  "  (estimated from one sample for every %s allocated)",
			  SAY_BYTES(look->sample));
	if (look->follow.torn)
		show_more(line, sizeof(line), "  (not from the same moment as the totals)");
	foreach (row, all->sorted) {
		emit_add(arena, &rows,
			 &(struct line_row){ row->holds, row->count, to_whole(row->rate), row,
					     row->name });
	}
	emit_table(show,
		   &(struct emit_table){
			   .columns = cells, .rows = &rows, .summed = true, .more = "more lines" });
}

/* --- ranges --- */

struct range_row {
	const char *state, *name;
	uint64_t time;
};

static void range(const struct show *show, const struct look *look,
		  const struct live_view_range *range)
{
	static const struct emit_column cells[] = {
		EMIT_CELL("", -13, TEXT, struct range_row, state),
		EMIT_CELL("", -14, TIME, struct range_row, time),
		EMIT_CELL("", 0, TEXT, struct range_row, name),
		EMIT_END,
	};
	bool open = range->end == TRACE_NONE;
	uint64_t end = open ? look->uptime : range->end;
	const struct range_row row = { open ? "open for" : "ended, took",
				       range->name ? range->name : "[no name]",
				       end > range->start ? end - range->start : 0 };

	emit_row(show, cells, &row, 2);
}

/* Shows the innermost open ranges, or the range that ended last if none is open. */
static void ranges(const struct show *show, const struct look *look)
{
	const struct look_ranges *all = &look->ranges;
	uint32_t from = all->open_n > OPEN_RANGES ? all->open_n - OPEN_RANGES : 0;

	for (uint32_t i = from; i < all->open_n; i++)
		range(show, look, &all->open[i]);
	if (!all->open_n && all->ended_n)
		range(show, look, &all->ended[0]);
}

/* Returns the number of source lines that each process may show, so that all fit on the page. */
static unsigned lines_each(const struct top *top, const struct top_page *page)
{
	unsigned each;
	unsigned others = 0;

	if (!page->rows || !top->looks_n)
		return top->lines;
	for (size_t i = 0; i < top->looks_n; i++) {
		const struct look *look = top->looks[i];
		const struct live_view_scope *scope = NULL;

		others += 6 + MIN(look->ranges.open_n, OPEN_RANGES);
		while ((scope = live_view_next(look, SCOPE_DEVICE, scope)))
			others += 2;
		while ((scope = live_view_next(look, SCOPE_SPACE, scope)))
			others++;
	}
	each = page->rows > others ? (page->rows - others) / (unsigned)top->looks_n : 0;
	return MIN(each, top->lines);
}

void top_text(const struct top *top, struct out *out, const struct top_page *how)
{
	struct page page = { out, how->rows ? how->rows : UINT32_MAX, how->erase };
	char buffer[4096];
	struct out text;
	struct show show = { .out = &text, .colour = how->colour, .columns = how->columns };
	unsigned most = lines_each(top, how);
	struct arena arena = { 0 };

	out_init(&text, -1, buffer, sizeof(buffer));
	text.sink = page_take;
	text.sink_to = &page;
	if (show.columns < TOP_NARROWEST)
		show.columns = TOP_NARROWEST;
	if (how->note)
		put_line(&show, how->note, show_dim);
	for (size_t i = 0; i < top->looks_n; i++) {
		const struct look *look = top->looks[i];

		if (i || how->note)
			out_char(&text, '\n');
		head(&show, look);
		devices(&show, look, &arena);
		spaces(&show, look, &arena);
		lines(&show, look, most, &arena);
		ranges(&show, look);
	}
	out_flush(&text);
	arena_clear(&arena);
}
