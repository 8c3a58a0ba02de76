/*
 * Reads points and spans of time as users write them: 12.5s, peak, phase:step, mark:now, seq:123,
 * exit.
 *
 * Functions of type int return 0, or -EINVAL with err_text(): the text cannot be read, or the trace
 * has no such time. Of several phases with the same name, the one with the highest peak is meant.
 */
#pragma once

#include "analyse/lifetimes/replay.h"

/* Reads a time, such as "12.5s", "350 ms" or "2min". */
int timepoint_time(const char *text, uint64_t *ns);

/* True for the forms "phase:NAME" and "mark:NAME". */
bool timepoint_is_named(const char *text);

/* Reads a bound of a span: a time; "phase:NAME", the phase's end if `end` is true, else its start;
 * "mark:NAME", the last mark with the name; or "mark:NAME#2", the second mark with the name. */
int timepoint_bound(const struct trace *trace, const char *text, bool end, uint64_t *ns);

/* True if the text is well-formed, whatever the trace contains; else err_text() has the reason. */
bool timepoint_makes_sense(const char *text);

/*
 * Reads a point in time. Sets the moment, window and device of `wish`, and no other member, and
 * writes a description to `what`, such as "at 12.5s". A peak is that of wish->device or, if this is
 * NO_DEVICE and `wish` selects no kind of memory, of the device with the highest peak. phase:NAME
 * is the time of the highest sum in the phase.
 */
int moment_find(struct replay_wish *wish, const struct trace *trace, const char *text, char *what,
		size_t size);
