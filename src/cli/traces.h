/* Operands that name many traces: files, and folders of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "render/ranks/ranks.h"

struct traces {
	char **paths;
	size_t count;
};

/*
 * Adds what the operands name, ended by NULL: a file as it is; of a folder every trace and every
 * spool in it (not below), told by their first bytes, in the order of their numbers, without spools
 * whose document lies beside them. 0, or -errno with err_text(), also when a folder has none.
 */
int traces_add(struct traces *traces, const char *const *operands);
void traces_clear(struct traces *traces);

/* Does it name a folder? */
bool traces_is_folder(const char *operand);

/* The traces as one picture, written as `memtrace COMMAND` does; gives the exit status. */
int traces_merge(const struct traces *traces, const struct merge_format *format,
		 const struct merge_options *options, const char *output, bool force);

/* Folds them all and makes the picture: 0, or -errno with err_text(). merge_clear() is due. */
int traces_fold(struct merge *merge, const struct traces *traces, bool force);
