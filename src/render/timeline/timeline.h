/*
 * Draws the curves of a trace in the terminal: allocated and reserved bytes over time, on each
 * device and in each pool, and bars for the phases below the curves.
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
	int device;            /* NO_DEVICE for all devices */
	const char *pool;      /* NULL for curves of the devices and of all their pools */
	const char *from, *to; /* for timepoint_bound(); NULL for no bound */
	unsigned width;        /* columns of the terminal */
	unsigned height;       /* rows of a curve; halved for pools if `pool` is NULL */
	bool ascii;            /* write only ASCII characters */
	bool colour;
};

/* Draws the curve of options->device without heading and time axis, with `name` and the peak at the
 * left. The full height stands for `top` bytes. Returns false if the device has no curve. */
bool timeline_sketch(struct trace *trace, struct out *out, const struct timeline_options *options,
		     const char *name, uint64_t top);

/* Writes all curves. Returns 0, or -errno with a sentence in err_text(). */
int timeline_text(struct trace *trace, struct out *out, const struct timeline_options *options);
