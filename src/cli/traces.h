/* Operands that name many traces: files, and folders of them. */
#ifndef CLI_TRACES_H
#define CLI_TRACES_H

#include <stdbool.h>
#include <stddef.h>

#include "render/merge.h"

struct traces {
	char **paths;
	size_t count;
};

/*
 * Adds what the operand names: a file as it is; of a folder every trace and every spool in it (not
 * below), told by their first bytes, in the order of their numbers, without spools whose document
 * lies beside them. 0, or -errno with err_text(), also when a folder has none.
 */
int traces_add(struct traces *traces, const char *operand);
void traces_clear(struct traces *traces);

/* Does it name a folder? */
bool traces_is_folder(const char *operand);

/* The traces as one picture, written as `memtrace COMMAND` does; gives the exit status. */
int traces_merge(const char *command, const struct traces *traces,
		 const struct merge_format *format, const struct merge_options *options,
		 const char *output, bool force);

/*
 * For a command that shows few traces: says which of them is the rank that peaks highest, and gives
 * STATUS_USAGE, or what is wrong with them. `few` is what the command takes: "one trace".
 */
int traces_too_many(const char *command, const struct traces *traces, const char *few);

#endif
