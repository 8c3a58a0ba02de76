/*
 * Stretches of time in the Trace Event Format: phases, and what CUPTI saw run.
 *
 * Phases and long calls lie on the thread that they are of. A device is a process of its own, in
 * which each stream has a track for its kernels, its copies, its fills and its migrations. Slices
 * of a track must nest: one that crosses another is an asynchronous one, which gets a track of its
 * own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/text/out.h"
#include "render/export/chrome.h"

enum {
	DEVICE_PID = 1 << 22, /* the first number that is no process's: PID_MAX_LIMIT of Linux */
	KINDS = 4,            /* of tracks of a stream */
	ID = 40,
};

static const char *const track_kinds[KINDS] = { "kernels", "copies", "fills", "migrations" };

struct slice {
	uint64_t pid, track, start, end;
	const struct trace_phase *phase; /* NULL: a span */
	const struct trace_span *span;
};

/* --- what there is --- */

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

static int by_track(const void *a, const void *b)
{
	const struct slice *x = a;
	const struct slice *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->track != y->track)
		return x->track < y->track ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return !x->phase - !y->phase;
}

/* Sorted by track and time; to be freed. NULL without memory. */
static struct slice *find_slices(const struct chrome *chrome, size_t *count)
{
	const struct trace *trace = chrome->trace;
	struct slice *slices = calloc(trace->phases_n + trace->spans_n + 1, sizeof(*slices));

	*count = 0;
	for (size_t i = 0; slices && i < trace->phases_n; i++)
		slices[(*count)++] = slice_of_phase(chrome, &trace->phases[i]);
	for (size_t i = 0; slices && i < trace->spans_n; i++) {
		if (wants(chrome, &trace->spans[i]))
			slices[(*count)++] = slice_of_span(chrome, &trace->spans[i]);
	}
	if (slices)
		qsort(slices, *count, sizeof(*slices), by_track);
	return slices;
}

/* --- names of devices and their tracks --- */

static void put_name(struct chrome *chrome, const struct slice *slice, const char *what,
		     const char *name)
{
	chrome_begin_of(chrome, slice->pid, "M", what, 0);
	chrome_u64(chrome, ",\"tid\":", slice->track);
	chrome_text(chrome, ",\"args\":{\"name\":", name);
	out_text(chrome->out, "}}");
}

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
		put_name(chrome, slice, "process_name", name);
	}
	snprintf(name, sizeof(name), "stream %u: %s", span->stream,
		 track_kinds[slice->track % KINDS]);
	put_name(chrome, slice, "thread_name", name);
}

/* --- slices --- */

static void put_number(struct chrome *chrome, const char *key, uint64_t value)
{
	if (value != TRACE_NONE)
		chrome_u64(chrome, key, value);
}

/* What the program said of it besides its name, as NVTX takes it. */
static void put_phase_words(struct chrome *chrome, const struct trace_phase *phase)
{
	chrome_text(chrome, "\"domain\":", phase->domain);
	if (phase->category)
		chrome_text(chrome, ",\"category\":", phase->category);
	if (phase->color)
		chrome_text(chrome, ",\"color\":", phase->color);
	if (!phase->payload)
		return;
	out_text(chrome->out, ",\"payload\":");
	if (phase->payload[strspn(phase->payload, "0123456789+-.eE")]) /* of a foreign trace */
		out_json(chrome->out, phase->payload);
	else
		out_text(chrome->out, phase->payload);
}

static void put_phase_figures(struct chrome *chrome, const struct trace_phase *phase)
{
	char key[60];

	put_number(chrome, ",\"allocated at start\":", phase->allocated.start_bytes);
	put_number(chrome, ",\"allocated at end\":", phase->allocated.end_bytes);
	put_number(chrome, ",\"peak of allocated\":", phase->allocated.peak_bytes);
	put_number(chrome, ",\"peak of reserved\":", phase->reserved.peak_bytes);
	put_number(chrome, ",\"born\":", phase->born.bytes);
	put_number(chrome, ",\"freed\":", phase->freed.bytes);
	put_number(chrome, ",\"outliving\":", phase->outliving.bytes);
	for (size_t i = 0; i < phase->devices_n; i++) {
		snprintf(key, sizeof(key),
			 ",\"peak of allocated on device %d\":", phase->devices[i].device);
		put_number(chrome, key, phase->devices[i].allocated.peak_bytes);
	}
	if (phase->end == TRACE_NONE)
		out_text(chrome->out, ",\"end\":\"none was seen\"");
}

static const char *slice_name(const struct chrome *chrome, const struct slice *slice)
{
	const char *name = slice->phase ? slice->phase->name
					: chrome->trace->actions[slice->span->action].name;

	return name ? name : "?";
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

static void put_args(struct chrome *chrome, const struct slice *slice)
{
	out_text(chrome->out, ",\"args\":{");
	if (slice->phase) {
		put_phase_words(chrome, slice->phase);
		put_phase_figures(chrome, slice->phase);
	} else if (slice->span->bytes) {
		chrome_u64(chrome, "\"bytes\":", slice->span->bytes);
	}
	out_text(chrome->out, "}}");
}

static void put_slice(struct chrome *chrome, const struct slice *slice, size_t number, bool nests)
{
	uint64_t ns = slice->end - slice->start;
	char fraction[8];
	char id[ID];

	snprintf(id, sizeof(id), "slice %zu", number);
	snprintf(fraction, sizeof(fraction), ".%03u", (unsigned)(ns % 1000));
	chrome_begin_of(chrome, slice->pid, nests ? "X" : "b", slice_name(chrome, slice),
			slice->start);
	chrome_u64(chrome, ",\"tid\":", slice->track);
	if (nests) {
		chrome_u64(chrome, ",\"dur\":", ns / 1000);
		out_text(chrome->out, fraction);
	} else {
		chrome_text(chrome, ",\"id\":", id);
	}
	chrome_text(chrome, ",\"cat\":", category_of(chrome, slice));
	put_args(chrome, slice);
	if (nests)
		return;
	chrome_begin_of(chrome, slice->pid, "e", slice_name(chrome, slice), slice->end);
	chrome_u64(chrome, ",\"tid\":", slice->track);
	chrome_text(chrome, ",\"id\":", id);
	chrome_text(chrome, ",\"cat\":", category_of(chrome, slice));
	out_char(chrome->out, '}');
}

int chrome_slices(struct chrome *chrome)
{
	size_t count;
	struct slice *slices = find_slices(chrome, &count);
	uint64_t *open = calloc(count + 1, sizeof(*open)); /* ends, innermost last */
	bool ok = slices && open;
	size_t depth = 0;

	for (size_t i = 0; ok && i < count; i++) {
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
	free(open);
	free(slices);
	return ok ? 0 : err_no_memory(chrome->trace->path);
}
