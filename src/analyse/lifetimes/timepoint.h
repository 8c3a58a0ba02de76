/*
 * Reads points and spans of time as users write them: 12.5s, peak, phase:step, mark:now, seq:123,
 * exit.
 *
 * Functions return 0, or -errno with err_text() if the text cannot be read or the trace has no such
 * time.
 */
#pragma once

#include "analyse/lifetimes/replay.h"

/* Reads a time, such as "12.5s", "350 ms" or "2min". */
int timepoint_time(const char *text, uint64_t *ns);

/* True for the forms "phase:NAME" and "mark:NAME". */
bool timepoint_is_named(const char *text);

/* Reads a time; phase:NAME, which gives the phase's end or start; or mark:NAME, the last mark with
 * the name, and mark:NAME#2, the second. */
int timepoint_bound(const struct trace *trace, const char *text, bool end, uint64_t *ns);

/* True if the text is well-formed, whatever is in the trace; else err_text() has the reason. */
bool timepoint_makes_sense(const char *text);

/*
 * Sets the moment, window and device of `wish`, and no other member, and writes a description to
 * `what`: "at 12.5 s". A peak belongs to a device: that in `wish`, else the device with the highest
 * peak. phase:NAME is the time of the highest sum in the phase; if several phases have the name, in
 * the phase with the highest peak.
 */
int moment_find(struct replay_wish *wish, const struct trace *trace, const char *text, char *what,
		size_t size);
