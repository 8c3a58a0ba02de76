/* What of a trace is meant: the options that reports and exports share. */
#ifndef RENDER_SELECTION_OPTIONS_H
#define RENDER_SELECTION_OPTIONS_H

#include <stdint.h>

/* It may need the events, so trace_open() the trace then. */
struct selection_options {
	int device;            /* NO_DEVICE: all of them */
	const char *pool;      /* NULL: all */
	int space;             /* enum space, SPACES: all */
	const char *from, *to; /* timepoint_bound(), NULL: the whole run */
	const char *filter;    /* of frames: a part of their text, or a pattern with * and ? */
	uint64_t categories;   /* a bit each: `filter` is of categories then, 0: it is not */
	const char *at;        /* moment_find(): what was live then; NULL: see who takes it */
	int stacks, by;        /* enum trace_stacks, enum trace_by */
	int metric;            /* of `at`: TRACE_ALLOCATED, or TRACE_RESERVED (exports) */
};

#endif
