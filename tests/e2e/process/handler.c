/*
 * A thread that is interrupted in the middle of calls: handler HOW. Prints what it did.
 *
 * calls: the handler makes calls, too. jump: it leaves by siglongjmp. exit: the hundredth ends the
 * program. cancel: threads are cancelled wherever they are, and another goes on. (Calls are those
 * of memtrace.h: the driver, simulated or real, has locks of its own that a handler would wait
 * for.)
 */
#include <memtrace/memtrace.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIGNALS = 500, THREADS = 60, LAST = 7 };

static memtrace_pool pool;
static char segment[1 << 20];
static const char *how;
static pthread_t worker;
static atomic_ulong signals, pairs;
static atomic_bool over;
static sigjmp_buf back;

static void pair(char *at)
{
	memtrace_pool_alloc(pool, at, 512);
	memtrace_pool_free(pool, at);
}

static void handle(int number)
{
	(void)number;
	signals++;
	if (!strcmp(how, "calls"))
		pair(segment + 4096);
	else if (!strcmp(how, "jump"))
		siglongjmp(back, 1);
	else if (signals == 100)
		exit(0);
}

static void *send(void *unused)
{
	for (int i = 0; i < SIGNALS; i++) {
		unsigned long before = signals;

		pthread_kill(worker, SIGUSR1);
		while (signals == before)
			;
	}
	over = true;
	return unused;
}

static void be_interrupted(void)
{
	struct sigaction action = { .sa_handler = handle };
	static pthread_t sender; /* not in what a jump may undo */

	worker = pthread_self();
	sigaction(SIGUSR1, &action, NULL);
	if (!sigsetjmp(back, 1) && pthread_create(&sender, NULL, send, NULL))
		_exit(99);
	while (!over) {
		pair(segment);
		pairs++;
	}
	pthread_join(sender, NULL);
}

static void *be_cancelled(void *at)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		pair(at);
		pairs++;
	}
	return NULL;
}

static void cancel_others(void)
{
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, be_cancelled, segment + 8192))
			_exit(99);
		for (unsigned long before = pairs; pairs < before + 20;)
			usleep(10);
		for (int k = 0; k < i; k++)
			pair(segment);
		pthread_cancel(thread);
		pthread_join(thread, NULL);
	}
	for (int i = 0; i < LAST; i++)
		pair(segment + 16384);
}

int main(int argc, char **argv)
{
	how = argc == 2 ? argv[1] : "calls";
	pool = memtrace_pool_create("pool");
	memtrace_pool_reserve(pool, segment, sizeof(segment));
	if (!strcmp(how, "cancel"))
		cancel_others();
	else
		be_interrupted();
	printf("pairs=%lu signals=%lu\n", (unsigned long)pairs, (unsigned long)signals);
	return 0;
}
