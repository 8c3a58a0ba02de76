/*
 * The steps of a training loop, found where nothing names them: as a period in the allocations.
 *
 * In a loop of n steps what is done once a step allocates n times. So of the counts of all stacks
 * the one that most stacks share is n, if these stacks come in turns, each once between two of the
 * first, and if the steps are of like length (else they are the layers inside one, or the like).
 */
#ifndef ANALYSE_STEPS_H
#define ANALYSE_STEPS_H

#include "analyse/trace.h"

/*
 * Gives a trace without phases those that were found, named "inferred step", with their figures; it
 * has none still where none were found. Reads the events twice, by opening the file anew, and needs
 * 16 bytes for each. 0 or -errno.
 */
int steps_infer(struct trace *trace);

#endif
