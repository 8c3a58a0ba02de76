/*
 * A file of patterns for what somebody knows and does not want to be told again.
 *
 * One pattern a line, a glob as of fnmatch(3), that must fit the whole of a call site's name, or of
 * a frame's text ("Net.forward (train.py:12)"), function, file or module of a stack (files and
 * modules also without their folders). Blanks around it do not count; what follows a # at the
 * beginning of a line or behind a blank is a comment.
 */
#ifndef ANALYSE_FINDINGS_SUPPRESSIONS_H
#define ANALYSE_FINDINGS_SUPPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace;

struct suppression {
	char *pattern;
	unsigned line; /* of the file */
	uint64_t used; /* stacks that it fitted */
};

struct suppressions {
	struct suppression *list;
	size_t count, size;
};

/* 0 or -errno with err_text(). Nothing is held after a failure. */
int suppressions_read(struct suppressions *suppressions, const char *path);
void suppressions_clear(struct suppressions *suppressions);

/* Does a pattern fit the stack? Each that does is marked as used. */
bool suppressions_fit(struct suppressions *suppressions, const struct trace *trace, uint32_t stack);

#endif
