/*
 * The steps of a training loop, found where nothing names them: as a period in the allocations.
 *
 * In a loop of n steps a call that is made once a step allocates n times. So n is, of the counts
 * that several stacks share, the one whose stacks allocate most, if these stacks come in turns,
 * each once between two of the first, if the steps are of like length (else they are the layers
 * inside one, or the like), if most of them free about as much as they allocate (else something is
 * being built), and if nearly all steps make the same calls (else it is chance).
 */
#pragma once

#include "analyse/trace/trace.h"

/*
 * Adds the steps that were found to the trace's phases, named "inferred step", with their figures,
 * unless about as many ranges of the program, about as long, name them already (ranges of
 * libraries, such as NCCL and CUB, are many and short, or few). Without steps the trace stays as it
 * is. Reads the events twice, by opening the file anew, and needs 24 bytes for each allocation and
 * free; a trace that can be read only once is left as it is. 0 or -errno with err_text().
 */
int steps_infer(struct trace *trace);

/* Likewise, but only for a complete trace of few events (TRACE_FEW). */
int steps_infer_if_few(struct trace *trace);

/* --- between steps.c and steps_figures.c --- */

struct steps_found {
	const uint64_t *starts; /* for each step, the number of its first event */
	size_t count;           /* at least 1 */
	uint64_t end;           /* the number of the last step's last event */
};

/* Passes the events to a function until it returns other than 0. Returns that, 0, or -errno. */
typedef int steps_take_fn(void *context, const struct event *event);
int steps_read(const char *path, steps_take_fn *take, void *context);

/* Adds the steps to the phases as steps_infer() describes: 0, or -errno with err_text(). */
int steps_put(struct trace *trace, const struct steps_found *found);
