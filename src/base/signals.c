/* Holding signals back on this thread while we write, or must not be left in the middle. */
#include "base/signals.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
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

void signals_defer(struct signals_deferred *deferred)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	sigset_t all;

	deferred->cancel = cancel_hold();
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_BLOCK, &all, &deferred->before); /* such arguments cannot fail */
}

void signals_deliver(const struct signals_deferred *deferred)
{
	pthread_sigmask(SIG_SETMASK, &deferred->before, NULL);
	cancel_release(deferred->cancel);
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
