/*
 * The export `chrome`: the Trace Event Format ("JSON Object Format"), for ui.perfetto.dev and
 * chrome://tracing.
 *
 * Counters come from timeline[], so they are complete whatever was dropped; those of owners, and
 * allocations as slices that begin and end, from the events: render/export/chrome_events.c. Phases,
 * and what CUPTI saw run: render/export/chrome_slices.c.
 */
#include "render/export/chrome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/settings/version.h"
#include "base/text/out.h"
#include "base/text/text.h"

/* --- events of the format --- */

void chrome_begin_of(struct chrome *chrome, uint64_t pid, const char *phase, const char *name,
		     uint64_t t)
{
	char fraction[8];

	out_text(chrome->out, chrome->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
	chrome->any = true;
	out_text(chrome->out, phase);
	out_text(chrome->out, "\",\"name\":");
	out_json(chrome->out, name);
	out_text(chrome->out, ",\"pid\":");
	out_u64(chrome->out, pid);
	/* Microseconds, to the nanosecond. */
	snprintf(fraction, sizeof(fraction), ".%03u", (unsigned)(t % 1000));
	out_text(chrome->out, ",\"ts\":");
	out_u64(chrome->out, t / 1000);
	out_text(chrome->out, fraction);
}

void chrome_begin(struct chrome *chrome, const char *phase, const char *name, uint64_t t)
{
	chrome_begin_of(chrome, chrome->trace->process.pid, phase, name, t);
}

void chrome_u64(struct chrome *chrome, const char *key, uint64_t value)
{
	out_text(chrome->out, key);
	out_u64(chrome->out, value);
}

void chrome_text(struct chrome *chrome, const char *key, const char *value)
{
	out_text(chrome->out, key);
	out_json(chrome->out, value);
}

void chrome_counter(struct chrome *chrome, const char *name, uint64_t t, uint64_t bytes)
{
	if (bytes == TRACE_NONE)
		return;
	chrome_begin(chrome, "C", name, t);
	chrome_u64(chrome, ",\"args\":{\"bytes\":", bytes);
	out_text(chrome->out, "}}");
}

/* --- who it was --- */

static void put_names(struct chrome *chrome)
{
	const struct trace *trace = chrome->trace;
	const struct trace_process *process = &trace->process;
	char name[300];

	snprintf(name, sizeof(name), "%.200s, rank %llu",
		 process->command_n ? text_base(process->command[process->command_n > 1]) : "?",
		 (unsigned long long)process->rank);
	chrome_begin(chrome, "M", "process_name", 0);
	chrome_text(chrome, ",\"args\":{\"name\":", name);
	out_text(chrome->out, "}}");
	for (size_t i = 0; i < trace->threads_n; i++) {
		chrome_begin(chrome, "M", "thread_name", 0);
		chrome_u64(chrome, ",\"tid\":", trace->threads[i].thread);
		chrome_text(chrome, ",\"args\":{\"name\":", trace->threads[i].name);
		out_text(chrome->out, "}}");
	}
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
	/* A viewer draws no further than the last figure: it holds to the end. */
	if (curve->t_n && chrome->trace->process.duration_ns > curve->t[curve->t_n - 1])
		chrome_counter(chrome, name, chrome->trace->process.duration_ns, last);
}

static void put_counters(struct chrome *chrome)
{
	const struct trace *trace = chrome->trace;

	for (size_t i = 0; i < trace->timeline_n; i++) {
		const struct trace_curve *curve = &trace->timeline[i];
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

/* The tree of frames, from the outermost down: a stack is the number of its innermost one. */
static int put_stacks(struct chrome *chrome)
{
	const struct trace *trace = chrome->trace;
	struct map known = { NULL, 0 };
	uint32_t count = 0;
	char text[600];

	out_text(chrome->out, "\"stackFrames\":{");
	for (size_t i = 0; i < trace->stacks_n; i++) {
		const struct trace_stack *stack = &trace->stacks[i];
		uint32_t parent = 0;

		for (size_t k = stack->frames_n; k--;) {
			uint64_t key = hash_mix(parent, stack->frames[k]);
			uint32_t number = map_get(&known, key);

			if (!number) {
				number = ++count;
				if (!map_put(&known, key, number)) {
					map_clear(&known);
					return err_no_memory(trace->path);
				}
				trace_frame_text(trace, stack->frames[k], text, sizeof(text));
				chrome_u64(chrome, number > 1 ? ",\n\"" : "\n\"", number);
				chrome_text(chrome, "\":{\"name\":", text);
				chrome_text(chrome, ",\"category\":",
					    trace->frames[stack->frames[k]].language == TRACE_PYTHON
						    ? "python"
						    : "native");
				if (parent) {
					chrome_u64(chrome, ",\"parent\":\"", parent);
					out_char(chrome->out, '"');
				}
				out_char(chrome->out, '}');
			}
			parent = number;
		}
		chrome->innermost[i] = parent;
	}
	map_clear(&known);
	out_text(chrome->out, "},\n");
	return 0;
}

static void put_other(struct chrome *chrome)
{
	const struct trace *trace = chrome->trace;

	out_text(chrome->out, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"exporter\":"
			      "\"memtrace " MEMTRACE_VERSION "\"");
	chrome_text(chrome, ",\"host\":", trace->process.host);
	chrome_text(chrome, ",\"start_time\":", trace->process.start_time);
	chrome_u64(chrome, ",\"events_dropped\":", trace->capture.events_dropped);
	if (trace->witness.cupti)
		chrome_u64(chrome, ",\"spans_dropped\":", trace->spans_dropped);
	out_text(chrome->out, "},\n");
}

static int put_document(struct chrome *chrome)
{
	int error;

	put_other(chrome);
	error = put_stacks(chrome);
	if (error)
		return error;
	out_text(chrome->out, "\"traceEvents\":[");
	put_names(chrome);
	put_counters(chrome);
	error = chrome_slices(chrome);
	if (!error)
		error = chrome_events(chrome);
	out_text(chrome->out, "\n]}\n");
	return error;
}

int format_chrome(struct trace *trace, struct out *out, const struct selection_options *options)
{
	struct chrome chrome = { .out = out, .trace = trace, .options = options };
	int error = stack_texts_make(&chrome.stacks, trace);

	chrome.innermost = calloc(trace->stacks_n + 1, sizeof(*chrome.innermost));
	if (!error && chrome.innermost)
		error = put_document(&chrome);
	else if (!error)
		error = err_no_memory(trace->path);
	free(chrome.innermost);
	return error;
}
