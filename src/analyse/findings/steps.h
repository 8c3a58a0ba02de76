/*
 * Finds the steps of a training loop that the program does not mark, by the calls that it repeats.
 *
 * In a loop of n steps, a call that is made once per step allocates n times. So n is the number of
 * allocations that several stacks have in common; of several such numbers, the one that covers most
 * allocations. Conditions: these stacks take turns, each allocating once between two allocations of
 * the first; the steps have similar lengths (else they may be layers inside a step); most steps
 * free at least half of what they allocate (else something is being built); and steps mostly make
 * the same calls (else the period is chance).
 */
#pragma once

#include "analyse/trace/trace.h"

/*
 * Adds the steps that are found to the trace's phases, with their sums, as "inferred step", unless
 * the program's own ranges already mark them: at least half as many ranges as steps are about as
 * long as the step that they lie in (ranges of libraries such as NCCL are not). If no steps are
 * found, or if the trace can be read only once, the trace is not changed. Reads the file's events
 * twice, and needs up to 60 bytes per allocation and free. Returns 0, or -errno with err_text().
 */
int steps_infer(struct trace *trace);

/* Like steps_infer(), but only for a complete trace with few events (TRACE_FEW). */
int steps_infer_if_few(struct trace *trace);

/* --- shared by steps.c and steps_figures.c --- */

struct steps_found {
	const uint64_t *starts; /* for each step, the number of its first event */
	size_t count;           /* number of steps, at least 1 */
	uint64_t end;           /* the number of the last step's last event */
};

/* Passes each event of the file to `take`, and stops if `take` returns a value other than 0.
 * Returns that value, 0 at the end of the file, or -errno. */
typedef int steps_take_fn(void *context, const struct event *event);
int steps_read(const char *path, steps_take_fn *take, void *context);

/* Adds the steps to the phases as steps_infer() describes. Returns 0, or -errno with err_text(). */
int steps_put(struct trace *trace, const struct steps_found *found);
