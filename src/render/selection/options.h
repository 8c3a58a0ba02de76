/* The part of a trace that is meant: options that reports and exports share. */
#pragma once

#include <stdint.h>

/* A selection may need the events, so the trace must be open (trace_open()). */
struct selection_options {
	int device;            /* NO_DEVICE: all of them */
	const char *pool;      /* NULL: all */
	int space;             /* enum space, SPACES: all */
	const char *from, *to; /* for timepoint_bound(), NULL: the whole run */
	const char *filter;    /* a part of a frame's text, or a pattern with * and ? */
	uint64_t categories;   /* a bit per category that `filter` names; 0: it is of frames */
	const char *at;        /* for moment_find(): the moment; NULL: the command's default */
	int stacks, by;        /* enum trace_stacks, enum trace_by */
	int metric;            /* of `at`: TRACE_ALLOCATED, or TRACE_RESERVED (exports) */
};
