/* The options of reports and exports by which the user selects a part of the trace. */
#pragma once

#include <stdint.h>

/* Some selections read the events, so the caller must not have read any event of the trace. */
struct selection_options {
	int device;            /* NO_DEVICE for all devices */
	const char *pool;      /* NULL for all pools */
	int space;             /* enum space, SPACES for all kinds of memory */
	const char *from, *to; /* for timepoint_bound(); NULL for no bound */
	const char *filter;  /* part of a frame's text, a pattern with * and ?, or category=NAME */
	uint64_t categories; /* bits of the categories in `filter`; 0 if it is about frames */
	const char *at;      /* time for moment_find(); NULL for the command's default */
	int stacks, by;      /* enum trace_stacks, enum trace_by */
	int metric;          /* enum trace_metric: the bytes that stacks are weighted by */
};
