/* Deferring signals on this thread while it does something that must not be left in the middle. */
#include "base/guest/signals.h"

#include <pthread.h>
#include <stddef.h>

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
