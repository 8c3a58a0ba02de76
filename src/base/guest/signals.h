/* Signals of a thread of the host, held back for a while. */
#pragma once

#include <signal.h>

/*
 * All signals but those that the thread's own instructions raise, and cancellation (open() is
 * such a point), while it is at something that must not be left in the middle: a handler may jump
 * out of it, or enter it again.
 * They nest. Two system calls each: for what is done once, not for each call.
 */
struct signals_deferred {
	sigset_t before;
	int cancel;
};

void signals_defer(struct signals_deferred *deferred);
void signals_deliver(const struct signals_deferred *deferred);
