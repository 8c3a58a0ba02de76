/* Turns operands that are files or folders into a list of traces. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "render/ranks/ranks.h"

struct traces {
	char **paths;
	size_t count;
};

/*
 * Adds the traces that the operands name; NULL ends the operands. A folder stands for the traces
 * and spools directly in it, recognized by their first bytes and ordered by the numbers in their
 * names; spools whose trace is in the same folder are left out. Returns 0, or -errno with
 * err_text(), also if a folder holds no trace.
 */
int traces_add(struct traces *traces, const char *const *operands);
void traces_clear(struct traces *traces);

bool traces_is_folder(const char *operand);

/* Merges the traces as the ranks of a job and writes the result. Returns the exit status. */
int traces_merge(const struct traces *traces, const struct merge_format *format,
		 const struct merge_options *options, const char *output, bool force);

/* Reads all traces into `merge`, which the caller clears. Returns 0, or -errno with err_text(). */
int traces_fold(struct merge *merge, const struct traces *traces, bool force);
