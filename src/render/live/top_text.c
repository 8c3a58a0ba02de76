/*
 * Processes as they are now, as text: on a terminal's page, or without a limit of rows.
 *
 * A page with too few rows leaves out lines of source first, then the last rows.
 */
#include <math.h>
#include <stdio.h>
#include <sys/param.h>

#include "base/text/out.h"
#include "render/document/document.h"
#include "render/emit/term.h"
#include "render/live/top.h"

enum {
	WHERE = 12, /* columns */
	BYTES = 11,
	TIME = 14, /* "23 h 59 min" and more */
	OPEN_RANGES = 4,
	LONGEST = 1024,
};

struct page {
	struct show show;
	unsigned columns;
	unsigned left; /* rows, UINT32_MAX without end */
	bool erase;
};

/* A row of cells; text that does not fit is cut. */
struct cells {
	char text[LONGEST];
};

/* Appends to the cells as printf does. */
#define ADD(cells, ...) show_more((cells)->text, LONGEST, __VA_ARGS__)

/* Left-aligned; its last column stays blank. */
static void add_left(struct cells *cells, const char *text, unsigned columns)
{
	char safe[512];

	show_safe(safe, sizeof(safe), text, columns - 1);
	ADD(cells, "%s%*s", safe, (int)(columns - show_columns(safe)), "");
}

/* Right-aligned in `columns` columns, after at least one blank; the text is ASCII. */
static void add_right(struct cells *cells, const char *text, int columns)
{
	ADD(cells, " %*s", columns - 1, text);
}

static void add_bytes(struct cells *cells, uint64_t bytes)
{
	add_right(cells, SAY_BYTES(bytes), BYTES);
}

/* Rounds a rate; TRACE_NONE when it is not known. In a damaged spool it may have any size. */
static uint64_t to_whole(double rate)
{
	if (isnan(rate))
		return TRACE_NONE;
	return rate < 1e18 ? (uint64_t)(rate + 0.5) : (uint64_t)1e18;
}

enum style { PLAIN, BOLD, DIM };

static void print(struct page *page, struct cells *cells, enum style style)
{
	char safe[LONGEST];

	if (page->left) {
		if (page->left != UINT32_MAX)
			page->left--;
		show_safe(safe, sizeof(safe), cells->text, page->columns);
		if (style == BOLD)
			show_bold(&page->show, safe);
		else if (style == DIM)
			show_dim(&page->show, safe);
		else
			out_text(page->show.out, safe);
		out_text(page->show.out, page->erase ? "\033[K\n" : "\n");
	}
	cells->text[0] = '\0';
}

/* --- a process --- */

static void head(struct page *page, const struct look *look)
{
	struct cells cells = { "" };
	const char *stopped = document_stop_text(look->stop);

	ADD(&cells, "%d  ", look->pid);
	if (look->rank)
		ADD(&cells, "rank %s  ", look->rank);
	ADD(&cells, "%s", look->command);
	print(page, &cells, BOLD);
	ADD(&cells, "  %s %s; %s events, %s/s; allocates %s/s",
	    look->running ? "running for" : "has ended, after", SAY_TIME(look->uptime),
	    SAY_COUNT(look->events), SAY_COUNT(to_whole(look->events_rate)),
	    SAY_BYTES(to_whole(look->bytes_rate)));
	if (look->ooms)
		ADD(&cells, "; out of memory %s times", SAY_COUNT(look->ooms));
	if (!look->events_on && look->running)
		ADD(&cells, "; events are off");
	print(page, &cells, DIM);
	if (stopped) {
		ADD(&cells, "  %s", stopped);
		print(page, &cells, BOLD);
	}
}

/* Bytes that may be below 0: others on the device gave memory back since. */
static void add_change(struct cells *cells, int64_t bytes)
{
	char text[SHOW_MANY];

	snprintf(text, sizeof(text), "%s%s", bytes < 0 ? "-" : "",
		 SAY_BYTES(bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes));
	add_right(cells, text, BYTES);
}

static void device(struct page *page, const struct live_view_scope *scope)
{
	const struct spool_sum *sums = scope->row.sums;
	struct cells cells = { "" };
	char text[SHOW_MANY];

	snprintf(text, sizeof(text), "  GPU %d", scope->row.device);
	add_left(&cells, text, WHERE);
	add_bytes(&cells, sums[METRIC_ALLOCATED].now);
	add_bytes(&cells, sums[METRIC_RESERVED].now);
	add_bytes(&cells, scope->cached);
	add_bytes(&cells, sums[METRIC_USED].now);
	if (scope->row.used_samples)
		add_change(&cells, scope->row.residual);
	else
		add_right(&cells, "-", BYTES);
	add_right(&cells, SAY_COUNT(to_whole(scope->rate)), BYTES);
	print(page, &cells, PLAIN);
	add_left(&cells, "    at most", WHERE);
	add_bytes(&cells, sums[METRIC_ALLOCATED].peak);
	add_bytes(&cells, sums[METRIC_RESERVED].peak);
	add_right(&cells, "", BYTES);
	add_bytes(&cells, sums[METRIC_USED].peak);
	if (scope->total != TRACE_NONE)
		ADD(&cells, "  of %s", SAY_BYTES(scope->total));
	if (scope->name)
		ADD(&cells, ", %s", scope->name);
	print(page, &cells, DIM);
}

static void space(struct page *page, const struct live_view_scope *scope)
{
	const struct spool_sum *allocated = &scope->row.sums[METRIC_ALLOCATED];
	struct cells cells = { "" };
	char text[512];

	snprintf(text, sizeof(text), "  %s", scope->name ? scope->name : "?");
	add_left(&cells, text, WHERE);
	add_bytes(&cells, allocated->now);
	ADD(&cells, "  at most %s, %s allocations/s", SAY_BYTES(allocated->peak),
	    SAY_COUNT(to_whole(scope->rate)));
	print(page, &cells, PLAIN);
}

static void scopes(struct page *page, const struct look *look)
{
	static const char *const heads[] = { "allocated", "reserved", "cached",
					     "used",      "residual", "allocs/s" };
	const struct live_view_scope *scope = NULL;
	struct cells cells = { "" };

	if (live_view_next(look, SCOPE_DEVICE, NULL)) {
		add_left(&cells, "", WHERE);
		for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
			add_right(&cells, heads[i], BYTES);
		print(page, &cells, DIM);
	}
	while ((scope = live_view_next(look, SCOPE_DEVICE, scope)))
		device(page, scope);
	while ((scope = live_view_next(look, SCOPE_SPACE, scope))) {
		if (scope->row.sums[METRIC_ALLOCATED].peak)
			space(page, scope);
	}
}

static void write_line(struct page *page, const struct live_view_line *line)
{
	struct cells cells = { "" };
	char gpu[SHOW_NUMBER];

	add_bytes(&cells, line->holds);
	add_right(&cells, SAY_COUNT(line->count), 10);
	add_right(&cells, SAY_BYTES(to_whole(line->rate)), BYTES);
	snprintf(gpu, sizeof(gpu), "GPU %d", line->device);
	ADD(&cells, "  ");
	add_left(&cells, line->device == NO_DEVICE ? line->space : gpu, 8);
	ADD(&cells, "%s", line->name);
	print(page, &cells, PLAIN);
}

static void lines(struct page *page, const struct look *look, unsigned most)
{
	const struct live_view_lines *all = &look->lines;
	struct cells cells = { "" };
	uint64_t bytes = 0;

	if (!all->sorted_n || !most)
		return;
	add_right(&cells, "holds", BYTES);
	add_right(&cells, "blocks", 10);
	add_right(&cells, "bytes/s", BYTES);
	ADD(&cells, "  where   line");
	if (look->sample != TRACE_NONE)
		ADD(&cells, "  (estimated from samples of %s)", SAY_BYTES(look->sample));
	if (look->follow.torn)
		ADD(&cells, "  (not all of the same moment as the sums)");
	print(page, &cells, DIM);
	for (uint32_t i = 0; i < all->sorted_n; i++) {
		if (i < most)
			write_line(page, &all->sorted[i]);
		else
			bytes += all->sorted[i].holds;
	}
	if (all->sorted_n <= most)
		return;
	add_bytes(&cells, bytes);
	ADD(&cells, "  in %s more lines", SAY_COUNT(all->sorted_n - most));
	print(page, &cells, DIM);
}

static void range(struct page *page, const struct look *look, const struct live_view_range *range)
{
	struct cells cells = { "" };
	bool open = range->end == TRACE_NONE;
	uint64_t end = open ? look->uptime : range->end;

	ADD(&cells, open ? "  open for " : "  ended, took ");
	add_left(&cells, SAY_TIME(end > range->start ? end - range->start : 0), TIME);
	ADD(&cells, "%s", range->name ? range->name : "[no name]");
	print(page, &cells, PLAIN);
}

/* The innermost open ranges; if there are none, the one that ended last. */
static void ranges(struct page *page, const struct look *look)
{
	const struct look_ranges *all = &look->ranges;
	uint32_t from = all->open_n > OPEN_RANGES ? all->open_n - OPEN_RANGES : 0;

	for (uint32_t i = from; i < all->open_n; i++)
		range(page, look, &all->open[i]);
	if (!all->open_n && all->ended_n)
		range(page, look, &all->ended[0]);
}

/* The number of lines of source for each process, so that all processes fit on the page. */
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
	struct page page = {
		{ out, how->colour }, how->columns, how->rows ? how->rows : UINT32_MAX, how->erase
	};
	unsigned most = lines_each(top, how);
	struct cells cells = { "" };

	if (page.columns < TOP_NARROWEST)
		page.columns = TOP_NARROWEST;
	if (how->note) {
		ADD(&cells, "%s", how->note);
		print(&page, &cells, DIM);
	}
	for (size_t i = 0; i < top->looks_n; i++) {
		const struct look *look = top->looks[i];

		if (i || how->note)
			print(&page, &cells, PLAIN);
		head(&page, look);
		scopes(&page, look);
		lines(&page, look, most);
		ranges(&page, look);
	}
}
