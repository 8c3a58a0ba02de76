/* Deferring the signals of a thread of the host. */
#pragma once

#include <signal.h>

/*
 * Defers cancellation and all signals except those that the thread's own instructions raise (open()
 * is a cancellation point). It is for work that must not be left in the middle: a handler may jump
 * out of it, or enter it again. Deferrals nest. Each of the two functions makes a system call, so
 * they are for rare work and not for each call of a hook.
 */
struct signals_deferred {
	sigset_t before;
	int cancel;
};

void signals_defer(struct signals_deferred *deferred);
void signals_deliver(const struct signals_deferred *deferred);
