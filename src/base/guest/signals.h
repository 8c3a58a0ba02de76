/* Defers signals and cancellation on a thread of the traced program. */
#pragma once

#include <signal.h>

/*
 * signals_defer() defers thread cancellation (open() is a cancellation point) and all signals,
 * except those that the thread's own instructions raise, until signals_deliver(). It is for work
 * that a signal handler must not interrupt, as the handler may jump out of it or enter it again.
 * Pairs of calls may nest. Each is a system call, so they are for rare work, not for every event.
 */
struct signals_deferred {
	sigset_t before;
	int cancel;
};

struct signals_deferred signals_defer(void);
void signals_deliver(const struct signals_deferred *deferred);

/* Defers them from here to the end of the block. */
#define SIGNALS_DEFERRED()                                                                         \
	__attribute__((unused, cleanup(signals_deliver))) const struct signals_deferred deferred = \
		signals_defer()
