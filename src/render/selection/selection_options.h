/* Options of reports and exports that select a part of the trace. */
#pragma once

#include <stdint.h>

/* Some selections read the events, so no event of the trace may have been read before. */
struct selection_options {
	int device;            /* NO_DEVICE: all devices */
	const char *pool;      /* NULL: all pools */
	int space;             /* enum space; SPACES: all memory kinds */
	const char *from, *to; /* for timepoint_bound(); NULL: the whole run */
	const char *filter;  /* part of a frame's text, a pattern with * and ?, or category=NAME */
	uint64_t categories; /* bits of the categories in `filter`; 0: `filter` is about frames */
	const char *at;      /* time for moment_find(); NULL: the command's default */
	int stacks, by;      /* enum trace_stacks, enum trace_by */
	int metric;          /* enum trace_metric: the bytes that stacks are weighted by */
};
