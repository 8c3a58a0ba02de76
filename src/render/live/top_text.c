/*
 * Processes as they are now, as people read them: on a terminal's page, or as text without end.
 *
 * A page that is too low for all of it loses lines of source first, then what comes last.
 */
#include <stdio.h>
#include <string.h>

#include "base/text/out.h"
#include "base/text/text.h"
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

/* A row of cells; those that no longer fit are left out. */
struct cells {
	char text[LONGEST];
	size_t used;
};

static void add_cell(struct cells *cells, const char *text)
{
	cells->used = text_append(cells->text, sizeof(cells->text), text);
}

/* Its last column stays blank. */
static void add_left(struct cells *cells, const char *text, unsigned columns)
{
	char safe[512];

	show_safe(safe, sizeof(safe), text, columns - 1);
	add_cell(cells, safe);
	for (unsigned i = show_columns(safe); i < columns; i++)
		add_cell(cells, " ");
}

/* With a blank before it, however wide it is. */
static void add_right(struct cells *cells, const char *text, unsigned columns)
{
	add_cell(cells, " ");
	for (unsigned i = show_columns(text) + 1; i < columns; i++)
		add_cell(cells, " ");
	add_cell(cells, text);
}

static void add_bytes(struct cells *cells, uint64_t bytes)
{
	add_right(cells, SAY_BYTES(bytes), BYTES);
}

/* A damaged spool may have moved by any number. */
static uint64_t to_whole(double rate)
{
	return rate < 1e18 ? (uint64_t)(rate + 0.5) : (uint64_t)1e18;
}

/* What a rate is, "-" where it is not known. */
static const char *per_second(char *to, const struct look *look, double rate, bool bytes)
{
	if (!(look->seconds > 0))
		return text_copy(to, SHOW_NUMBER, "-"), to;
	if (bytes)
		return show_bytes(to, to_whole(rate));
	return show_count(to, to_whole(rate));
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
	*cells = (struct cells){ .used = 0 };
}

static void print_empty(struct page *page)
{
	struct cells cells = { .used = 0 };

	print(page, &cells, PLAIN);
}

/* --- a process --- */

static void head(struct page *page, const struct look *look)
{
	struct cells cells = { .used = 0 };
	char text[SHOW_NUMBER];
	const char *stopped = document_stop_text(look->stop);

	text_u64(text, (uint64_t)look->pid);
	add_cell(&cells, text);
	add_cell(&cells, "  ");
	if (look->rank) {
		add_cell(&cells, "rank ");
		add_cell(&cells, look->rank);
		add_cell(&cells, "  ");
	}
	add_cell(&cells, look->command);
	print(page, &cells, BOLD);
	add_cell(&cells, look->ended ? "  has ended, after " : "  running for ");
	add_cell(&cells, show_time(text, look->uptime));
	add_cell(&cells, "; ");
	add_cell(&cells, show_count(text, look->events));
	add_cell(&cells, " events, ");
	add_cell(&cells, per_second(text, look, look->events_rate, false));
	add_cell(&cells, "/s; allocates ");
	add_cell(&cells, per_second(text, look, look->bytes_rate, true));
	add_cell(&cells, "/s");
	if (look->ooms) {
		add_cell(&cells, "; out of memory ");
		add_cell(&cells, show_count(text, look->ooms));
		add_cell(&cells, " times");
	}
	if (!look->events_on && !look->ended)
		add_cell(&cells, "; events are off");
	print(page, &cells, DIM);
	if (stopped) {
		add_cell(&cells, "  ");
		add_cell(&cells, stopped);
		print(page, &cells, BOLD);
	}
}

static void device(struct page *page, const struct look *look, const struct live_view_scope *scope)
{
	struct cells cells = { .used = 0 };
	uint64_t residual;
	char text[512];

	snprintf(text, sizeof(text), "  GPU %d", scope->device);
	add_left(&cells, text, WHERE);
	add_bytes(&cells, scope->allocated.now);
	add_bytes(&cells, scope->reserved.now);
	add_bytes(&cells, live_view_cached(scope));
	add_bytes(&cells, scope->samples ? scope->used.now : UINT64_MAX);
	/* It may be below 0: others on the card gave memory back since. */
	residual = (uint64_t)scope->residual;
	show_bytes(text, !scope->samples       ? UINT64_MAX
			 : scope->residual < 0 ? 0 - residual
					       : residual);
	if (scope->samples && scope->residual < 0) {
		memmove(text + 1, text, strlen(text) + 1);
		text[0] = '-';
	}
	add_right(&cells, text, BYTES);
	add_right(&cells, per_second(text, look, scope->rate, false), BYTES);
	print(page, &cells, PLAIN);
	add_left(&cells, "    at most", WHERE);
	add_bytes(&cells, scope->allocated.peak);
	add_bytes(&cells, scope->reserved.peak);
	add_right(&cells, "", BYTES);
	add_bytes(&cells, scope->samples ? scope->used.peak : UINT64_MAX);
	if (scope->total) {
		add_cell(&cells, "  of ");
		add_cell(&cells, show_bytes(text, scope->total));
	}
	if (scope->name) {
		add_cell(&cells, ", ");
		add_cell(&cells, scope->name);
	}
	print(page, &cells, DIM);
}

static void space(struct page *page, const struct look *look, const struct live_view_scope *scope)
{
	struct cells cells = { .used = 0 };
	char text[512];

	snprintf(text, sizeof(text), "  %s", scope->name ? scope->name : "?");
	add_left(&cells, text, WHERE);
	add_bytes(&cells, scope->allocated.now);
	add_cell(&cells, "  at most ");
	add_cell(&cells, show_bytes(text, scope->allocated.peak));
	add_cell(&cells, ", ");
	add_cell(&cells, per_second(text, look, scope->rate, false));
	add_cell(&cells, " allocations/s");
	print(page, &cells, PLAIN);
}

static void scopes(struct page *page, const struct look *look)
{
	static const char *const heads[] = { "allocated", "reserved", "cached",
					     "used",      "residual", "allocs/s" };
	const struct live_view_scope *scope = NULL;
	struct cells cells = { .used = 0 };

	if (live_view_next(look, SCOPE_DEVICE, NULL)) {
		add_left(&cells, "", WHERE);
		for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
			add_right(&cells, heads[i], BYTES);
		print(page, &cells, DIM);
	}
	while ((scope = live_view_next(look, SCOPE_DEVICE, scope)))
		device(page, look, scope);
	while ((scope = live_view_next(look, SCOPE_SPACE, scope))) {
		if (scope->allocated.peak)
			space(page, look, scope);
	}
}

static void write_line(struct page *page, const struct look *look,
		       const struct live_view_line *line)
{
	struct cells cells = { .used = 0 };
	char text[SHOW_NUMBER];

	add_bytes(&cells, line->holds);
	add_right(&cells, show_count(text, line->count), 10);
	add_right(&cells, per_second(text, look, line->rate, true), BYTES);
	if (line->device == NO_DEVICE)
		text_copy(text, sizeof(text), line->space);
	else
		snprintf(text, sizeof(text), "GPU %d", line->device);
	add_cell(&cells, "  ");
	add_left(&cells, text, 8);
	add_cell(&cells, line->name);
	print(page, &cells, PLAIN);
}

static void lines(struct page *page, const struct look *look, unsigned most)
{
	const struct live_view_lines *all = &look->lines;
	struct cells cells = { .used = 0 };
	uint64_t bytes = 0;

	if (!all->sorted_n || !most)
		return;
	add_right(&cells, "holds", BYTES);
	add_right(&cells, "blocks", 10);
	add_right(&cells, "bytes/s", BYTES);
	add_cell(&cells, "  where   line");
	if (look->sample) {
		add_cell(&cells, "  (estimated from samples of ");
		add_cell(&cells, SAY_BYTES(look->sample));
		add_cell(&cells, ")");
	}
	if (look->follow.torn)
		add_cell(&cells, "  (of some moments around that of the sums)");
	print(page, &cells, DIM);
	for (uint32_t i = 0; i < all->sorted_n; i++) {
		if (i < most)
			write_line(page, look, all->sorted[i]);
		else
			bytes += all->sorted[i]->holds;
	}
	if (all->sorted_n <= most)
		return;
	add_bytes(&cells, bytes);
	add_cell(&cells, "  in ");
	add_cell(&cells, SAY_COUNT(all->sorted_n - most));
	add_cell(&cells, " more lines");
	print(page, &cells, DIM);
}

static void range(struct page *page, const struct look *look, const struct live_view_range *range)
{
	struct cells cells = { .used = 0 };
	const char *name = spool_text(&look->follow.spool, range->name);
	uint64_t end = range->end ? range->end : look->uptime;

	add_cell(&cells, range->end ? "  ended, took " : "  open for ");
	add_left(&cells, SAY_TIME(end > range->start ? end - range->start : 0), TIME);
	add_cell(&cells, name ? name : "[no name]");
	print(page, &cells, PLAIN);
}

/* The innermost of those that are open; where there are none, what ended last. */
static void ranges(struct page *page, const struct look *look)
{
	const struct look_ranges *all = &look->ranges;
	uint32_t from = all->open_n > OPEN_RANGES ? all->open_n - OPEN_RANGES : 0;

	for (uint32_t i = from; i < all->open_n; i++)
		range(page, look, &all->open[i]);
	if (!all->open_n && all->ended_n)
		range(page, look, &all->ended[0]);
}

/* How many lines of source a process may have, so that the others are seen too. */
static unsigned lines_each(const struct top *top, const struct top_page *page)
{
	unsigned each;
	unsigned others = 0;

	if (!page->rows || !top->looks_n)
		return top->lines;
	for (size_t i = 0; i < top->looks_n; i++) {
		const struct look *look = top->looks[i];
		const struct live_view_scope *scope = NULL;

		others +=
			6 + (look->ranges.open_n < OPEN_RANGES ? look->ranges.open_n : OPEN_RANGES);
		while ((scope = live_view_next(look, SCOPE_DEVICE, scope)))
			others += 2;
		while ((scope = live_view_next(look, SCOPE_SPACE, scope)))
			others++;
	}
	each = page->rows > others ? (page->rows - others) / (unsigned)top->looks_n : 0;
	return each < top->lines ? each : top->lines;
}

void top_text(const struct top *top, struct out *out, const struct top_page *how)
{
	struct page page = {
		{ out, how->colour }, how->columns, how->rows ? how->rows : UINT32_MAX, how->erase
	};
	unsigned most = lines_each(top, how);
	struct cells cells = { .used = 0 };

	if (page.columns < TOP_NARROWEST)
		page.columns = TOP_NARROWEST;
	if (how->note) {
		add_cell(&cells, how->note);
		print(&page, &cells, DIM);
	}
	for (size_t i = 0; i < top->looks_n; i++) {
		const struct look *look = top->looks[i];

		if (i || how->note)
			print_empty(&page);
		head(&page, look);
		scopes(&page, look);
		lines(&page, look, most);
		ranges(&page, look);
	}
}
