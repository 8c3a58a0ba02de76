/* The sites that hold a peak's bytes, and their stacks, as text and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "render/report/report_parts.h"

enum {
	FRAMES = 3,      /* frames shown for a stack unless --full is given */
	VIEWS = 2,       /* stacks shown for a site unless --full is given */
	VIEWED = 3,      /* sites whose stacks are shown unless --full or --by stack is given */
	TOLD_FRAMES = 4, /* frames of a stack in JSON unless --full is given */
};

/* --- a site on a line --- */

/* The cells of a call site: " 68.00 MiB 100.0% Net.forward (train.py)            10 blocks". */
const struct emit_column report_site_cells[] = {
	EMIT_CELL("", 11, BYTES, struct report_site, part),
	EMIT_CELL("", 8, SHARE, struct report_site, part),
	EMIT_CELL("", 0, TEXT, struct report_site, name, .gap = 3),
	EMIT_CELL("", 0, TEXT, struct report_site, count, .gap = 2),
	EMIT_END,
};

void report_site_row(const struct report *report, const char *name, uint64_t bytes, uint64_t whole)
{
	const struct report_site site = { { bytes, whole }, name, "" };

	if (!report->json)
		emit_row(&report->show, report_site_cells, &site, 2);
}

void report_site_rows(const struct report *report, const struct emit_rows *rows)
{
	report_put(report, (struct emit_table){ .columns = report_site_cells,
						.rows = rows,
						.headless = true,
						.summed = true });
}

/* --- the sites of a peak --- */

struct held {
	struct report_site row;
	struct report_group of;
	size_t number;
	const char *line;
};

static const struct emit_column held_members[] = {
	EMIT_MEMBER("site", TEXT, struct held, of.name),
	EMIT_FIELD(TEXT, struct held, line),
	EMIT_OF(BYTES, struct held, bytes),
	EMIT_OF(COUNT, struct held, count),
	EMIT_MEMBER("stacks", COUNT, struct held, of.shares_n),
	EMIT_END,
};

/* Returns the sites of a peak. A site's line is looked up only if it is shown: in JSON, or if the
 * site has no name. */
static struct emit_rows find_held(const struct report *report, const struct trace_peak *peak)
{
	struct emit_rows rows = report_rows(report, struct held);
	const struct emit_rows groups = report_group_peak(report, peak);

	for (size_t i = 0; i < groups.count; i++) {
		const struct report_group *group = (const struct report_group *)groups.rows + i;
		bool asked = report->json ? i < rows.shown : !group->name;
		const char *line = asked ? report_line(report, group->shares->stack) : NULL;
		const char *blocks = report->json ? "" : SAY_MANY(group->count, "block");

		report_add(report, &rows,
			   &(struct held){
				   { { group->bytes, peak->bytes },
				     group->name ? group->name : line,
				     report_format(report, "%s", blocks) },
				   *group,
				   i,
				   line,
			   });
	}
	return rows;
}

/* --- for people --- */

/* The stacks of a site that look alike because only FRAMES frames are shown; `bytes`: their sum. */
struct view {
	uint32_t frames[FRAMES];
	size_t frames_n;
	uint64_t bytes;
};

static const char *frame_text(const struct report *report, uint32_t frame)
{
	char text[512];

	trace_frame_text(report->trace, frame, text, sizeof(text));
	return report_format(report, "%s", text);
}

static int by_bytes(const void *a, const void *b)
{
	const struct view *x = a;
	const struct view *y = b;

	return x->bytes == y->bytes ? 0 : x->bytes > y->bytes ? -1 : 1;
}

/* Fills views[] from the stacks with most bytes; returns their number. *rest: all others' bytes. */
static size_t find_views(const struct report *report, const struct report_group *group,
			 struct view *views, uint64_t *rest)
{
	size_t count = 0;

	*rest = 0;
	foreach (share, group->shares) {
		struct view view = { .bytes = share->bytes };
		size_t k = 0;

		view.frames_n =
			trace_lines(report->trace, (uint32_t)share->stack, view.frames, FRAMES);
		while (k < count &&
		       (views[k].frames_n != view.frames_n ||
			memcmp(views[k].frames, view.frames, sizeof(view.frames)) != 0))
			k++;
		if (k < count)
			views[k].bytes += view.bytes;
		else if (count < VIEWS)
			views[count++] = view;
		else
			*rest += view.bytes;
	}
	qsort(views, count, sizeof(*views), by_bytes);
	return count;
}

static void view_rows(const struct report *report, const struct report_group *group)
{
	const char *line = report_line(report, group->shares->stack);
	struct view views[VIEWS];
	uint64_t rest;
	size_t count = find_views(report, group, views, &rest);

	/* A single frame that is the site's name already is not repeated below the name. */
	if (count == 1 && views[0].frames_n == 1 && group->name && !strcmp(group->name, line))
		return;
	foreach (view, views, count) {
		for (size_t k = 0; k < view->frames_n; k++)
			report_note(report, count > 1 && !k ? view->bytes : TRACE_NONE,
				    frame_text(report, view->frames[k]));
	}
	if (rest)
		report_note(report, rest, "by other call paths");
}

/* Writes all frames of a stack, and "(called by C code)" where unknown C code called Python. */
static void stack_rows(const struct report *report, const struct trace_stack *stack, uint64_t bytes)
{
	size_t entry = 0;

	for (size_t i = 0; i < stack->frames_n; i++) {
		bool entered = entry < stack->entries_n && stack->entries[entry] == i;

		report_note(report, i ? TRACE_NONE : bytes, frame_text(report, stack->frames[i]));
		entry += entered;
		if (entered && i + 1 < stack->frames_n)
			report_note(report, TRACE_NONE, "(called by C code)");
	}
}

/* Writes a site's stacks: all with --full, else a few, shortened, of each of the first sites. */
static void held_below(const struct show *show, const void *row, const void *with)
{
	const struct held *held = row;
	const struct report *report = with;
	const struct report_group *group = &held->of;

	(void)show;
	if (!report->options->full &&
	    (held->number < VIEWED || report->trace->by == TRACE_BY_STACK))
		view_rows(report, group);
	for (size_t i = 0; report->options->full && i < group->shares_n; i++)
		stack_rows(report, &report->trace->stacks[group->shares[i].stack],
			   group->shares_n > 1 ? group->shares[i].bytes : TRACE_NONE);
}

void report_composition(const struct report *report, const struct trace_peak *peak,
			const char *others)
{
	const struct emit_rows rows = find_held(report, peak);
	struct held sum = { .number = 0 };

	emit_sum(report_site_cells, &rows, 0, &sum);
	report_put(report, (struct emit_table){ .columns = report_site_cells,
						.rows = &rows,
						.headless = true,
						.summed = true,
						.below = held_below });
	if (sum.row.part.bytes < peak->bytes)
		report_site_row(report, others, peak->bytes - sum.row.part.bytes, peak->bytes);
}

static void peak_table(const struct report *report, const struct trace_peak *peak, const char *what)
{
	bool timed = !report->trace->capture.baseline;

	if (!peak || !peak->bytes)
		return;
	report_say(report, SAID_HEADING, "%s: %s%s%s, by %s", what, SAY_BYTES(peak->bytes),
		   timed ? " at " : "", timed ? SAY_TIME(peak->t) : "",
		   trace_by_title((enum trace_by)report->trace->by));
	report_say_estimated(report);
	if (peak->count && peak->count != TRACE_NONE)
		report_say(report, SAID_LINE, "  held by %s", SAY_MANY(peak->count, "block"));
	report_composition(report, peak, "[other call stacks]");
}

/* --- for programs --- */

struct composed_stack {
	struct trace_share of;
	struct emit_rows frames;
	const uint32_t
		*entries; /* positions of the frames where C code called Python; only with --full */
	size_t entries_n;
	uint32_t stack;
};

static const struct emit_column composed_stack_members[] = {
	EMIT_FIELD(POSITION, struct composed_stack, stack),
	EMIT_OF(BYTES, struct composed_stack, bytes),
	EMIT_OF(COUNT, struct composed_stack, count),
	EMIT_LIST("frames", "", struct composed_stack, frames, emit_texts),
	EMIT_ITEMS("entries", "", struct composed_stack, entries, entries_n, emit_positions,
		   .flags = EMIT_OPTIONAL),
	EMIT_END,
};

static const struct emit_column stack_bytes[] = {
	EMIT_OF(BYTES, struct composed_stack, bytes),
	EMIT_END,
};

const struct emit_column report_composed_members[] = {
	EMIT_FIELD(DEVICE, struct report_composed, device),
	EMIT_FIELD(TEXT, struct report_composed, pool),
	EMIT_FIELD(TEXT, struct report_composed, metric),
	EMIT_FIELD(TIME, struct report_composed, t),
	EMIT_FIELD(BYTES, struct report_composed, bytes),
	EMIT_MEMBER("unknown_bytes", BYTES, struct report_composed, unknown),
	EMIT_LIST("categories", "", struct report_composed, categories, report_category_columns),
	EMIT_LIST("\n sites", "\n  ", struct report_composed, sites, held_members),
	EMIT_MEMBER("other_sites", HIDDEN, struct report_composed, sites),
	EMIT_NESTED("other_sites_bytes", REST, struct report_composed, sites, report_site_cells),
	EMIT_LIST("\n stacks", "\n  ", struct report_composed, stacks, composed_stack_members),
	EMIT_MEMBER("other_stacks", HIDDEN, struct report_composed, stacks),
	EMIT_NESTED("other_stacks_bytes", REST, struct report_composed, stacks, stack_bytes),
	EMIT_END,
};

static struct emit_rows frames_of(const struct report *report, uint32_t stack)
{
	const struct trace *trace = report->trace;
	const struct trace_stack *all = &trace->stacks[stack];
	uint32_t some[TOLD_FRAMES];
	const uint32_t *list = report->options->full ? all->frames : some;
	size_t count = report->options->full ? all->frames_n
					     : trace_lines(trace, stack, some, TOLD_FRAMES);
	const char **texts = report_room(report, (count + 1) * sizeof(*texts));

	for (size_t i = 0; i < count; i++)
		texts[i] = frame_text(report, list[i]);
	return EMIT_ROWS_OF(texts, count);
}

static struct emit_rows compose_stacks(const struct report *report, const struct trace_peak *peak)
{
	struct emit_rows rows = report_rows(report, struct composed_stack);

	for (size_t i = 0; i < peak->stacks_n; i++) {
		const struct trace_share *share = &peak->stacks[i];
		const struct trace_stack *stack = &report->trace->stacks[share->stack];
		struct composed_stack row = { .of = *share,
					      .entries = stack->entries,
					      .entries_n =
						      report->options->full ? stack->entries_n : 0,
					      .stack = stack->number };

		if (i < rows.shown)
			row.frames = frames_of(report, share->stack);
		report_add(report, &rows, &row);
	}
	return rows;
}

struct report_composed report_compose(const struct report *report, const struct trace_peak *peak)
{
	struct report_composed composed = {
		.device = peak->device,
		.pool = peak->pool,
		.metric = rows_word(WORDS_METRICS, peak->metric),
		.t = peak->t,
		.bytes = peak->bytes,
		.unknown = peak->bytes, /* the bytes of all known stacks are subtracted below */
		.categories = report_category_rows(report, peak),
		.sites = find_held(report, peak),
		.stacks = compose_stacks(report, peak),
	};

	foreach (share, peak->stacks)
		composed.unknown -= share->bytes;
	return composed;
}

static void compose_peaks(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct emit_rows rows = EMIT_NONE_OF(struct report_composed, SIZE_MAX);

	foreach (peak, trace->peaks) {
		if (report->selection->narrow || report_wants(report, peak->device)) {
			const struct report_composed composed = report_compose(report, peak);

			report_add(report, &rows, &composed);
		}
	}
	report_list(report, "\npeaks", report_composed_members, &rows);
}

static void say_peaks(const struct report *report)
{
	const struct trace *trace = report->trace;

	for (size_t i = 0; i < trace->summary.devices_n; i++) {
		int device = trace->summary.devices[i].device;

		if (!report_wants(report, device))
			continue;
		peak_table(report, trace_peak(trace, device, NULL, TRACE_ALLOCATED),
			   report_format(report, "Peak of allocated memory on device %d", device));
		if (report->options->full)
			peak_table(report, trace_peak(trace, device, NULL, TRACE_RESERVED),
				   report_format(report, "Peak of reserved memory on device %d",
						 device));
	}
	/* If no device was used, for example in training on the CPU: peaks of host memory etc. */
	for (unsigned space = 0; !trace->summary.devices_n && space < SPACES; space++)
		peak_table(report, trace_space_peak(report->trace, space),
			   report_format(report, "Peak of %s memory", space_name(space)));
}

void report_tell_peaks(const struct report *report)
{
	const struct report_selection *selection = report->selection;

	if (report->json)
		compose_peaks(report);
	else if (!selection->narrow)
		say_peaks(report);
	else if (report->trace->peaks_n)
		peak_table(report, report->trace->peaks,
			   report_format(report, "Peak%s%s",
					 selection->window    ? " "
					 : selection->what[0] ? " of "
							      : "",
					 selection->what));
}
