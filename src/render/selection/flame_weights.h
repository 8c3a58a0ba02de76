/*
 * Weighs stacks by the bytes that they held at the peaks of the devices, or at the time of --at:
 * for the export formats folded, speedscope and pprof.
 */
#pragma once

#include "analyse/trace/trace.h"
#include "render/selection/select.h"
#include "render/selection/selection_options.h"

struct weights_set {
	int device;     /* NO_DEVICE for all devices together */
	uint64_t t;     /* time of the peak or of --at, in ns since process start */
	uint64_t bytes; /* bytes held at time t, by known and unknown stacks */
	const struct trace_share *shares; /* stacks with bytes held at time t */
	size_t shares_n;
	uint64_t unknown; /* `bytes` minus the bytes of all shares */
};

struct weights {
	struct trace *trace;
	struct weights_set *sets; /* one per device; a single one with --by, or with --at TIME */
	size_t sets_n;
	int space; /* enum space: the kind of memory if no device was used, else SPACES */
	struct report_selection selection; /* result of report_select() */
};

/* Fills `weights`, with memory from the trace's arena. Returns 0 or -errno with err_text(); in
 * either case the caller clears weights->selection with report_select_clear(). */
int weights_find(struct weights *weights, struct trace *trace,
		 const struct selection_options *options);

/* True if each stack is split by phase or thread, whose name is then in struct trace_stack. */
static inline bool weights_split(const struct selection_options *options)
{
	return options->by == TRACE_BY_PHASE || options->by == TRACE_BY_THREAD;
}

/* Writes a name that distinguishes the set: "device 0", "all devices", "pinned memory". */
void weights_name(const struct weights *weights, const struct weights_set *set, char *to,
		  size_t size);

/* Names of pseudo-frames: for bytes whose stack is not known, and for a stack without frames. */
#define WEIGHTS_UNKNOWN "[not known: allocated before or in missing events]"
#define WEIGHTS_NO_FRAMES "[no stack was recorded]"

/* Writes a frame's function, safe to print: shortened if native, an offset if it has no name. */
void weights_function(const struct trace *trace, uint32_t frame, char *to, size_t size);
