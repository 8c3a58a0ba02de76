/*
 * The cost of events to the traced program, measured there: the trace states it by kind.
 *
 * One event in so many is timed from the hook's entry to its return, less the time that the host's
 * own functions took meanwhile. A runtime call and the driver call beneath it are one event of two
 * hooks, so the watch runs in both and stands still in between.
 */
#ifndef CAPTURE_RECORDER_OVERHEAD_H
#define CAPTURE_RECORDER_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/layout.h"

enum { COST_EVERY = 61 }; /* a prime: programs allocate and free in turns */

/* Of this thread: events since the last that was timed; COST_EVERY: one is. */
extern _Thread_local uint32_t overhead_past;

/* The part of these that is out of line, where an event is timed. */
void overhead_start(bool first);
void overhead_stop(enum spool_cost_kind kind, bool last, bool event);

/*
 * On the way into a hook, or back from a function of the host's; `first`: none of this thread's
 * hooks is around it.
 */
static inline void overhead_enter(bool first)
{
	if (first)
		overhead_past++;
	if (__builtin_expect(overhead_past >= COST_EVERY, 0))
		overhead_start(first);
}

/*
 * On the way out or into a function of the host's, without the recorder's lock; `last`: out of the
 * outermost hook. `event`: whether it recorded one; without, nothing is counted.
 */
static inline void overhead_leave(enum spool_cost_kind kind, bool last, bool event)
{
	if (__builtin_expect(overhead_past >= COST_EVERY, 0))
		overhead_stop(kind, last, event);
}

#endif
