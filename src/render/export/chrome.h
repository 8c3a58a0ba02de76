/* Shared by the files of the export `chrome`. */
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
	bool any; /* true once an event was written */
};

/* An event of the format with the values of its arguments. Members that are NULL or TRACE_NONE are
 * left out, where the format allows it. */
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

/* Returns an event of the traced process; all optional members are left out. */
struct chrome_event chrome_event(const struct chrome *chrome, const char *phase, const char *name,
				 uint64_t t);

/* Writes the event; `args`: columns of its arguments, fields of the event, or NULL. */
void chrome_put(struct chrome *chrome, const struct chrome_event *event,
		const struct emit_column *args);

/* Writes the event's members alone: the caller adds its arguments and '}'. */
void chrome_begin(struct chrome *chrome, const struct chrome_event *event);

/* Names a process, or a track of it unless `track` is TRACE_NONE. `what` is the name of the event:
 * "process_name" or "thread_name". */
void chrome_name(struct chrome *chrome, const char *what, uint64_t pid, uint64_t track,
		 const char *name);

/* Writes the value that the counter has from time t on. Writes nothing for TRACE_NONE. */
void chrome_counter(struct chrome *chrome, const char *name, uint64_t t, uint64_t bytes);

/* The argument `bytes`, left out if it is TRACE_NONE. */
extern const struct emit_column chrome_bytes[];

/* Writes phases and calls on their threads, and each device's spans. 0 or -errno. */
int chrome_slices(struct chrome *chrome);

/* chrome_events.c: writes all that comes from events. 0 or -errno with err_text(). */
int chrome_events(struct chrome *chrome);
