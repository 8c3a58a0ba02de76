/* Writes the data of a page that are not in its report: the names that numbers in the page's
 * columns stand for, curves, phases, and the gaps where events are missing. */
#include "render/page/page_parts.h"

#include "analyse/input/error.h"
#include "base/text/out.h"
#include "render/document/document.h"
#include "render/emit/emit.h"
#include "render/emit/term.h"

/* --- names for the numbers in the columns --- */

struct page_place {
	int device;
	const char *space, *pool;
	bool foreign, handle;
};

static const struct emit_column place_columns[] = {
	EMIT_FIELD(DEVICE, struct page_place, device),
	EMIT_FIELD(TEXT, struct page_place, space),
	EMIT_FIELD(TEXT, struct page_place, pool),
	EMIT_FIELD(TRUTH, struct page_place, foreign),
	EMIT_FIELD(TRUTH, struct page_place, handle),
	EMIT_END,
};

static const struct emit_column thread_columns[] = {
	EMIT_FIELD(NUMBER, struct trace_thread, thread),
	EMIT_FIELD(TEXT, struct trace_thread, name),
	EMIT_END,
};

static const struct emit_column gap_columns[] = {
	EMIT_FIELD(NUMBER, struct history_gap, event),
	EMIT_FIELD(NUMBER, struct history_gap, dropped),
	EMIT_FIELD(DEVICE, struct history_gap, device),
	EMIT_FIELD(NUMBER, struct history_gap, allocated),
	EMIT_FIELD(NUMBER, struct history_gap, reserved),
	EMIT_END,
};

static const struct emit_column fold_columns[] = {
	EMIT_FIELD(NUMBER, struct history_folded, events),
	EMIT_FIELD(NUMBER, struct history_folded, blocks),
	EMIT_FIELD(NUMBER, struct history_folded, largest),
	EMIT_FIELD(NUMBER, struct history_folded, slices),
	EMIT_END,
};

struct page_names {
	const char *name;
	const struct history_folded *folded;
	uint64_t events, stacks;
	struct emit_rows gaps, places, ops, threads, apis, texts;
};

static const struct emit_column name_columns[] = {
	EMIT_MEMBER("\nname", TEXT, struct page_names, name),
	{
		EMIT_KEYED("\nfolded", POINTED, struct page_names, folded),
		.of = fold_columns,
		.flags = EMIT_OPTIONAL,
	},
	EMIT_MEMBER("\nevents", NUMBER, struct page_names, events),
	EMIT_FIELD(NUMBER, struct page_names, stacks),
	EMIT_LIST("\ngaps", "", struct page_names, gaps, gap_columns),
	EMIT_LIST("\nplaces", "", struct page_names, places, place_columns),
	EMIT_LIST("\nops", "", struct page_names, ops, emit_texts),
	EMIT_LIST("\nthreads", "", struct page_names, threads, thread_columns),
	EMIT_LIST("\napis", "", struct page_names, apis, emit_texts),
	EMIT_LIST("\ntexts", "", struct page_names, texts, emit_texts),
	EMIT_END,
};

static void add_text(struct trace *trace, struct emit_rows *rows, const char *text)
{
	emit_add(&trace->arena, rows, &text);
}

static void add_places(struct trace *trace, const struct history *history, struct emit_rows *rows)
{
	foreach (place, history->places) {
		const struct page_place row = {
			.device = place->device,
			.space = place->space < SPACES ? space_name(place->space) : NULL,
			.pool = trace_text(trace, place->pool),
			.foreign = place->foreign,
			.handle = place->handle,
		};

		emit_add(&trace->arena, rows, &row);
	}
}

static void add_names(struct trace *trace, const struct history *history, struct page_names *names)
{
	size_t texts;

	add_places(trace, history, &names->places);
	trace_texts(trace, &texts);
	for (unsigned op = 0; op < EVENT_OPS; op++)
		add_text(trace, &names->ops, event_op_name(op));
	add_text(trace, &names->ops, "unknown");
	add_text(trace, &names->ops, "fold");
	for (size_t i = 0; i < history->threads_n; i++) {
		const struct trace_thread *thread = trace_thread(trace, history->threads[i]);
		const struct trace_thread unknown = { .thread = history->threads[i] };

		emit_add(&trace->arena, &names->threads, thread ? thread : &unknown);
	}
	foreach (api, history->apis)
		add_text(trace, &names->apis, trace_text(trace, *api));
	for (uint32_t id = 0; id <= texts; id++)
		add_text(trace, &names->texts, trace_text(trace, id));
}

/* Writes each frame as an array: its text, function, file or module, line, 1 if it is Python else
 * 0, its trace_frame_rank(), and 1 if trace_frame_named() else 0. */
static void frames(const struct trace *trace, struct out *out)
{
	char name[512];

	out_text(out, ",\n\"frames\":[");
	for (uint32_t i = 0; i < trace->frames_n; i++) {
		const struct trace_frame *frame = &trace->frames[i];
		const char *where = frame->file ? frame->file : trace_module(trace, frame);

		trace_frame_text(trace, i, name, sizeof(name));
		out_text(out, i ? ",\n[" : "\n[");
		out_json(out, name);
		out_char(out, ',');
		out_json(out, frame->function);
		out_char(out, ',');
		out_json(out, where);
		out_format(out, ",%u,%d,%u,%d]", frame->file ? frame->line : 0,
			   frame->language == TRACE_PYTHON, trace_frame_rank(trace, frame),
			   trace_frame_named(frame));
	}
	out_char(out, ']');
}

/* --- groups of stacks --- */

/* True if `by` puts each stack into exactly one group, which may have several stacks. */
static bool is_of_stacks(enum trace_by by)
{
	return by != TRACE_BY_THREAD && by != TRACE_BY_PHASE && by != TRACE_BY_STACK &&
	       by != TRACE_BY_CATEGORY;
}

struct page_grouping {
	const char *by, *title;
	struct emit_rows names, of; /* the groups' names; for each stack, its group's number */
};

static const struct emit_column grouping_columns[] = {
	EMIT_FIELD(TEXT, struct page_grouping, by),
	EMIT_FIELD(TEXT, struct page_grouping, title),
	EMIT_LIST("names", "", struct page_grouping, names, emit_texts),
	EMIT_LIST("of", "", struct page_grouping, of, emit_positions),
	EMIT_END,
};
static const struct emit_column grouping_list[] = {
	{ .key = "\ngroupings", .kind = EMIT_ROWS, .of = grouping_columns, .between = "\n" },
	EMIT_END,
};

/* Finds the groups of stacks and their names. The trace has the groups by call site already. */
static void find_groups(struct trace *trace, enum trace_by by, struct page_grouping *to)
{
	struct trace_keys keys = { .of = trace->site_of };

	if (by != TRACE_BY_SITE)
		trace_keys_find(&keys, trace, by);
	to->names = EMIT_ROWS_OF(keys.names, keys.count);
	if (by == TRACE_BY_SITE)
		to->names = (struct emit_rows){ trace->sites_n ? &trace->sites->site : NULL,
						trace->sites_n, SIZE_MAX, sizeof(*trace->sites) };
	to->of = EMIT_ROWS_OF(keys.of, trace->stacks_n);
}

/* Groups stacks by category: a stack's category is that of most of the bytes it allocated. */
static void find_category_groups(struct trace *trace, const struct categories *categories,
				 struct page_grouping *to)
{
	*to = (struct page_grouping){
		.by = "category",
		.title = "category",
		.names = EMIT_NONE_OF(const char *, SIZE_MAX),
		.of = EMIT_NONE_OF(uint32_t, SIZE_MAX),
	};
	for (size_t i = 0; i < categories->rules->categories; i++)
		add_text(trace, &to->names, categories_name(categories, i));
	foreach (category, categories->of_stack, categories->stacks_n)
		emit_add(&trace->arena, &to->of, &(uint32_t){ *category });
}

static void groupings(struct trace *trace, const struct categories *categories, struct out *out)
{
	struct page_grouping list[TRACE_BYS + 1];
	struct emit_rows rows = EMIT_ROWS_OF(list, 0);

	for (enum trace_by by = 0; by < TRACE_BYS; by++) {
		struct page_grouping *to = &list[rows.count];

		if (!is_of_stacks(by))
			continue;
		*to = (struct page_grouping){ .by = trace_by_name(by),
					      .title = trace_by_title(by) };
		find_groups(trace, by, to);
		rows.count++;
	}
	find_category_groups(trace, categories, &list[rows.count++]);
	emit_members(out, grouping_list, &rows);
}

void page_facts(const char *name, struct trace *trace, const struct history *history,
		const struct history_folded *folded, const struct categories *categories,
		struct out *out)
{
	static const char *const members[] = { "peaks", "timeline", "phases", "actions" };
	struct page_names names = {
		.name = name,
		.folded = folded->events ? folded : NULL,
		.events = history->events_n,
		.stacks = trace->stacks_n,
		.gaps = EMIT_ROWS_OF(history->gaps, history->gaps_n),
		.places = EMIT_NONE_OF(struct page_place, SIZE_MAX),
		.ops = EMIT_NONE_OF(const char *, SIZE_MAX),
		.threads = EMIT_NONE_OF(struct trace_thread, SIZE_MAX),
		.apis = EMIT_NONE_OF(const char *, SIZE_MAX),
		.texts = EMIT_NONE_OF(const char *, SIZE_MAX),
	};

	add_names(trace, history, &names);
	emit_members(out, name_columns, &names);
	frames(trace, out);
	foreach (member, members, COUNT_OF(members)) {
		out_text(out, ",\n");
		document_member(out, trace, *member);
	}
	groupings(trace, categories, out);
}
