/* Defers signals and cancellation on a thread of the traced program. */
#pragma once

#include <signal.h>

/*
 * signals_defer() defers cancellation (open() is a cancellation point) and all signals, except
 * those that the thread's own instructions raise, until signals_deliver(). This is for work that
 * must not be interrupted, because a handler may jump out of it, or enter it again. Pairs may nest.
 * Each call is a system call, so they are for rare work, not for every call of a hook.
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
