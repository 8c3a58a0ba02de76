/* Holding one signal back on this thread while we write. */
#include "base/signals.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static sigset_t only(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	return set;
}

static bool is_pending(int signal)
{
	sigset_t pending;

	return !sigpending(&pending) && sigismember(&pending, signal) == 1;
}

int cancel_hold(void)
{
	int before = PTHREAD_CANCEL_ENABLE;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

void cancel_release(int before)
{
	pthread_setcancelstate(before, &before);
}

void signals_hold(struct signals_held *held, int signal)
{
	const sigset_t set = only(signal);

	held->signal = signal;
	held->was_pending = is_pending(signal);
	held->active = !pthread_sigmask(SIG_BLOCK, &set, &held->before);
}

void signals_release(struct signals_held *held)
{
	const struct timespec none = { 0, 0 };
	const sigset_t set = only(held->signal);

	if (!held->active)
		return;
	if (!held->was_pending && is_pending(held->signal)) {
		while (sigtimedwait(&set, NULL, &none) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}
