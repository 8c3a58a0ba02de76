/*
 * Stacks and their weights, for formats that weigh stacks: bytes at the peaks of the devices, or at
 * a moment.
 */
#pragma once

#include "analyse/trace/trace.h"
#include "render/selection/options.h"
#include "render/selection/select.h"

struct weights_set {
	int device; /* NO_DEVICE: of all devices together */
	uint64_t t; /* when, in ns since process start */
	uint64_t bytes;
	const struct trace_share *shares; /* positions in trace->stacks */
	size_t shares_n;
	uint64_t unknown; /* bytes of no known stack: with these the shares sum to `bytes` */
};

struct weights {
	struct trace *trace;
	struct weights_set *sets; /* one per device */
	size_t sets_n;
	int space; /* enum space: the space weighed, if no device was used; else SPACES */
	struct report_selection selection; /* decides the figures of stacks: by device and pool */
};

/* Returns 0 or -errno with err_text(). Memory is the trace's; in either case the caller clears
 * weights->selection with report_select_clear(). */
int weights_find(struct weights *weights, struct trace *trace,
		 const struct selection_options *options);

/* True if stacks are split by phase or thread: each stack's `group` is the name of one then. */
static inline bool weights_split(const struct selection_options *options)
{
	return options->by == TRACE_BY_PHASE || options->by == TRACE_BY_THREAD;
}

/* Writes the name of a set, to tell several apart: "device 0", "all devices", "pinned memory". */
void weights_name(const struct weights *weights, const struct weights_set *set, char *to,
		  size_t size);

/* A frame for bytes whose stack is not known, and one for a stack without frames. */
#define WEIGHTS_UNKNOWN "[not known: allocated before events were dropped]"
#define WEIGHTS_NO_FRAMES "[no stack was recorded]"

/* Writes a frame's function, shortened if it is native, with nothing that could steer a terminal;
 * an address if it has no name. Cut to size. */
void weights_function(const struct trace *trace, uint32_t frame, char *to, size_t size);
