/* Compares runs for memtrace diff and memtrace check; for check, the base has no runs. */
#pragma once

#include "cli/budget_file.h"

struct comparison {
	const char *const *sides[2]; /* the operands of base and of head, each ended by NULL */
	struct gates gates;
	const char *phases[2]; /* the phase that base and head are reduced to; NULL: whole runs */
	const char *rules, *output;       /* NULL for the built-in rules and standard output */
	const struct diff_format *format; /* diff_formats[0], text, by default */
	struct diff_options options;
	int device;
	bool json;  /* --json: the format json */
	bool force; /* --force: also compares runs on different cards, drivers ... */
};

/* Compares the runs, judges the gates and writes the result. Returns the exit status: STATUS_NO if
 * a gate is broken. */
int compare_runs(const struct comparison *asked);
