/* Holding signals back on this thread while we write, or must not be left in the middle. */
#include "base/guest/signals.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static const int of_writes[] = { SIGPIPE, SIGXFSZ, SIGTTOU, SIGTTIN };

enum { OF_WRITES = sizeof(of_writes) / sizeof(of_writes[0]) };

void signals_defer(struct signals_deferred *deferred)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	sigset_t all;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &deferred->cancel);
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_BLOCK, &all, &deferred->before); /* such arguments cannot fail */
}

void signals_deliver(const struct signals_deferred *deferred)
{
	pthread_sigmask(SIG_SETMASK, &deferred->before, NULL);
	pthread_setcancelstate(deferred->cancel, NULL);
}

void signals_hold(struct signals_held *held)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < OF_WRITES; i++)
		sigaddset(&set, of_writes[i]);
	sigpending(&held->pending);
	pthread_sigmask(SIG_BLOCK, &set, &held->before);
}

void signals_release(const struct signals_held *held)
{
	const struct timespec none = { 0, 0 };

	for (size_t i = 0; i < OF_WRITES; i++) {
		sigset_t raised;

		if (sigismember(&held->pending, of_writes[i]) == 1)
			continue;
		sigemptyset(&raised);
		sigaddset(&raised, of_writes[i]);
		while (sigtimedwait(&raised, NULL, &none) < 0 && errno == EINTR)
			;
	}
	pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}
