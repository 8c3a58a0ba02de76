/* What the parts of the export `chrome` share. */
#ifndef RENDER_EXPORT_CHROME_H
#define RENDER_EXPORT_CHROME_H

#include <stdbool.h>
#include <stdint.h>

#include "render/export/export.h"
#include "render/selection/stack_texts.h"

struct chrome {
	struct out *out;
	struct trace *trace;
	const struct selection_options *options;
	struct stack_texts stacks;
	uint32_t *
		innermost; /* by stack: the number of its innermost frame in stackFrames, 0: none */
	bool any;          /* an event was written */
};

/* The members of an event up to its time; then come others, each with the comma in `key`, and }. */
void chrome_begin(struct chrome *chrome, const char *phase, const char *name, uint64_t t);
void chrome_begin_of(struct chrome *chrome, uint64_t pid, const char *phase, const char *name,
		     uint64_t t); /* of another process than the trace's */
void chrome_u64(struct chrome *chrome, const char *key, uint64_t value);
void chrome_text(struct chrome *chrome, const char *key, const char *value);

/* A whole event: what the counter is from then on. Nothing for TRACE_NONE. */
void chrome_counter(struct chrome *chrome, const char *name, uint64_t t, uint64_t bytes);

/* chrome_slices.c: phases and calls on their threads, what ran on each device. 0 or -errno. */
int chrome_slices(struct chrome *chrome);

/* chrome_events.c: all that the trace's events tell. 0 or -errno with err_text(). */
int chrome_events(struct chrome *chrome);

#endif
