/*
 * The curves of a trace in the terminal: what was allocated and reserved over time, on each device
 * and in each pool, and the phases below.
 *
 * From the document's timeline[], which never loses a peak: each column is the highest of its
 * stretch of time. Facts only; failed allocations are marked too when the trace has events.
 */
#ifndef RENDER_TIMELINE_TIMELINE_H
#define RENDER_TIMELINE_TIMELINE_H

#include <stdbool.h>

struct out;
struct trace;

enum {
	TIMELINE_NARROWEST = 50,
	TIMELINE_WIDEST = 1000,
	TIMELINE_LOWEST = 2,
	TIMELINE_HIGHEST = 200,
};

struct timeline_options {
	int device;            /* NO_DEVICE: all of them */
	const char *pool;      /* NULL: the whole device and its pools */
	const char *from, *to; /* timepoint_bound(), NULL: the whole run */
	unsigned width;        /* columns of the terminal */
	unsigned height;       /* rows of a device's curve; a pool's has half of them */
	bool ascii;            /* nothing but ASCII */
	bool colour;
};

/* 0 or -errno with a sentence in err_text(). */
int timeline_text(struct trace *trace, struct out *out, const struct timeline_options *options);

#endif
