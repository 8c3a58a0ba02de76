/*
 * What is controlled while it runs: control THREADS [TOGGLES]. Threads take and give back blocks
 * until the file `stop` is there and, with TOGGLES, recording was stopped and started so often by
 * the program itself. Its number stands in the file `pid` once it has allocated. `control idle`
 * allocates once, and then only when the file `again` is there.
 */
#include <cuda_runtime.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memtrace/memtrace.h"

enum { THREADS = 16, HELD = 16, PAUSE_US = 100 };

static atomic_int toggles;

static void must(int failed)
{
	if (!failed)
		return;
	perror("control");
	exit(99);
}

static void *take(unsigned roll)
{
	void *ptr = NULL;

	if (roll % 5 == 0)
		must(cudaMallocHost(&ptr, (size_t)4096 * (1 + roll % 7)));
	else if (roll % 5 == 1)
		must(cudaMallocManaged(&ptr, (size_t)65536 * (1 + roll % 7), cudaMemAttachGlobal));
	else
		must(cudaMalloc(&ptr, (size_t)256 * (1 + roll % 9999)));
	return ptr;
}

static void give(unsigned roll, void *ptr)
{
	must(roll % 5 == 0 ? cudaFreeHost(ptr) : cudaFree(ptr));
}

static int over(void)
{
	return atomic_load(&toggles) <= 0 && !access("stop", F_OK);
}

static void *churn(void *argument)
{
	unsigned chance = (unsigned)(size_t)argument * 7919 + 1;
	unsigned rolls[HELD] = { 0 };
	void *held[HELD] = { NULL };

	while (!over()) {
		unsigned at = (chance >> 8) % HELD;

		if (held[at])
			give(rolls[at], held[at]);
		rolls[at] = (chance >> 13) % 100003;
		held[at] = take(rolls[at]);
		chance = chance * 1664525 + 1013904223;
		usleep(PAUSE_US);
	}
	for (unsigned i = 0; i < HELD; i += 2) {
		if (held[i])
			give(rolls[i], held[i]);
	}
	return NULL;
}

static void *toggle(void *unused)
{
	while (atomic_fetch_sub(&toggles, 1) > 0) {
		if (atomic_load(&toggles) % 2)
			memtrace_stop();
		else
			memtrace_start();
		usleep(PAUSE_US);
	}
	memtrace_start();
	return unused;
}

static void tell_pid(void)
{
	char text[24];
	int fd = open("pid.new", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int length = snprintf(text, sizeof(text), "%d\n", (int)getpid());

	must(fd < 0 || write(fd, text, (size_t)length) != length || close(fd) ||
	     rename("pid.new", "pid"));
}

static int idle(void)
{
	void *ptr = take(2);

	tell_pid();
	while (access("again", F_OK))
		usleep(PAUSE_US);
	give(2, ptr);
	while (access("stop", F_OK))
		usleep(PAUSE_US);
	return 0;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[THREADS + 1];

	if (argc > 1 && !strcmp(argv[1], "idle"))
		return idle();
	if (threads > THREADS)
		threads = THREADS;
	atomic_store(&toggles, argc > 2 ? atoi(argv[2]) : 0);
	take(2);
	tell_pid();
	for (int i = 0; i < threads; i++)
		must(pthread_create(&thread[i], NULL, churn, (void *)(size_t)i));
	if (toggles)
		must(pthread_create(&thread[threads++], NULL, toggle, NULL));
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
