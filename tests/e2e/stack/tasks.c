/*
 * Several stacks a thread: tasks MODE [COUNT].
 *
 * leave: a task is given up by siglongjmp from a timer's handler, wherever it is, and its stack is
 * unmapped; COUNT tasks, on a thread whose own stack lies beneath theirs. preempt: a timer's
 * handler leads from task to task, of which COUNT come to their end while others are inside calls;
 * each has a stack of its own, which is unmapped then. preempt-16, preempt-64: the stacks are of so
 * many KiB, side by side in static memory, without a guard, and a new task has the one of the old.
 * preempt-ways: likewise, and nearly every allocation has a stack that was not seen before.
 * migrate: coroutines that each thread goes on with, COUNT rounds each. callback, wander: they give
 * way in the middle of cudaMalloc (libdetour.c), to others of one thread, of all.
 *
 * The first two are to be run with FAKE_CUDA_SIGNALS=1 and LD_BIND_NOW=1, for the loader has locks
 * of its own. Prints what was done.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	GUARD = 4096,
	STACK = 64 * 1024,
	TASKS = 4,  /* that are led from one to another */
	WAYS = 13,  /* bits: of so many stacks each is new */
	BLOCKS = 4, /* of a task at a time */
	LIFE = 120, /* rounds until it ends */
	PERIOD_US = 500,
	ROUTINES = 32,
	THREADS = 4,
	LEFT = 16, /* stacks of tasks that are given up, in turns */
};

static long count;
static atomic_long failed, calls;

static void take(void **ptr, size_t size)
{
	if (cudaMalloc(ptr, size))
		failed++;
	calls++;
}

static void give(void *ptr)
{
	if (cudaFree(ptr))
		failed++;
	calls++;
}

static bool by_ways;

/* Of the two calls a bit of `way` chooses one, so that each way is another stack. */
static __attribute__((noinline)) void take_by(unsigned way, int depth, void **ptr, size_t size)
{
	volatile char room = 0;

	if (!depth) {
		take(ptr, size);
	} else if (way & 1) {
		take_by(way >> 1, depth - 1, ptr, size);
		room = 1; /* neither is a tail call */
	} else {
		take_by(way >> 1, depth - 1, ptr, size);
		room = 2;
	}
	(void)room;
}

static void *map_stack(void *where)
{
	char *at = mmap(where, GUARD + STACK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);

	mprotect(at, GUARD, PROT_NONE);
	return at;
}

static void prepare(ucontext_t *context, void *stack, size_t size, void (*body)(void))
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = size;
	context->uc_link = NULL;
	sigemptyset(&context->uc_sigmask);
	makecontext(context, body, 0);
}

/* --- given up by a timer --- */

static sigjmp_buf out;
static volatile sig_atomic_t armed;

static void give_up(int signal)
{
	(void)signal;
	if (armed) {
		armed = 0;
		siglongjmp(out, 1);
	}
}

static void endless(void)
{
	for (;;) {
		void *ptr;

		take(&ptr, 4096);
		give(ptr);
	}
}

static void leave_one(timer_t timer, void *where)
{
	struct itimerspec soon = { .it_value = { 0, 60000 + rand() % 200000 } };
	static ucontext_t task;

	where = map_stack(where);
	if (!sigsetjmp(out, 1)) {
		prepare(&task, (char *)where + GUARD, STACK, endless);
		armed = 1;
		timer_settime(timer, 0, &soon, NULL);
		setcontext(&task);
	}
}

static void *leave(void *unused)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	static void *stacks[LEFT];
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	for (int i = 0; i < LEFT; i++)
		stacks[i] = map_stack(NULL);
	for (volatile long i = 0; i < count; i++) {
		void *ptr;

		leave_one(timer, stacks[i % LEFT]);
		munmap(stacks[i % LEFT], GUARD + STACK);
		take(&ptr, 8192);
		give(ptr);
	}
	return unused;
}

/* --- led from one to another by a timer --- */

static ucontext_t scheduler, tasks[TASKS];
static volatile int current;
static volatile bool ended;
static size_t stack_size = STACK;
static _Alignas(4096) char side_by_side[TASKS][STACK];

/* swapcontext() lets signals in before it is on the task's stack: one that comes then leads
 * nowhere. */
static void lead_on(int signal)
{
	const stack_t *stack = &tasks[current].uc_stack;

	if ((uintptr_t)&signal - (uintptr_t)stack->ss_sp < stack->ss_size)
		swapcontext(&tasks[current], &scheduler);
}

static void live(void)
{
	volatile char own[128]; /* nobody else writes there */
	static unsigned way;
	sigset_t all;

	for (int round = 0; round < LIFE; round++) {
		void *blocks[BLOCKS];

		memset((char *)own, current + 1, sizeof(own));
		for (int i = 0; i < BLOCKS; i++)
			take_by(way++, by_ways ? WAYS : 0, &blocks[i], 4096 * (size_t)(i + 1));
		for (int i = 0; i < BLOCKS; i++)
			give(blocks[i]);
		for (size_t i = 1; i < sizeof(own); i++)
			failed += own[i] != own[0];
	}
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	ended = true;
	setcontext(&scheduler);
}

static void begin_task(int which, bool guarded)
{
	static void *stacks[TASKS];

	if (!guarded) {
		prepare(&tasks[which], side_by_side[0] + (size_t)which * stack_size, stack_size,
			live);
		return;
	}
	if (stacks[which])
		munmap(stacks[which], GUARD + STACK);
	stacks[which] = map_stack(NULL);
	prepare(&tasks[which], (char *)stacks[which] + GUARD, STACK, live);
}

static void preempt(bool guarded)
{
	struct itimerval often = { { 0, PERIOD_US }, { 0, PERIOD_US } };
	struct sigaction action = { .sa_handler = lead_on, .sa_flags = SA_RESTART };
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL); /* of the scheduler alone */
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < TASKS; i++)
		begin_task(i, guarded);
	for (long done = 0; done < count; current = (current + 1) % TASKS) {
		swapcontext(&scheduler, &tasks[current]);
		if (!ended)
			continue;
		ended = false;
		done++;
		begin_task(current, guarded);
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

/* --- coroutines --- */

static struct routine {
	ucontext_t context, *back;
	int thread; /* whose it is, if each keeps to one */
	bool done;
} routines[ROUTINES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int waiting[ROUTINES], waiting_n, alive = ROUTINES;
static bool keeps, inside;
static _Thread_local struct routine *running;

/* Not inlined: it is asked anew on whichever thread this is. */
static __attribute__((noinline)) struct routine *own(void)
{
	struct routine *volatile routine = running;

	return routine;
}

static void give_way(void)
{
	struct routine *routine = own();

	if (routine)
		swapcontext(&routine->context, routine->back);
}

static __attribute__((noinline)) void pair_at(int depth, size_t size)
{
	volatile char room[512];
	void *ptr;

	room[0] = (char)depth;
	if (depth) {
		pair_at(depth - 1, size + (size_t)room[0] * 512);
		room[1] = 1; /* it is no tail call */
		return;
	}
	take(&ptr, size);
	if (!inside)
		give_way();
	give(ptr);
}

static void routine_body(void)
{
	for (long i = 0; i < count; i++)
		pair_at((int)(i % 13), 512);
	own()->done = true;
	give_way();
}

/* -1: none yet, -2: never again. */
static int next_of(int thread)
{
	int found = -1;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < waiting_n && found < 0; i++) {
		if (keeps && routines[waiting[i]].thread != thread)
			continue;
		found = waiting[i];
		waiting_n--;
		memmove(waiting + i, waiting + i + 1, (size_t)(waiting_n - i) * sizeof(*waiting));
	}
	if (found < 0 && !alive)
		found = -2;
	pthread_mutex_unlock(&lock);
	return found;
}

static void *work(void *number)
{
	int thread = (int)(intptr_t)number;
	int which;

	while ((which = next_of(thread)) != -2) {
		struct routine *routine;
		ucontext_t here;

		if (which < 0) {
			usleep(100);
			continue;
		}
		running = routine = &routines[which];
		routine->back = &here;
		swapcontext(&here, &routine->context);
		running = NULL;
		pthread_mutex_lock(&lock);
		if (routine->done) {
			munmap((char *)routine->context.uc_stack.ss_sp - GUARD, GUARD + STACK);
			alive--;
		} else {
			waiting[waiting_n++] = which;
		}
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void run_routines(void)
{
	void (**detour)(void) = (void (**)(void))dlsym(RTLD_DEFAULT, "detour");
	pthread_t threads[THREADS];

	if (inside && !detour)
		failed++;
	else if (inside)
		*detour = give_way;
	for (int i = 0; i < ROUTINES; i++) {
		prepare(&routines[i].context, (char *)map_stack(NULL) + GUARD, STACK, routine_body);
		routines[i].thread = i % THREADS;
		waiting[waiting_n++] = i;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	struct sigaction action = { .sa_handler = give_up };
	pthread_t thread;
	void *ptr;

	count = argc > 2 ? atol(argv[2]) : 100;
	take(&ptr, 1 << 20);
	if (!strcmp(mode, "leave")) {
		sigaction(SIGALRM, &action, NULL);
		pthread_create(&thread, NULL, leave, NULL);
		pthread_join(thread, NULL);
	} else if (!strncmp(mode, "preempt", 7)) {
		by_ways = !strcmp(mode, "preempt-ways");
		if (mode[7] && !by_ways)
			stack_size = (size_t)atoi(mode + 8) * 1024;
		preempt(!mode[7] || by_ways);
	} else {
		keeps = !strcmp(mode, "callback");
		inside = keeps || !strcmp(mode, "wander");
		run_routines();
	}
	give(ptr);
	printf("%s %ld: failed=%ld\n", mode, count, failed);
	fprintf(stderr, "calls=%ld\n", calls);
	return failed != 0;
}
