/*
 * Writes stretches of time in the Trace Event Format: phases, and the spans that CUPTI recorded.
 *
 * Phases and long calls lie on the track of their thread. A device is shown as a process, in which
 * each stream has a track for its kernels, its copies, its fills and its migrations. Slices of a
 * track must nest: a slice that overlaps another only in part is written as an asynchronous slice,
 * which the viewer shows on a separate track.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/mem/sort.h"
#include "base/text/out.h"
#include "render/export/chrome.h"

enum {
	DEVICE_PID = 1 << 22, /* the pids that stand for devices are above Linux's PID_MAX_LIMIT */
	KINDS = 4,            /* number of tracks of a stream */
	ID = 40,
};

static const char *const track_kinds[KINDS] = { "kernels", "copies", "fills", "migrations" };

struct slice {
	uint64_t pid, track, start, end;
	const struct trace_phase *phase; /* NULL if the slice is a span */
	const struct trace_span *span;
};

/* --- all slices, sorted --- */

static unsigned track_kind(const char *kind)
{
	return !strcmp(kind, "kernel") ? 0
	       : !strcmp(kind, "copy") ? 1
	       : !strcmp(kind, "fill") ? 2
				       : 3;
}

static struct slice slice_of_phase(const struct chrome *chrome, const struct trace_phase *phase)
{
	uint64_t end = phase->end == TRACE_NONE ? chrome->trace->process.duration_ns : phase->end;

	return (struct slice){
		.pid = chrome->trace->process.pid,
		.track = phase->thread,
		.start = phase->start,
		.end = end > phase->start ? end : phase->start,
		.phase = phase,
	};
}

static struct slice slice_of_span(const struct chrome *chrome, const struct trace_span *span)
{
	const char *kind = chrome->trace->actions[span->action].kind;
	struct slice slice = { .start = span->t, .end = span->t + span->ns, .span = span };

	if (span->device < 0) {
		slice.pid = chrome->trace->process.pid;
		slice.track = span->thread;
	} else {
		slice.pid = DEVICE_PID + 1 + (uint64_t)span->device;
		slice.track = (uint64_t)span->stream * KINDS + track_kind(kind);
	}
	return slice;
}

static bool wants(const struct chrome *chrome, const struct trace_span *span)
{
	return span->device < 0 || chrome->options->device == NO_DEVICE ||
	       chrome->options->device == span->device;
}

/* Returns the slices sorted by track and time, in memory of the trace's arena. If a phase and a
 * span have the same times, the phase is first. */
static struct slice *find_slices(const struct chrome *chrome, size_t *count)
{
	static const struct sort_key by_track[] = {
		SORT_UP(struct slice, pid),
		SORT_UP(struct slice, track),
		SORT_UP(struct slice, start),
		SORT_DOWN(struct slice, end),
		{ 0 },
	};
	const struct trace *trace = chrome->trace;
	struct slice *slices =
		NEED_ROOM(&chrome->trace->arena, slices, trace->phases_n + trace->spans_n);

	*count = 0;
	foreach (phase, trace->phases)
		slices[(*count)++] = slice_of_phase(chrome, phase);
	foreach (span, trace->spans) {
		if (wants(chrome, span))
			slices[(*count)++] = slice_of_span(chrome, span);
	}
	sort_rows(slices, *count, sizeof(*slices), by_track);
	return slices;
}

/* --- names of devices and their tracks --- */

static void name_track(struct chrome *chrome, const struct slice *slice, bool first)
{
	const struct trace_span *span = slice->span;
	const struct trace_device *device;
	char name[300];

	if (!span || span->device < 0)
		return;
	device = trace_device(chrome->trace, span->device);
	if (first) {
		snprintf(name, sizeof(name), "device %d%s%.200s", span->device,
			 device && device->name ? ": " : "",
			 device && device->name ? device->name : "");
		chrome_name(chrome, "process_name", slice->pid, slice->track, name);
	}
	snprintf(name, sizeof(name), "stream %u: %s", span->stream,
		 track_kinds[slice->track % KINDS]);
	chrome_name(chrome, "thread_name", slice->pid, slice->track, name);
}

/* --- slices --- */

/* Attributes that the program gave to a phase by NVTX. */
static const struct emit_column phase_words[] = {
	EMIT_FIELD(TEXT, struct trace_phase, domain),
	EMIT_IF_KNOWN("category", TEXT, struct trace_phase, category),
	EMIT_IF_KNOWN("color", TEXT, struct trace_phase, color),
	EMIT_END,
};

static const struct emit_column phase_figures[] = {
	EMIT_IF_KNOWN("allocated at start", NUMBER, struct trace_phase, allocated.start_bytes),
	EMIT_IF_KNOWN("allocated at end", NUMBER, struct trace_phase, allocated.end_bytes),
	EMIT_IF_KNOWN("peak of allocated", NUMBER, struct trace_phase, allocated.peak_bytes),
	EMIT_IF_KNOWN("peak of reserved", NUMBER, struct trace_phase, reserved.peak_bytes),
	EMIT_IF_KNOWN("allocations", NUMBER, struct trace_phase, allocations.bytes),
	EMIT_IF_KNOWN("freed", NUMBER, struct trace_phase, freed.bytes),
	EMIT_IF_KNOWN("kept", NUMBER, struct trace_phase, kept.bytes),
	EMIT_END,
};

static const struct emit_column phase_end[] = { { .key = "end", .kind = EMIT_TEXT }, EMIT_END };

/* True for a JSON number. Accepts leading zeros, which JSON forbids: memtrace never writes any. */
static bool is_number(const char *text)
{
	const char *first = text + (*text == '-');
	char *end;

	strtod(text, &end);
	return end > first && !*end && !text[strspn(text, "0123456789+-.eE")] &&
	       isdigit((unsigned char)*first) && isdigit((unsigned char)end[-1]);
}

static void put_payload(struct out *out, const char *payload)
{
	if (!payload)
		return;
	out_text(out, ",\"payload\":");
	/* memtrace records only numbers; in a trace from another tool, other text is quoted. */
	if (!is_number(payload))
		out_json(out, payload);
	else
		out_text(out, payload);
}

static void put_phase(struct chrome *chrome, const struct trace_phase *phase)
{
	static const char *const unseen = "not recorded";
	struct out *out = chrome->out;
	char key[60];

	out_text(out, ",\"args\":");
	emit_begin(out, phase_words, phase);
	put_payload(out, phase->payload);
	emit_members(out, phase_figures, phase);
	foreach (device, phase->devices) {
		const struct emit_column peak[] = {
			EMIT_IF_KNOWN(key, NUMBER, struct trace_phase_device, allocated.peak_bytes),
			EMIT_END,
		};

		snprintf(key, sizeof(key), "peak of allocated on device %d", device->device);
		emit_members(out, peak, device);
	}
	if (phase->end == TRACE_NONE)
		emit_members(out, phase_end, &unseen);
	out_text(out, "}}");
}

static const char *category_of(const struct chrome *chrome, const struct slice *slice)
{
	const char *kind;

	if (slice->phase)
		return "phase";
	kind = chrome->trace->actions[slice->span->action].kind;
	return !strcmp(kind, "runtime")  ? "runtime call"
	       : !strcmp(kind, "driver") ? "driver call"
					 : kind;
}

static void put_slice(struct chrome *chrome, const struct slice *slice, size_t number, bool nests)
{
	const struct trace_action *actions = chrome->trace->actions;
	const char *name = slice->phase ? slice->phase->name : actions[slice->span->action].name;
	struct chrome_event event = chrome_event(chrome, nests ? "X" : "b", name, slice->start);
	char id[ID];

	snprintf(id, sizeof(id), "slice %zu", number);
	event.pid = slice->pid;
	event.track = slice->track;
	event.category = category_of(chrome, slice);
	event.length = nests ? slice->end - slice->start : TRACE_NONE;
	event.slice = nests ? NULL : id;
	if (slice->phase) {
		chrome_begin(chrome, &event);
		put_phase(chrome, slice->phase);
	} else {
		event.bytes = slice->span->bytes ? slice->span->bytes : TRACE_NONE;
		chrome_put(chrome, &event, chrome_bytes);
	}
	if (nests)
		return;
	event.phase = "e";
	event.t = slice->end;
	chrome_put(chrome, &event, NULL);
}

void chrome_slices(struct chrome *chrome)
{
	size_t count;
	struct slice *slices = find_slices(chrome, &count);
	/* The end times of the slices that enclose the current one. */
	uint64_t *open = NEED_ROOM(&chrome->trace->arena, open, count);
	size_t depth = 0;

	for (size_t i = 0; i < count; i++) {
		const struct slice *slice = &slices[i];
		bool first = !i || slice->pid != slice[-1].pid;
		bool nests;

		if (first || slice->track != slice[-1].track) {
			depth = 0;
			name_track(chrome, slice, first);
		}
		while (depth && open[depth - 1] <= slice->start)
			depth--;
		nests = !depth || slice->end <= open[depth - 1];
		if (nests)
			open[depth++] = slice->end;
		put_slice(chrome, slice, i, nests);
	}
}
