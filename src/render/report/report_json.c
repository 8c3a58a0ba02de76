/*
 * The report for programs: memtrace-report/1, exact bytes, keys always there, null for the unknown.
 *
 * The same facts as the text, from the same functions; lists are cut by the same limit, and what is
 * left out is summed beside them.
 */
#include <stdlib.h>

#include "analyse/input/error.h"
#include "analyse/trace/trace.h"
#include "facts/trace_rows.h"
#include "render/report/report_facts.h"
#include "render/report/report_parts.h"
#include "render/selection/select.h"

enum {
	FRAMES = 4,
	FAILURES = 100,
};

/* --- peaks --- */

struct composed_stack {
	uint64_t bytes, count, stack;
	struct emit_rows frames, entries;
};

static const struct emit_column composed_stack_members[] = {
	EMIT_MEMBER("stack", NUMBER, struct composed_stack, stack),
	EMIT_MEMBER("bytes", BYTES, struct composed_stack, bytes),
	EMIT_MEMBER("count", COUNT, struct composed_stack, count),
	EMIT_LIST("frames", "", struct composed_stack, frames, emit_texts),
	{ EMIT_KEYED("entries", ROWS, struct composed_stack, entries), .flags = EMIT_OPTIONAL,
	  .of = emit_numbers, .between = "" },
	EMIT_END,
};

struct composed_site {
	uint64_t bytes, count, stacks;
	const char *site, *line;
};

static const struct emit_column composed_site_members[] = {
	EMIT_MEMBER("site", TEXT, struct composed_site, site),
	EMIT_MEMBER("line", TEXT, struct composed_site, line),
	EMIT_MEMBER("bytes", BYTES, struct composed_site, bytes),
	EMIT_MEMBER("count", COUNT, struct composed_site, count),
	EMIT_MEMBER("stacks", COUNT, struct composed_site, stacks),
	EMIT_END,
};

static const struct emit_column first_bytes[] = {
	EMIT_MEMBER("bytes", BYTES, struct composed_site, bytes),
	EMIT_END,
};

_Static_assert(offsetof(struct composed_site, bytes) == offsetof(struct composed_stack, bytes),
	       "first in both");

const struct emit_column report_composed_members[] = {
	EMIT_MEMBER("device", DEVICE, struct report_composed, device),
	EMIT_MEMBER("pool", TEXT, struct report_composed, pool),
	EMIT_MEMBER("metric", TEXT, struct report_composed, metric),
	EMIT_MEMBER("t", TIME, struct report_composed, t),
	EMIT_MEMBER("bytes", BYTES, struct report_composed, bytes),
	EMIT_MEMBER("unknown_bytes", BYTES, struct report_composed, unknown),
	EMIT_LIST("categories", "", struct report_composed, categories, report_category_members),
	EMIT_LIST("\n sites", "\n  ", struct report_composed, sites, composed_site_members),
	EMIT_MEMBER("other_sites", HIDDEN, struct report_composed, sites),
	EMIT_NESTED("other_sites_bytes", REST, struct report_composed, sites, first_bytes),
	EMIT_LIST("\n stacks", "\n  ", struct report_composed, stacks, composed_stack_members),
	EMIT_MEMBER("other_stacks", HIDDEN, struct report_composed, stacks),
	EMIT_NESTED("other_stacks_bytes", REST, struct report_composed, stacks, first_bytes),
	EMIT_END,
};

/* Of stacks that a filter left out, or that dropped events would tell of. */
static uint64_t unknown_bytes(const struct trace_peak *peak)
{
	uint64_t bytes = peak->bytes;

	for (size_t i = 0; i < peak->stacks_n; i++)
		bytes -= peak->stacks[i].bytes;
	return bytes;
}

static struct emit_rows frames_of(const struct report *report, uint32_t stack)
{
	const struct trace *trace = report->trace;
	const struct trace_stack *all = &trace->stacks[stack];
	uint32_t some[FRAMES];
	const uint32_t *list = report->options->full ? all->frames : some;
	size_t count =
		report->options->full ? all->frames_n : trace_lines(trace, stack, some, FRAMES);
	const char **texts = report_room(report, (count + 1) * sizeof(*texts));
	char frame[512];

	for (size_t i = 0; texts && i < count; i++) {
		trace_frame_text(trace, list[i], frame, sizeof(frame));
		texts[i] = report_text_kept(report, frame);
	}
	return EMIT_ROWS_OF(texts, texts ? count : 0);
}

/* Where C code called Python: of whole stacks alone. */
static struct emit_rows entries_of(const struct report *report, const struct trace_stack *stack)
{
	size_t count = report->options->full ? stack->entries_n : 0;
	uint64_t *list = count ? report_room(report, count * sizeof(*list)) : NULL;

	for (size_t i = 0; list && i < count; i++)
		list[i] = stack->entries[i];
	return list ? EMIT_ROWS_OF(list, count) : (struct emit_rows){ .size = 0 };
}

static int compose_stacks(const struct report *report, const struct trace_peak *peak,
			  struct emit_rows *rows)
{
	struct composed_stack *list = report_room(report, (peak->stacks_n + 1) * sizeof(*list));

	if (!list)
		return err("no memory left");
	*rows = report_rows(report, list, peak->stacks_n);
	for (size_t i = 0; i < peak->stacks_n; i++) {
		const struct trace_share *share = &peak->stacks[i];
		const struct trace_stack *stack = &report->trace->stacks[share->stack];

		list[i] = (struct composed_stack){
			share->bytes, share->count, stack->number, { .size = 0 }, { .size = 0 }
		};
		if (i >= rows->shown)
			continue;
		list[i].frames = frames_of(report, share->stack);
		list[i].entries = entries_of(report, stack);
	}
	return 0;
}

static int compose_sites(const struct report *report, const struct trace_peak *peak,
			 struct emit_rows *rows)
{
	struct report_groups groups;
	struct composed_site *list;
	int error = report_groups_of(&groups, report->trace, peak);

	if (error)
		return error;
	list = report_room(report, (groups.count + 1) * sizeof(*list));
	*rows = report_rows(report, list, list ? groups.count : 0);
	for (size_t i = 0; i < rows->count; i++) {
		const struct report_group *group = &groups.list[i];

		list[i] = (struct composed_site){
			group->bytes,
			group->count,
			group->shares_n,
			group->name,
			i < rows->shown ? report_line(report, group->shares[0].stack) : NULL,
		};
	}
	report_groups_clear(&groups);
	return list ? 0 : err("no memory left");
}

int report_compose(const struct report *report, const struct trace_peak *peak,
		   struct report_composed *to)
{
	int error;

	*to = (struct report_composed){
		.device = peak->device,
		.pool = peak->pool,
		.metric = rows_word(WORDS_METRICS, peak->metric),
		.t = peak->t,
		.bytes = peak->bytes,
		.unknown = unknown_bytes(peak),
		.categories = report_category_rows(report, peak),
	};
	error = compose_sites(report, peak, &to->sites);
	return error ? error : compose_stacks(report, peak, &to->stacks);
}

int report_json_peaks(const struct report *report)
{
	const struct trace *trace = report->trace;
	struct report_composed *list = report_room(report, (trace->peaks_n + 1) * sizeof(*list));
	struct emit_rows rows = EMIT_ROWS_OF(list, 0);
	int error = list ? 0 : err("no memory left");

	for (size_t i = 0; !error && i < trace->peaks_n; i++) {
		const struct trace_peak *peak = &trace->peaks[i];

		if (report->selection->narrow || report_wants(report, peak->device))
			error = report_compose(report, peak, &list[rows.count++]);
	}
	rows.shown = rows.count;
	if (!error)
		report_list(report, "\npeaks", "\n", report_composed_members, &rows);
	return error;
}

/* --- the rest --- */

struct failed {
	uint64_t seq, t, bytes, allocated, reserved, thread, stack;
	int device;
	const char *api, *error, *line, *thread_name;
};

static const struct emit_column failed_members[] = {
	EMIT_MEMBER("seq", NUMBER, struct failed, seq),
	EMIT_MEMBER("t", TIME, struct failed, t),
	EMIT_MEMBER("device", DEVICE, struct failed, device),
	EMIT_MEMBER("bytes", BYTES, struct failed, bytes),
	EMIT_MEMBER("allocated", BYTES, struct failed, allocated),
	EMIT_MEMBER("reserved", BYTES, struct failed, reserved),
	EMIT_MEMBER("api", TEXT, struct failed, api),
	EMIT_MEMBER("error", TEXT, struct failed, error),
	EMIT_MEMBER("line", TEXT, struct failed, line),
	EMIT_MEMBER("thread", NUMBER, struct failed, thread),
	EMIT_MEMBER("thread_name", TEXT, struct failed, thread_name),
	EMIT_MEMBER("stack", NUMBER, struct failed, stack),
	EMIT_END,
};

static struct failed failed_of(const struct report *report, const struct event *event)
{
	const struct trace *trace = report->trace;
	const struct trace_thread *thread = trace_thread(trace, event->thread);

	return (struct failed){
		.seq = event->seq,
		.t = event->t,
		.bytes = event->size,
		.allocated = event->allocated,
		.reserved = event->reserved,
		.thread = event->thread,
		.stack = event->stack == UINT32_MAX ? TRACE_NONE : event->stack,
		.device = event->device,
		.api = trace_text(trace, event->api),
		.error = trace_text(trace, event->error),
		.line = report_line(report, event->stack),
		.thread_name = thread ? thread->name : NULL,
	};
}

int report_json_failures(const struct report *report)
{
	struct event events[FAILURES];
	struct failed list[FAILURES];
	struct emit_rows rows = EMIT_ROWS_OF(list, 0);
	int count = 0;

	if (report_ooms(report->trace, report->options->select.device))
		count = report_find_failures(report, events, FAILURES);
	if (count < 0)
		return count;
	for (int i = 0; i < count; i++)
		list[i] = failed_of(report, &events[i]);
	rows.count = rows.shown = (size_t)count;
	report_list(report, "\nfailures", "\n", failed_members, &rows);
	return 0;
}

struct noted {
	uint64_t recorded, dropped, since, filtered, sample;
	bool truncated;
	struct emit_rows notes;
};

static const struct emit_column noted_members[] = {
	EMIT_MEMBER("\nevents_recorded", COUNT, struct noted, recorded),
	EMIT_MEMBER("events_dropped", COUNT, struct noted, dropped),
	EMIT_MEMBER("events_since", TIME, struct noted, since),
	{ EMIT_KEYED("events_filtered", COUNT, struct noted, filtered), .flags = EMIT_OPTIONAL },
	{ EMIT_KEYED("sample_bytes", BYTES, struct noted, sample), .flags = EMIT_OPTIONAL },
	EMIT_MEMBER("truncated", TRUTH, struct noted, truncated),
	EMIT_LIST("\nnotes", "", struct noted, notes, emit_texts),
	EMIT_END,
};

int report_json_notes(const struct report *report)
{
	const struct trace_capture *capture = &report->trace->capture;
	const struct noted noted = {
		capture->events_recorded,
		capture->events_dropped,
		capture->events_since,
		capture->events_filtered ? capture->events_filtered : TRACE_NONE,
		capture->sample_bytes ? capture->sample_bytes : TRACE_NONE,
		capture->truncated,
		EMIT_ROWS_OF(capture->notes, capture->notes_n),
	};

	emit_members(report->show.out, noted_members, &noted);
	return 0;
}

struct told_process {
	struct trace_process of;
	const char *exit;
	struct emit_rows command;
};

static const struct emit_column process_members[] = {
	EMIT_MEMBER("pid", NUMBER, struct told_process, of.pid),
	EMIT_MEMBER("host", TEXT, struct told_process, of.host),
	EMIT_MEMBER("rank", NUMBER, struct told_process, of.rank),
	EMIT_LIST("command", "", struct told_process, command, emit_texts),
	EMIT_MEMBER("start_time", TEXT, struct told_process, of.start_time),
	EMIT_MEMBER("duration_ns", TIME, struct told_process, of.duration_ns),
	EMIT_MEMBER("exit", TEXT, struct told_process, exit),
	EMIT_MEMBER("status", NUMBER, struct told_process, of.status),
	EMIT_MEMBER("signal", NUMBER, struct told_process, of.signal),
	EMIT_END,
};

int report_json_process(const struct report *report)
{
	const struct trace_process *process = &report->trace->process;
	const struct told_process told = {
		*process,
		rows_word(WORDS_EXITS, process->exit),
		EMIT_ROWS_OF(process->command, process->command_n),
	};

	report_member(report, "\nprocess", process_members, &told);
	return 0;
}
