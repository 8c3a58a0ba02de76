/*
 * Draws the curves of a trace in the terminal: allocated and reserved bytes over time, on each
 * device and in each pool, and the phases below.
 *
 * The curves are the trace's timeline[], which never loses a peak: each column shows the highest
 * value of its stretch of time. Failed allocations are marked if the trace has events.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct out;
struct trace;

enum {
	TIMELINE_NARROWEST = 50,
	TIMELINE_WIDEST = 1000,
	TIMELINE_LOWEST = 2,
	TIMELINE_HIGHEST = 200,
};

struct timeline_options {
	int device;            /* NO_DEVICE: all devices */
	const char *pool;      /* NULL: devices and all of their pools */
	const char *from, *to; /* for timepoint_bound(); NULL: the whole run */
	unsigned width;        /* columns of the terminal */
	unsigned height;       /* rows of a curve; if `pool` is NULL, a pool's has half as many */
	bool ascii;            /* write only ASCII characters */
	bool colour;
};

/* Draws the curve of options->device alone, without heading and time: `name` and the curve's peak
 * stand at the left, `top` bytes are the full height. False if the device has no curve. */
bool timeline_sketch(struct trace *trace, struct out *out, const struct timeline_options *options,
		     const char *name, uint64_t top);

/* Writes all curves. Returns 0, or -errno with a sentence in err_text(). */
int timeline_text(struct trace *trace, struct out *out, const struct timeline_options *options);
