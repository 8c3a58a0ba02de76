/*
 * What a page knows of a trace beside its report: names for the numbers in its columns, curves that
 * no event tells, and what is missing.
 */
#include "render/page/page_parts.h"

#include "base/text/out.h"
#include "facts/trace_rows.h"
#include "render/emit/members.h"

static void numbers(struct out *out, const char *key, const uint64_t *values, size_t count)
{
	out_text(out, key);
	for (size_t i = 0; i < count; i++)
		member_number(out, i ? "," : "", values[i]);
	out_char(out, ']');
}

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
	for (uint32_t id = 0; id <= trace->texts.used; id++)
		member_text(out, id ? "," : "", trace_text(trace, id));
	out_char(out, ']');
}

static void gaps(const struct history *history, struct out *out)
{
	out_text(out, ",\n\"gaps\":[");
	for (size_t i = 0; i < history->gaps_n; i++) {
		const struct history_gap *gap = &history->gaps[i];

		member_number(out, i ? ",{\"event\":" : "{\"event\":", gap->event);
		member_number(out, ",\"dropped\":", gap->dropped);
		device(out, ",\"device\":", gap->device);
		member_number(out, ",\"allocated\":", gap->allocated);
		member_number(out, ",\"reserved\":", gap->reserved);
		out_char(out, '}');
	}
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

static void sites(const struct trace *trace, struct out *out)
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
			sites(trace, out);
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

static void curves(const struct trace *trace, struct out *out)
{
	out_text(out, ",\n\"timeline\":[");
	for (size_t i = 0; i < trace->timeline_n; i++) {
		const struct trace_curve *curve = &trace->timeline[i];

		device(out, i ? ",\n{\"device\":" : "\n{\"device\":", curve->device);
		member_text(out, ",\"pool\":", curve->pool);
		numbers(out, ",\"t\":[", curve->t, curve->t_n);
		numbers(out, ",\"allocated\":[", curve->allocated, curve->allocated_n);
		numbers(out, ",\"reserved\":[", curve->reserved, curve->reserved_n);
		numbers(out, ",\"used\":[", curve->used, curve->used_n);
		out_char(out, '}');
	}
	out_char(out, ']');
}

/* Who held each peak, which the ledger knows whatever became of the events. */
static void peaks(const struct trace *trace, struct out *out)
{
	out_text(out, ",\n\"peaks\":[");
	for (size_t i = 0; i < trace->peaks_n; i++) {
		const struct trace_peak *peak = &trace->peaks[i];

		device(out, i ? ",\n{\"device\":" : "\n{\"device\":", peak->device);
		member_text(out, ",\"pool\":", peak->pool);
		member_text(out, ",\"metric\":", rows_word(WORDS_METRICS, peak->metric));
		member_number(out, ",\"t\":", peak->t);
		member_number(out, ",\"bytes\":", peak->bytes);
		out_text(out, ",\"stacks\":[");
		for (size_t k = 0; k < peak->stacks_n; k++) {
			member_number(out, k ? ",[" : "[", peak->stacks[k].stack);
			member_number(out, ",", peak->stacks[k].bytes);
			member_number(out, ",", peak->stacks[k].count);
			out_char(out, ']');
		}
		out_text(out, "]}");
	}
	out_char(out, ']');
}

static void folds(const struct history_folded *folded, struct out *out)
{
	if (!folded->events)
		return;
	member_number(out, ",\n\"folded\":{\"events\":", folded->events);
	member_number(out, ",\"blocks\":", folded->blocks);
	member_number(out, ",\"largest\":", folded->largest);
	member_number(out, ",\"slices\":", folded->slices);
	out_char(out, '}');
}

int page_facts(struct trace *trace, const struct history *history,
	       const struct history_folded *folded, const struct categories *categories,
	       struct out *out)
{
	folds(folded, out);
	member_number(out, ",\n\"events\":", history->events_n);
	member_number(out, ",\"stacks\":", trace->stacks_n);
	places(trace, history, out);
	threads(trace, history, out);
	gaps(history, out);
	frames(trace, out);
	peaks(trace, out);
	curves(trace, out);
	return groupings(trace, categories, out);
}
