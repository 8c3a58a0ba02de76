/* Defers signals and cancellation on a thread of the traced program. */
#pragma once

#include <signal.h>

/*
 * signals_defer() defers thread cancellation (open() is a cancellation point) and all signals,
 * except those that the thread's own instructions raise, until signals_deliver(). It is for work
 * that a signal handler must not interrupt, as the handler may jump out of it or enter it again.
 * Pairs of calls may nest. Each call is a system call, so it is for rare work, not for each event.
 */
struct signals_deferred {
	sigset_t before;
	int cancel;
};

struct signals_deferred signals_defer(void);
void signals_deliver(const struct signals_deferred *deferred);

/* Defers signals and cancellation from here to the end of the enclosing block. */
#define SIGNALS_DEFERRED()                                                                         \
	__attribute__((unused, cleanup(signals_deliver))) const struct signals_deferred deferred = \
		signals_defer()
