/* Functions that the export `chrome`'s files share: they write events of the Trace Event Format. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "render/emit/emit.h"
#include "render/export/export.h"
#include "render/selection/stack_texts.h"

struct chrome {
	struct out *out;
	struct trace *trace;
	const struct selection_options *options;
	struct stack_texts stacks;
	uint32_t *innermost; /* by stack: the number of its innermost frame, 0 if it has none */
	bool any;            /* an event was written, so a comma must precede the next one */
};

/* An event of the Trace Event Format, and the values of its arguments. t and length are in ns.
 * Optional members that are NULL or TRACE_NONE are not written. */
struct chrome_event {
	const char *phase, *name;
	uint64_t pid, t, track, length;
	const char *scope, *slice, *category, *block, *frame;

	uint64_t bytes, address;
	int device;
	const char *text, *owner, *stack;
};

#define CHROME_ARG(key, kind, field) EMIT_MEMBER(key, kind, struct chrome_event, field)
#define CHROME_OPTIONAL(key, kind, field) EMIT_IF_KNOWN(key, kind, struct chrome_event, field)

/* Returns an event of the traced process whose optional members are NULL or TRACE_NONE. */
struct chrome_event chrome_event(const struct chrome *chrome, const char *phase, const char *name,
				 uint64_t t);

/* Writes an event. `args` describes the members that are its arguments; NULL if it has none. */
void chrome_put(struct chrome *chrome, const struct chrome_event *event,
		const struct emit_column *args);

/* Writes an event without its arguments and its closing brace, which the caller then writes. */
void chrome_begin(struct chrome *chrome, const struct chrome_event *event);

/* Names a process, or a track of the process. `what` is the name of the format's event for this:
 * "process_name", for which `track` may be TRACE_NONE, or "thread_name". */
void chrome_name(struct chrome *chrome, const char *what, uint64_t pid, uint64_t track,
		 const char *name);

/* Writes that a counter is `bytes` from time t (ns) on; nothing if `bytes` is TRACE_NONE. */
void chrome_counter(struct chrome *chrome, const char *name, uint64_t t, uint64_t bytes);

/* The `args` of chrome_put() for an event with one argument, `bytes`. */
extern const struct emit_column chrome_bytes[];

/* chrome_slices.c: writes phases, long CUDA calls, and kernels and copies on devices. */
void chrome_slices(struct chrome *chrome);

/* chrome_events.c: writes the trace's events. Returns 0, or -errno with err_text(). */
int chrome_events(struct chrome *chrome);
