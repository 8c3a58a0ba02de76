/*
 * The steps of a training loop, found where nothing names them: as a period in the allocations.
 *
 * In a loop of n steps what is done once a step allocates n times. So of the counts that several
 * stacks share, that whose stacks allocate most is n, if these stacks come in turns, each once
 * between two of the first, if the steps are of like length (else they are the layers inside one,
 * or the like), if most of them free about what they take (else something is being built), and if
 * what happens in one happens in nearly all (else it is chance).
 */
#pragma once

#include "analyse/trace/trace.h"

/*
 * Adds the steps that were found to the trace's phases, named "inferred step", with their figures,
 * unless about as many ranges of the program, about as long, name them already (those of libraries,
 * of NCCL and CUB say, are many and short, or few). Without steps the trace stays as it is. Reads
 * the events twice, by opening the file anew, and needs 24 bytes for each allocation and free; a
 * trace that can be read only once is left as it is. 0 or -errno with err_text().
 */
int steps_infer(struct trace *trace);

/* The same unasked: of a trace of few events that are all there (TRACE_FEW). */
int steps_infer_if_few(struct trace *trace);

/* --- between steps.c and steps_figures.c --- */

struct steps_found {
	const uint64_t *starts; /* seq of the first event of each */
	size_t count;           /* not 0 */
	uint64_t end;           /* seq of the last event of the last */
};

/* Gives each event of the file to `take`, until one is not 0. That, 0, or -errno with err_text().
 */
typedef int steps_take_fn(void *context, const struct event *event);
int steps_read(const char *path, steps_take_fn *take, void *context);

/* As steps_infer() is said to do once they are found. 0 or -errno with err_text(). */
int steps_put(struct trace *trace, const struct steps_found *found);
