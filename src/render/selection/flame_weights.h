/*
 * Stacks and what they weigh, for the formats that weigh them: bytes at the peaks of the devices,
 * or at a moment.
 */
#ifndef RENDER_SELECTION_FLAME_WEIGHTS_H
#define RENDER_SELECTION_FLAME_WEIGHTS_H

#include "analyse/trace/trace.h"
#include "render/selection/options.h"
#include "render/selection/select.h"

struct weights_set {
	int device; /* NO_DEVICE: of all devices together */
	uint64_t t; /* when, in ns since process start */
	uint64_t bytes;
	const struct trace_share *shares; /* positions in trace->stacks */
	size_t shares_n;
	uint64_t unknown; /* bytes of no stack that is known: the sum is exact with these */
};

struct weights {
	struct trace *trace;
	struct weights_set *sets; /* a device's each */
	size_t sets_n;
	int space; /* enum space: of which all is told, where there is no device; else SPACES */
	struct report_selection selection; /* what figures of stacks are of: device and pool */
};

/* The selection is to be cleared either way. 0 or -errno with err_text(). */
int weights_find(struct weights *weights, struct trace *trace,
		 const struct selection_options *options);

/* Has each stack's `group` a name: of a phase, or a thread? */
static inline bool weights_split(const struct selection_options *options)
{
	return options->by == TRACE_BY_PHASE || options->by == TRACE_BY_THREAD;
}

/* "device 0": what a set is called where there are several. */
void weights_name(const struct weights *weights, const struct weights_set *set, char *to,
		  size_t size);

/* What stands for the frames of bytes that nobody knows, and of a stack without any. */
#define WEIGHTS_UNKNOWN "[not known: born before events were dropped]"
#define WEIGHTS_NO_FRAMES "[no stack was recorded]"

/*
 * A frame's function, made short where it is native, without what could steer a terminal; an
 * address where it has no name. Cut to size.
 */
void weights_function(const struct trace *trace, uint32_t frame, char *to, size_t size);

#endif
