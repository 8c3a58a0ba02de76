/* Defers signals on this thread during work that must not be interrupted. */
#include "base/guest/signals.h"

#include <pthread.h>
#include <stddef.h>

#include "base/mem/each.h"

struct signals_deferred signals_defer(void)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	struct signals_deferred deferred;
	sigset_t all;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &deferred.cancel);
	sigfillset(&all);
	for (size_t i = 0; i < COUNT_OF(own); i++)
		sigdelset(&all, own[i]);
	sigprocmask(SIG_BLOCK, &all, &deferred.before); /* cannot fail with valid arguments */
	return deferred;
}

void signals_deliver(const struct signals_deferred *deferred)
{
	sigprocmask(SIG_SETMASK, &deferred->before, NULL);
	pthread_setcancelstate(deferred->cancel, NULL);
}
