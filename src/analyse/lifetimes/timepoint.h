/*
 * Moments and stretches of time as people write them: 12.5s, peak, 'phase:step 3', seq:123, exit.
 *
 * Functions return 0, or -errno with err_text(): the text cannot be read, or the trace has no such
 * thing.
 */
#pragma once

#include "analyse/lifetimes/replay.h"

/* "12.5s", "350 ms", "2min": to the nanosecond. No trace is needed. */
int timepoint_time(const char *text, uint64_t *ns);

/* A time, or the start or end of phase:NAME. */
int timepoint_bound(const struct trace *trace, const char *text, bool end, uint64_t *ns);

/* True if the text is well-formed, whatever the trace. */
bool timepoint_makes_sense(const char *text);

/*
 * Fills the moment, window and device of the wish, whose other members are the caller's, and writes
 * a description to `what`: "at 12.5 s". A peak is a device's: of the one wished for, else of the
 * one with the highest peak. phase:NAME is the highest moment of the phase, and of several phases
 * of the name, that of the one with the highest.
 */
int moment_find(struct replay_wish *wish, const struct trace *trace, const char *text, char *what,
		size_t size);
