/*
 * jumps(SEED, COUNT): so many of this thread's calls are left by siglongjmp() from a timer's
 * handler, at moments by chance. The runtime has loaded the driver before: what it holds then is
 * its own affair.
 */
#include <cuda_runtime.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int jumps(unsigned seed, int count);

static sigjmp_buf out;
static volatile sig_atomic_t armed;

static void leave(int signal)
{
	(void)signal;
	if (armed) {
		armed = 0;
		siglongjmp(out, 1);
	}
}

static void call(timer_t timer)
{
	struct itimerspec soon = { { 0, 0 }, { 0, 1000 + rand() % 300000 } };

	if (sigsetjmp(out, 1))
		return;
	armed = 1;
	timer_settime(timer, 0, &soon, NULL);
	for (;;) {
		void *ptr;

		cudaMalloc(&ptr, 4096);
		cudaFree(ptr);
	}
}

int jumps(unsigned seed, int count)
{
	struct sigaction action = { .sa_handler = leave };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	timer_t timer;

	srand(seed);
	cudaDeviceSynchronize();
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	sigaction(SIGUSR1, &action, NULL);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	for (int i = 0; i < count; i++)
		call(timer);
	timer_delete(timer);
	return count;
}
