/* Signals of a thread of the host: those that our own work raises, and all of them for a while. */
#ifndef BASE_GUEST_SIGNALS_H
#define BASE_GUEST_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

struct signals_held {
	sigset_t before;
	sigset_t pending; /* the host's own: they stay */
};

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

/*
 * Those that a write can raise: SIGPIPE of a closed stderr, SIGXFSZ of a file size limit, SIGTTOU
 * and SIGTTIN of a terminal that belongs to another job (a thread that blocks SIGTTOU may write to
 * it). What our own write raised is taken away again: the host sees nothing.
 */
void signals_hold(struct signals_held *held);
void signals_release(const struct signals_held *held);

#endif
