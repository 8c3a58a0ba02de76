/*
 * The export `chrome`: a trace in the Trace Event Format ("JSON Object Format"), for
 * ui.perfetto.dev and chrome://tracing.
 *
 * Counters of devices and pools are made from the trace's timeline[], so they are complete even if
 * events were dropped. chrome_events.c makes counters of libraries, and a slice for each
 * allocation, from the events; chrome_slices.c writes phases and the spans that CUPTI recorded.
 */
#include "render/export/chrome.h"

#include <stdio.h>
#include <string.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/settings/version.h"
#include "base/text/out.h"
#include "base/text/text.h"

/* --- events of the Trace Event Format: "ph", "name", "ts" ... --- */

const struct emit_column chrome_bytes[] = {
	CHROME_OPTIONAL("bytes", NUMBER, bytes),
	EMIT_END,
};

static const struct emit_column event_columns[] = {
	CHROME_ARG("ph", TEXT, phase),          CHROME_ARG("name", TEXT, name),
	CHROME_ARG("pid", NUMBER, pid),         CHROME_ARG("ts", MICROS, t),
	CHROME_OPTIONAL("tid", NUMBER, track),  CHROME_OPTIONAL("dur", MICROS, length),
	CHROME_OPTIONAL("s", TEXT, scope),      CHROME_OPTIONAL("id", TEXT, slice),
	CHROME_OPTIONAL("cat", TEXT, category), CHROME_OPTIONAL("id", TEXT, block),
	CHROME_OPTIONAL("sf", TEXT, frame),     EMIT_END,
};

struct chrome_event chrome_event(const struct chrome *chrome, const char *phase, const char *name,
				 uint64_t t)
{
	return (struct chrome_event){
		.phase = phase,
		.name = name ? name : "?",
		.pid = chrome->trace->process.pid,
		.t = t,
		.track = TRACE_NONE,
		.length = TRACE_NONE,
	};
}

void chrome_begin(struct chrome *chrome, const struct chrome_event *event)
{
	out_text(chrome->out, chrome->any ? ",\n" : "\n");
	chrome->any = true;
	emit_begin(chrome->out, event_columns, event);
}

void chrome_put(struct chrome *chrome, const struct chrome_event *event,
		const struct emit_column *args)
{
	chrome_begin(chrome, event);
	if (args) {
		out_text(chrome->out, ",\"args\":");
		emit_json(chrome->out, args, event);
	}
	out_char(chrome->out, '}');
}

void chrome_counter(struct chrome *chrome, const char *name, uint64_t t, uint64_t bytes)
{
	struct chrome_event event = chrome_event(chrome, "C", name, t);

	event.bytes = bytes;
	if (bytes != TRACE_NONE)
		chrome_put(chrome, &event, chrome_bytes);
}

/* --- names of processes and threads --- */

void chrome_name(struct chrome *chrome, const char *what, uint64_t pid, uint64_t track,
		 const char *name)
{
	static const struct emit_column args[] = { CHROME_ARG("name", TEXT, text), EMIT_END };
	struct chrome_event event = chrome_event(chrome, "M", what, 0);

	event.pid = pid;
	event.track = track;
	event.text = name;
	chrome_put(chrome, &event, args);
}

static void put_names(struct chrome *chrome)
{
	const struct trace *trace = chrome->trace;
	const struct trace_process *process = &trace->process;
	const char *names[2];
	size_t count = trace_program(trace, names);
	char name[300];

	snprintf(name, sizeof(name), "%.200s, rank %llu", count ? names[count - 1] : "?",
		 (unsigned long long)process->rank);
	chrome_name(chrome, "process_name", process->pid, TRACE_NONE, name);
	foreach (thread, trace->threads)
		chrome_name(chrome, "thread_name", process->pid, thread->thread, thread->name);
}

/* --- counters --- */

static void put_column(struct chrome *chrome, const struct trace_curve *curve, const char *what,
		       const uint64_t *column)
{
	uint64_t last = TRACE_NONE;
	char name[400];

	snprintf(name, sizeof(name), "device %d%s%.200s: %s", curve->device,
		 curve->pool ? ", pool " : "", curve->pool ? curve->pool : "", what);
	for (size_t i = 0; i < curve->t_n; i++) {
		chrome_counter(chrome, name, curve->t[i], column[i]);
		if (column[i] != TRACE_NONE)
			last = column[i];
	}
	/* Viewers end a counter at its last value, so this value is repeated at the end. */
	if (curve->t_n && chrome->trace->process.duration_ns > curve->t[curve->t_n - 1])
		chrome_counter(chrome, name, chrome->trace->process.duration_ns, last);
}

static void put_counters(struct chrome *chrome)
{
	const struct trace *trace = chrome->trace;

	foreach (curve, trace->timeline) {
		const struct selection_options *options = chrome->options;

		if ((options->device != NO_DEVICE && options->device != curve->device) ||
		    (options->pool && (!curve->pool || strcmp(curve->pool, options->pool) != 0)))
			continue;
		put_column(chrome, curve, "allocated", curve->allocated);
		put_column(chrome, curve, "reserved", curve->reserved);
		if (curve->used_n == curve->t_n)
			put_column(chrome, curve, "used", curve->used);
	}
}

/* --- stacks --- */

struct chrome_frame {
	const char *name, *language, *parent;
};

static const struct emit_column frame_columns[] = {
	EMIT_FIELD(TEXT, struct chrome_frame, name),
	EMIT_MEMBER("category", TEXT, struct chrome_frame, language),
	EMIT_IF_KNOWN("parent", TEXT, struct chrome_frame, parent),
	EMIT_END,
};

static void put_tree_frame(struct chrome *chrome, uint32_t position, uint32_t number,
			   uint32_t parent)
{
	const struct trace *trace = chrome->trace;
	char name[600], caller[24];
	const struct chrome_frame frame = {
		.name = name,
		.language = rows_word(WORDS_LANGUAGES, trace->frames[position].language),
		.parent = parent ? caller : NULL,
	};

	trace_frame_text(trace, position, name, sizeof(name));
	text_u64(caller, parent);
	out_text(chrome->out, number > 1 ? ",\n\"" : "\n\"");
	out_u64(chrome->out, number);
	out_text(chrome->out, "\":");
	emit_json(chrome->out, frame_columns, &frame);
}

/* Writes the frames of all stacks as trees whose roots are the outermost frames. A stack is
 * identified by the number of its innermost frame. */
static void put_stacks(struct chrome *chrome)
{
	const struct trace *trace = chrome->trace;
	struct map known = { NULL, 0 };
	uint32_t count = 0;

	out_text(chrome->out, "\"stackFrames\":{");
	for (size_t i = 0; i < trace->stacks_n; i++) {
		const struct trace_stack *stack = &trace->stacks[i];
		uint32_t parent = 0;

		for (size_t k = stack->frames_n; k--;) {
			uint64_t key = hash_mix(parent, stack->frames[k]);
			uint32_t number = map_get(&known, key);

			if (!number) {
				number = ++count;
				NEED(map_put(&known, key, number));
				put_tree_frame(chrome, stack->frames[k], number, parent);
			}
			parent = number;
		}
		chrome->innermost[i] = parent;
	}
	map_clear(&known);
	out_text(chrome->out, "},\n");
}

/* --- the whole file --- */

static const struct emit_column other_columns[] = {
	EMIT_MEMBER("host", TEXT, struct trace, process.host),
	EMIT_MEMBER("start_time", TEXT, struct trace, process.start_time),
	EMIT_MEMBER("events_dropped", NUMBER, struct trace, capture.events_dropped),
	EMIT_END,
};
static const struct emit_column spans_columns[] = {
	EMIT_FIELD(NUMBER, struct trace, spans_dropped),
	EMIT_END,
};

static void put_other(struct chrome *chrome)
{
	static const struct emit_column head[] = { { .key = "exporter", .kind = EMIT_TEXT },
						   EMIT_END };
	static const char *const exporter = "memtrace " MEMTRACE_VERSION;

	out_text(chrome->out, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":");
	emit_begin(chrome->out, head, &exporter);
	emit_members(chrome->out, other_columns, chrome->trace);
	if (chrome->trace->cupti_check.cupti)
		emit_members(chrome->out, spans_columns, chrome->trace);
	out_text(chrome->out, "},\n");
}

static int put_document(struct chrome *chrome)
{
	int error;

	put_other(chrome);
	put_stacks(chrome);
	out_text(chrome->out, "\"traceEvents\":[");
	put_names(chrome);
	put_counters(chrome);
	chrome_slices(chrome);
	error = chrome_events(chrome);
	out_text(chrome->out, "\n]}\n");
	return error;
}

int format_chrome(struct trace *trace, struct out *out, const struct selection_options *options)
{
	struct chrome chrome = { .out = out, .trace = trace, .options = options };

	stack_texts_make(&chrome.stacks, trace);
	chrome.innermost = NEED_ROOM(&trace->arena, chrome.innermost, trace->stacks_n);
	return put_document(&chrome);
}
