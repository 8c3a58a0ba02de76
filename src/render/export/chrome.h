/* What the parts of the export `chrome` share. */
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
	/* By stack: the number of its innermost frame in stackFrames, 0 for none. */
	uint32_t *innermost;
	bool any; /* an event was written */
};

/* An event of the format, and what its arguments are made of. NULL or TRACE_NONE is left out. */
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

/* One of the trace's process, with nothing else. */
struct chrome_event chrome_event(const struct chrome *chrome, const char *phase, const char *name,
				 uint64_t t);

/* Writes the event with those arguments, which are fields of it; with none where `args` is NULL. */
void chrome_put(struct chrome *chrome, const struct chrome_event *event,
		const struct emit_column *args);

/* The event's members alone: its arguments and '}' are to follow. */
void chrome_begin(struct chrome *chrome, const struct chrome_event *event);

/* What a process or a track (TRACE_NONE: none) is called: `what` is the name of the event. */
void chrome_name(struct chrome *chrome, const char *what, uint64_t pid, uint64_t track,
		 const char *name);

/* What the counter is from then on. Nothing for TRACE_NONE. */
void chrome_counter(struct chrome *chrome, const char *name, uint64_t t, uint64_t bytes);

/* The argument `bytes`, none for TRACE_NONE. */
extern const struct emit_column chrome_bytes[];

/* chrome_slices.c: phases and calls on their threads, what ran on each device. 0 or -errno. */
int chrome_slices(struct chrome *chrome);

/* chrome_events.c: all that the trace's events tell. 0 or -errno with err_text(). */
int chrome_events(struct chrome *chrome);
