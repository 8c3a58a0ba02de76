/*
 * What a page knows of a trace beside its report: names for the numbers in its columns, curves that
 * no event tells, and what is missing.
 */
#include "render/page/page_parts.h"

#include "base/text/out.h"
#include "render/document/document.h"
#include "render/emit/emit.h"

static void device(struct out *out, const char *key, int value)
{
	out_text(out, key);
	if (value == NO_DEVICE)
		out_text(out, "null");
	else
		out_i64(out, value);
}

static void places(const struct trace *trace, const struct history *history, struct out *out)
{
	out_text(out, ",\n\"places\":[");
	for (size_t i = 0; i < history->places_n; i++) {
		const struct history_place *place = &history->places[i];

		device(out, i ? ",{\"device\":" : "{\"device\":", place->device);
		member_text(out,
			    ",\"space\":", place->space < SPACES ? space_name(place->space) : NULL);
		member_text(out, ",\"pool\":", trace_text(trace, place->pool));
		out_text(out, place->foreign ? ",\"foreign\":true" : ",\"foreign\":false");
		out_text(out, place->handle ? ",\"handle\":true}" : ",\"handle\":false}");
	}
	out_text(out, "],\n\"ops\":[");
	for (unsigned op = 0; op < EVENT_OPS; op++)
		member_text(out, op ? "," : "", event_op_name(op));
	out_text(out, ",\"unknown\",\"fold\"]");
}

static void threads(const struct trace *trace, const struct history *history, struct out *out)
{
	size_t texts;

	trace_texts(trace, &texts);
	out_text(out, ",\n\"threads\":[");
	for (size_t i = 0; i < history->threads_n; i++) {
		const struct trace_thread *thread = trace_thread(trace, history->threads[i]);

		member_number(out, i ? ",{\"thread\":" : "{\"thread\":", history->threads[i]);
		member_text(out, ",\"name\":", thread ? thread->name : NULL);
		out_char(out, '}');
	}
	out_text(out, "],\n\"apis\":[");
	for (size_t i = 0; i < history->apis_n; i++)
		member_text(out, i ? "," : "", trace_text(trace, history->apis[i]));
	out_text(out, "],\n\"texts\":[");
	for (uint32_t id = 0; id <= texts; id++)
		member_text(out, id ? "," : "", trace_text(trace, id));
	out_char(out, ']');
}

/* What the page shows, what it says when asked, whether it is Python, how little it tells. */
static void frames(const struct trace *trace, struct out *out)
{
	char name[512];

	out_text(out, ",\n\"frames\":[");
	for (uint32_t i = 0; i < trace->frames_n; i++) {
		const struct trace_frame *frame = &trace->frames[i];
		const char *where = frame->file;

		if (!where && frame->module < trace->modules_n)
			where = trace->modules[frame->module].path;
		trace_frame_text(trace, i, name, sizeof(name));
		member_text(out, i ? ",\n[" : "\n[", name);
		member_text(out, ",", frame->function);
		member_text(out, ",", where);
		member_number(out, ",", frame->file ? frame->line : 0);
		member_number(out, ",", frame->language == TRACE_PYTHON);
		member_number(out, ",", trace_frame_rank(trace, frame));
		out_text(out, trace_frame_named(frame) ? ",1]" : ",0]");
	}
	out_char(out, ']');
}

/* Threads and phases are an event's, not a stack's: the page sees these by itself. */
static bool is_of_stacks(enum trace_by by)
{
	return by != TRACE_BY_THREAD && by != TRACE_BY_PHASE && by != TRACE_BY_STACK &&
	       by != TRACE_BY_CATEGORY;
}

static void write_sites(const struct trace *trace, struct out *out)
{
	for (size_t i = 0; i < trace->sites_n; i++)
		member_text(out, i ? "," : "", trace->sites[i].site);
	out_text(out, "],\"of\":[");
	for (size_t i = 0; i < trace->stacks_n; i++) {
		uint32_t site = trace->site_of ? trace->site_of[i] : UINT32_MAX;

		member_number(out, i ? "," : "", site == UINT32_MAX ? TRACE_NONE : site);
	}
}

/* Blocks have one each; stacks what most of their bytes were. */
static void category_groups(const struct categories *categories, struct out *out)
{
	out_text(out, ",\n{\"by\":\"category\",\"title\":\"category\",\"names\":[");
	for (size_t i = 0; i < categories->rules->categories; i++)
		member_text(out, i ? "," : "", categories_name(categories, i));
	out_text(out, "],\"of\":[");
	for (size_t i = 0; i < categories->stacks_n; i++)
		member_number(out, i ? "," : "", categories->of_stack[i]);
	out_text(out, "]}");
}

/* What stacks are put together by: a name for each group, and each stack's group. */
static int groupings(struct trace *trace, const struct categories *categories, struct out *out)
{
	const char *comma = "\n";
	struct trace_keys keys;

	out_text(out, ",\n\"groupings\":[");
	for (enum trace_by by = 0; by < TRACE_BYS; by++) {
		int error = 0;

		if (!is_of_stacks(by))
			continue;
		out_text(out, comma);
		comma = ",\n";
		member_text(out, "{\"by\":", trace_by_name(by));
		member_text(out, ",\"title\":", trace_by_title(by));
		out_text(out, ",\"names\":[");
		if (by == TRACE_BY_SITE) {
			write_sites(trace, out);
		} else {
			error = trace_keys_find(&keys, trace, by);
			if (error)
				return error;
			for (size_t i = 0; i < keys.count; i++)
				member_text(out, i ? "," : "", keys.keys[i].name);
			out_text(out, "],\"of\":[");
			for (size_t i = 0; i < trace->stacks_n; i++)
				member_number(out, i ? "," : "", keys.of[i]);
		}
		out_text(out, "]}");
	}
	category_groups(categories, out);
	out_char(out, ']');
	return 0;
}

static const struct emit_column gap_columns[] = {
	EMIT_MEMBER("event", NUMBER, struct history_gap, event),
	EMIT_MEMBER("dropped", NUMBER, struct history_gap, dropped),
	EMIT_MEMBER("device", DEVICE, struct history_gap, device),
	EMIT_MEMBER("allocated", NUMBER, struct history_gap, allocated),
	EMIT_MEMBER("reserved", NUMBER, struct history_gap, reserved),
	EMIT_END,
};

static const struct emit_column fold_columns[] = {
	EMIT_MEMBER("events", NUMBER, struct history_folded, events),
	EMIT_MEMBER("blocks", NUMBER, struct history_folded, blocks),
	EMIT_MEMBER("largest", NUMBER, struct history_folded, largest),
	EMIT_MEMBER("slices", NUMBER, struct history_folded, slices),
	EMIT_END,
};

/* The numbers of what the columns hold, and what is missing in them. */
struct page_counts {
	const struct history_folded *folded;
	uint64_t events, stacks;
	struct emit_rows gaps;
};

static const struct emit_column count_columns[] = {
	{
		EMIT_KEYED("\nfolded", POINTED, struct page_counts, folded),
		.of = fold_columns,
		.flags = EMIT_OPTIONAL,
	},
	EMIT_MEMBER("\nevents", NUMBER, struct page_counts, events),
	EMIT_MEMBER("stacks", NUMBER, struct page_counts, stacks),
	EMIT_LIST("\ngaps", "", struct page_counts, gaps, gap_columns),
	EMIT_END,
};

int page_facts(struct trace *trace, const struct history *history,
	       const struct history_folded *folded, const struct categories *categories,
	       struct out *out)
{
	/* As the trace has them. */
	static const char *const members[] = { "peaks", "timeline", "phases", "actions" };
	const struct page_counts counts = {
		.folded = folded->events ? folded : NULL,
		.events = history->events_n,
		.stacks = trace->stacks_n,
		.gaps = EMIT_ROWS_OF(history->gaps, history->gaps_n),
	};

	emit_members(out, count_columns, &counts);
	places(trace, history, out);
	threads(trace, history, out);
	frames(trace, out);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		out_text(out, ",\n");
		document_member(out, trace, members[i]);
	}
	return groupings(trace, categories, out);
}
