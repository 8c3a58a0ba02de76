/*
 * Signals that arrive while calls are being recorded: signals calls|stack|fork|jump|exit [SIGNALS].
 *
 * Four threads make calls; a timer at 10 kHz and a thread that sends signals interrupt them
 * wherever they are: with a lock of the library held, in the middle of a stack walk. Each handler
 * allocates and frees device memory itself, on its thread's stack or (stack) on another. `fork`: it
 * also forks, now and then: the child goes on where its thread was, books a pool of its own (a real
 * driver would not serve it) and ends. `jump`: it leaves by siglongjmp. `exit`: the 300th ends the
 * program. To be run with FAKE_CUDA_SIGNALS=1, for a handler must not call the driver in the middle
 * of the driver. Prints what was done.
 */
#include <cuda.h>
#include <cuda_runtime.h>
#include <errno.h>
#include <memtrace/memtrace.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	THREADS = 4,
	STACK = 64 * 1024,
	PERIOD_US = 100,
	FORK_EVERY = 50,
	FORKS = 60,
	EXIT_AT = 300,
	AFTER = 50, /* blocks of a child, and pairs of each thread when the signals are over */
};

static atomic_long handled, failed, changed, done, forked;
static long signals = 1000;
static bool on_other_stack, forks, jumps, exits;
static pthread_barrier_t begun, quiet;
static pthread_t threads[THREADS];
static atomic_bool over;
static CUcontext context;
static _Thread_local sigjmp_buf back;
static _Thread_local volatile bool ready, is_child;

/* A child was made in the middle of a call here, and has only this thread. */
static void end_child(void)
{
	static char segment[1 << 20];
	memtrace_pool pool = memtrace_pool_create("child");

	memtrace_pool_reserve(pool, segment, sizeof(segment));
	for (int i = 0; i < AFTER; i++)
		memtrace_pool_alloc(pool, segment + i * 1024, 1024);
	_exit(failed ? 8 : 7);
}

static void pair(size_t size)
{
	void *ptr = NULL;

	if (cudaMalloc(&ptr, size) && !is_child)
		failed++;
	done++;
	if (is_child)
		end_child();
	if (cudaFree(ptr) && !is_child)
		failed++;
	done++;
	if (is_child)
		end_child();
}

static void fork_here(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		is_child = true;
		return;
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 7 << 8)
		failed++;
}

static void handler(int signal)
{
	int saved = errno;
	long number = atomic_fetch_add(&handled, 1) + 1;

	(void)signal;
	if (is_child)
		return;
	errno = 4321;
	pair(512);
	changed += errno != 4321;
	if (forks && number % FORK_EVERY == 0 && atomic_fetch_add(&forked, 1) < FORKS)
		fork_here();
	if (exits && number == EXIT_AT)
		exit(5);
	errno = saved;
	if (jumps && ready)
		siglongjmp(back, 1);
}

static void take_other_stack(void)
{
	stack_t stack = { .ss_size = STACK };

	stack.ss_sp = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&stack, NULL);
}

static void block(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(how, &set, NULL);
}

static void *work(void *unused)
{
	if (on_other_stack)
		take_other_stack();
	cuCtxSetCurrent(context);
	pair(4096); /* the runtime makes a context the thread's under a lock of its own */
	pthread_barrier_wait(&begun);
	sigsetjmp(back, 1);
	ready = true;
	block(SIG_UNBLOCK);
	while (!over)
		pair(4096);
	block(SIG_BLOCK);
	/* Who jumped in between the taking of a lock and the word where its frame is, knows that
	 * alone: its next call gives the lock back, which the others wait for. */
	pair(4096);
	pthread_barrier_wait(&quiet);
	for (int i = 0; i < AFTER; i++)
		pair(8192);
	return unused;
}

static void *send(void *unused)
{
	struct itimerval never = { { 0, 0 }, { 0, 0 } };

	for (int i = 0; handled < signals || exits; i++) {
		pthread_kill(threads[i % THREADS], SIGUSR1);
		usleep(PERIOD_US);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	over = true;
	return unused;
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, PERIOD_US }, { 0, PERIOD_US } };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	const char *mode = argc > 1 ? argv[1] : "calls";
	pthread_t sender;

	on_other_stack = !strcmp(mode, "stack");
	forks = !strcmp(mode, "fork");
	jumps = !strcmp(mode, "jump");
	exits = !strcmp(mode, "exit");
	signals = argc > 2 ? atol(argv[2]) : signals;
	if (forks) /* the simulated driver has a lock at a fork */
		sigaddset(&action.sa_mask, SIGALRM), sigaddset(&action.sa_mask, SIGUSR1);
	action.sa_flags |= on_other_stack ? SA_ONSTACK : 0;
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGUSR1, &action, NULL);
	block(SIG_BLOCK);
	cuInit(0);
	cuDevicePrimaryCtxRetain(&context, 0);
	pthread_barrier_init(&begun, NULL, THREADS + 1);
	pthread_barrier_init(&quiet, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	pthread_barrier_wait(&begun);
	pthread_create(&sender, NULL, send, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	pthread_join(sender, NULL);
	pthread_barrier_wait(&quiet);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("handled=%d failed=%ld errno=%ld forks=%ld calls=%ld\n", handled > 0, failed,
	       changed, forked < FORKS ? forked : FORKS, done);
	return 0;
}
