/*
 * Stacks that are small, and stacks that a thread leaves: stacks CASE [SIZE [first]]; `stacks`
 * alone lists.
 *
 * Cases of the first table run on a thread whose stack has SIZE bytes and a page without access
 * beneath, those of the second on the first thread, with an alternate stack of SIZE bytes for its
 * signals. The third is of tasks: a thread that has several stacks, some of which are gone while it
 * goes on. `first`: nothing was called before. To be run with FAKE_CUDA_SIGNALS=1, for
 * a handler comes in the middle of the driver.
 */
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <memtrace/memtrace.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { WELL = 7, TASK = 1 << 16, PLACES = 64, TASKS = 48, ROUNDS = 60, WORKERS = 3 };

static size_t size = 16384;
static bool warm = true;

static void must(int failed)
{
	if (failed)
		_exit(99);
}

static void pair(void)
{
	void *ptr;

	must(cudaMalloc(&ptr, 4096));
	must(cudaFree(ptr));
}

/* Of so many sizes that they fill tables. */
static void blocks(int count)
{
	for (int i = 0; i < count; i++) {
		void *ptr;

		must(cudaMalloc(&ptr, 4096 + (size_t)i * 512));
		if (i % 2)
			must(cudaFree(ptr));
	}
}

/* With a page beneath that may not be touched. */
static char *stack_of(size_t bytes)
{
	char *stack = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	must(stack == MAP_FAILED || mprotect(stack, 4096, PROT_NONE));
	return stack + 4096;
}

/* --- on a thread with a small stack ---------------------------------------------------------- */

static void just_calls(void)
{
	pair();
}

static void takes_many(void)
{
	blocks(3000);
}

static void fills_the_device(void)
{
	void *ptr = NULL;

	must(!cudaMalloc(&ptr, (size_t)1 << 46));
}

static void resets(void)
{
	pair();
	must(cudaDeviceReset());
	pair();
}

static void loads(void)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);

	must(!library);
	dlclose(library);
	pair();
}

static void marks(void)
{
	for (int i = 0; i < 4; i++) {
		memtrace_mark("mark");
		memtrace_push("phase");
		pair();
		memtrace_pop();
	}
}

static void dumps(void)
{
	memtrace_dump("dump.json");
	pair();
}

/* MEMTRACE_SIGNAL=USR2:dump, and the next call is one of this thread. */
static void dumps_by_signal(void)
{
	struct sigaction action;

	sigaction(SIGUSR2, NULL, &action);
	if (action.sa_handler == SIG_DFL)
		signal(SIGUSR2, SIG_IGN); /* nobody waits for it */
	for (int i = 0; i < 5; i++) {
		raise(SIGUSR2);
		pair();
	}
}

static void exits(void)
{
	pair();
	exit(WELL);
}

static void exits_after_many(void)
{
	blocks(3000);
	exit(WELL);
}

static void forks(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		exit(3);
	waitpid(child, &status, 0);
	must(status != 3 << 8);
}

/* A child may use CUDA where its parent has not begun. */
static void forks_first(void)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		pair();
		exit(3);
	}
	waitpid(child, &status, 0);
	must(status != 3 << 8);
}

/* --- on an alternate stack ------------------------------------------------------------------- */

static void handle_exit(int number)
{
	(void)number;
	exit(5);
}

static void handle_pair(int number)
{
	(void)number;
	pair();
}

static atomic_int deepest = 1 << 30;

static int too_deep(int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	return depth < deepest ? too_deep(depth + 1) + frame[0] : frame[0];
}

static void alternate(int number, void (*handler)(int))
{
	stack_t stack = { .ss_size = size };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	stack.ss_sp = stack_of(size);
	must(sigaltstack(&stack, NULL) || sigaction(number, &action, NULL));
}

static void handler_calls(void)
{
	alternate(SIGALRM, handle_pair);
	for (int i = 0; i < 10; i++)
		raise(SIGALRM);
}

static void handler_exits(void)
{
	blocks(500);
	alternate(SIGTERM, handle_exit);
	raise(SIGTERM);
}

static void overflow_exits(void)
{
	blocks(500);
	alternate(SIGSEGV, handle_exit);
	too_deep(0);
}

/* --- tasks ----------------------------------------------------------------------------------- */

static sigjmp_buf out;
static ucontext_t here, tasks[TASKS];
static volatile sig_atomic_t armed;
static atomic_bool over;

static void leave(int number)
{
	(void)number;
	if (armed) {
		armed = 0;
		siglongjmp(out, 1);
	}
}

static void call_for_ever(void)
{
	for (;;) {
		void *ptr;

		cudaMalloc(&ptr, 4096);
		cudaFree(ptr);
	}
}

static timer_t timer_of(int number)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number };
	struct sigaction action = { .sa_handler = leave };
	timer_t timer;

	event._sigev_un._tid = (int)syscall(SYS_gettid);
	must(timer_create(CLOCK_MONOTONIC, &event, &timer) || sigaction(number, &action, NULL));
	return timer;
}

static void set(timer_t timer)
{
	struct itimerspec soon = { { 0, 0 }, { 0, 60000 + rand() % 200000 } };

	armed = 1;
	timer_settime(timer, 0, &soon, NULL);
}

/* A task is given up where a timer finds it, and its stack goes with it. */
static void *give_up_tasks(void *unused)
{
	static char *places[PLACES];
	timer_t timer = timer_of(SIGALRM);

	for (int i = 0; i < PLACES; i++)
		places[i] = mmap(NULL, TASK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (volatile int i = 0; i < 1500; i++) {
		char *stack = mmap(places[i % PLACES], TASK, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

		if (!sigsetjmp(out, 1)) {
			getcontext(&tasks[0]);
			tasks[0].uc_stack.ss_sp = stack;
			tasks[0].uc_stack.ss_size = TASK;
			tasks[0].uc_link = &here;
			makecontext(&tasks[0], call_for_ever, 0);
			set(timer);
			setcontext(&tasks[0]);
		}
		munmap(places[i % PLACES], TASK);
		pair();
	}
	return unused;
}

/* Its stack lies beneath those of its tasks. */
static void given_up(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, give_up_tasks, NULL));
	pthread_join(thread, NULL);
}

/* The same without a stack of its own; and a thread that is born afterwards runs. */
static void *jump_out(void *unused)
{
	timer_t timer = timer_of(SIGUSR1);

	for (volatile int i = 0; i < 1500; i++) {
		if (!sigsetjmp(out, 1)) {
			set(timer);
			call_for_ever();
		}
	}
	return unused;
}

static void *nothing(void *unused)
{
	return unused;
}

static void jumped_out(void)
{
	pthread_t thread;

	must(pthread_create(&thread, NULL, jump_out, NULL));
	pthread_join(thread, NULL);
	must(pthread_create(&thread, NULL, nothing, NULL));
	pthread_join(thread, NULL);
	pair();
}

static int current, count = 4;

static void next_task(int number)
{
	int was = current;

	(void)number;
	current = (current + 1) % count;
	swapcontext(&tasks[was], &tasks[current]);
}

/* A task is begun with the alarm blocked: one that came while swapcontext() reads the task's
 * context would let next_task() write over it. */
static void until_over(void)
{
	sigset_t all;

	sigemptyset(&all);
	sigaddset(&all, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
	while (!over)
		pair();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setcontext(&here);
}

static void *end_soon(void *unused)
{
	sleep(2);
	over = true;
	return unused;
}

/* The scheduler is a timer's handler: a call is left in its middle and gone on with later. */
static void preempted(void)
{
	struct sigaction action = { .sa_handler = next_task, .sa_flags = SA_RESTART };
	struct itimerval tick = { { 0, 100 }, { 0, 100 } };
	volatile bool begun = false;
	pthread_t thread;
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	must(pthread_create(&thread, NULL, end_soon, NULL));
	for (int i = 0; i < count; i++) {
		getcontext(&tasks[i]);
		tasks[i].uc_stack.ss_sp = stack_of(TASK * 4);
		tasks[i].uc_stack.ss_size = TASK * 4;
		makecontext(&tasks[i], until_over, 0);
	}
	sigaction(SIGALRM, &action, NULL);
	getcontext(&here);
	if (!begun) {
		begun = true;
		setitimer(ITIMER_REAL, &tick, NULL);
		setcontext(&tasks[0]);
	}
	memset(&tick, 0, sizeof(tick));
	setitimer(ITIMER_REAL, &tick, NULL);
	pthread_join(thread, NULL);
}

static ucontext_t *volatile back[TASKS];
static int ready[TASKS], first_ready, ready_count;
static atomic_int living;
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) int deep(int depth)
{
	volatile char frame[64];

	frame[0] = (char)depth;
	if (depth)
		return deep(depth - 1) + frame[0];
	pair();
	return frame[0];
}

static void migrate(int task)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *kept;

		must(cudaMalloc(&kept, 8192));
		deep(i % 20);
		swapcontext(&tasks[task], back[task]);
		deep(i % 7);
		must(cudaFree(kept));
	}
	setcontext(back[task]);
}

static int take(void)
{
	int task = -1;

	pthread_mutex_lock(&queue);
	if (ready_count) {
		task = ready[first_ready];
		first_ready = (first_ready + 1) % TASKS;
		ready_count--;
	}
	pthread_mutex_unlock(&queue);
	return task;
}

static void *work(void *unused)
{
	ucontext_t own;

	while (living > 0) {
		static int left[TASKS];
		int task = take();

		if (task < 0) {
			sched_yield();
			continue;
		}
		back[task] = &own;
		swapcontext(&own, &tasks[task]);
		pthread_mutex_lock(&queue);
		if (++left[task] > ROUNDS) {
			living--;
			munmap(tasks[task].uc_stack.ss_sp, TASK / 2);
		} else {
			ready[(first_ready + ready_count++) % TASKS] = task;
		}
		pthread_mutex_unlock(&queue);
	}
	return unused;
}

/* Each goes on on whichever thread is free, in the middle of its stack. */
static void migrating(void)
{
	pthread_t threads[WORKERS];

	for (int i = 0; i < TASKS; i++) {
		getcontext(&tasks[i]);
		tasks[i].uc_stack.ss_sp = stack_of(TASK / 2);
		tasks[i].uc_stack.ss_size = TASK / 2;
		makecontext(&tasks[i], (void (*)(void))migrate, 1, i);
		ready[ready_count++] = i;
	}
	living = TASKS;
	for (int i = 0; i < WORKERS; i++)
		must(pthread_create(&threads[i], NULL, work, NULL));
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
}

/* --- the tables ------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*run)(void);
} small[] = {
	{ "calls", just_calls },
	{ "many", takes_many },
	{ "oom", fills_the_device },
	{ "reset", resets },
	{ "dlopen", loads },
	{ "marks", marks },
	{ "dump", dumps },
	{ "dump-by-signal", dumps_by_signal },
	{ "exit", exits },
	{ "exit-after-many", exits_after_many },
	{ "fork-exit", forks },
	{ "fork-exit-first", forks_first },
}, alternates[] = {
	{ "handler-calls", handler_calls },
	{ "handler-exits", handler_exits },
	{ "overflow-exits", overflow_exits },
}, of_tasks[] = {
	{ "given-up", given_up },
	{ "jumped-out", jumped_out },
	{ "preempted", preempted },
	{ "migrating", migrating },
};

static void *run_small(void *at)
{
	small[*(size_t *)at].run();
	return at;
}

static void on_small(size_t at)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	must(pthread_attr_setstack(&attributes, stack_of(size), size));
	must(pthread_create(&thread, &attributes, run_small, &at));
	pthread_join(thread, NULL);
}

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (argc > 2)
		size = strtoul(argv[2], NULL, 0);
	warm = argc < 4 || strcmp(argv[3], "first") != 0;
	if (name && warm && strcmp(name, "fork-exit-first") != 0)
		blocks(10);
	for (size_t i = 0; i < COUNT(small); i++) {
		if (!name)
			printf("small %s\n", small[i].name);
		else if (!strcmp(small[i].name, name))
			on_small(i);
	}
	for (size_t i = 0; i < COUNT(alternates); i++) {
		if (!name)
			printf("alternate %s\n", alternates[i].name);
		else if (!strcmp(alternates[i].name, name))
			alternates[i].run();
	}
	for (size_t i = 0; i < COUNT(of_tasks); i++) {
		if (!name)
			printf("tasks %s\n", of_tasks[i].name);
		else if (!strcmp(of_tasks[i].name, name))
			of_tasks[i].run();
	}
	if (name)
		puts("end");
	return name ? WELL : 0;
}
