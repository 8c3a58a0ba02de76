/* Operands that stand for many traces: files, and folders of traces. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "render/ranks/ranks.h"

struct traces {
	char **paths;
	size_t count;
};

/*
 * Adds the traces of the operands, which end with NULL: a file as it is; of a folder each trace and
 * each spool in it (not in folders below), recognized by the first bytes, in the order of the
 * numbers in their names, without spools whose document is beside them. 0, or -errno with
 * err_text(), also when a folder has none.
 */
int traces_add(struct traces *traces, const char *const *operands);
void traces_clear(struct traces *traces);

bool traces_is_folder(const char *operand);

/* Writes the traces as one picture, as `memtrace COMMAND` does; returns the exit status. */
int traces_merge(const struct traces *traces, const struct merge_format *format,
		 const struct merge_options *options, const char *output, bool force);

/* Folds all traces into `merge`: 0, or -errno with err_text(); then merge_clear(). */
int traces_fold(struct merge *merge, const struct traces *traces, bool force);
