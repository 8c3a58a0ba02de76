/* Runs work on a separate stack, or on a separate thread with its own descriptor table. */
#include "base/guest/own_stack_and_thread.h"

#ifndef MEMTRACE_LIBRARY

void own_stack_call(void (*work)(void *), void *argument)
{
	work(argument);
}

int own_thread_run(int (*work)(void *), void *argument, bool lengthy)
{
	(void)lengthy;
	return work(argument);
}

void own_thread_rest(void)
{
}

void own_thread_forked(void)
{
}

#else

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/guest/raw_call.h"
#include "base/guest/signals.h"
#include "base/mem/each.h"

/* --- stacks --- */

enum {
	STACKS = 16,
	STACK_BYTES = 512 << 10, /* pages that are never touched take no memory */
	GUARD = 64 << 10,        /* bytes of the guard area: at least a page on any machine */
};

/* The stacks of own_stack_call(). They stay mapped for reuse; most processes need only one. */
static struct {
	atomic_bool taken;
	char *stack;
} stacks[STACKS];

static _Thread_local bool on_own_stack;

/*
 * void own_stack_switch(void *argument, void (*work)(void *), void *top): calls work(argument) on
 * the stack below `top`. The frame pointer holds the address of the caller's stack, for the return
 * and for unwinders.
 */
void own_stack_switch(void *argument, void (*work)(void *), void *top);

__asm__(".pushsection .text\n"
	".hidden own_stack_switch\n"
	".globl own_stack_switch\n"
	".type own_stack_switch, %function\n"
	"own_stack_switch:\n"
	"	.cfi_startproc\n"
#if defined(__x86_64__)
	"	endbr64\n"
	"	push %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp, -16\n"
	"	mov %rsp, %rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	mov %rdx, %rsp\n"
	"	call *%rsi\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa %rsp, 8\n"
#elif defined(__aarch64__)
	"	stp x29, x30, [sp, #-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset x29, -16\n"
	"	.cfi_offset x30, -8\n"
	"	mov x29, sp\n"
	"	.cfi_def_cfa_register x29\n"
	"	mov sp, x2\n"
	"	blr x1\n"
	"	mov sp, x29\n"
	"	.cfi_def_cfa_register sp\n"
	"	ldp x29, x30, [sp], #16\n"
	"	.cfi_restore x29\n"
	"	.cfi_restore x30\n"
	"	.cfi_def_cfa_offset 0\n"
#endif
	"	ret\n"
	"	.cfi_endproc\n"
	".size own_stack_switch, .-own_stack_switch\n"
	".popsection\n");

/* True under valgrind and ThreadSanitizer. Determined once, because the environment may change. */
static bool is_watched(void)
{
#ifdef __SANITIZE_THREAD__ /* ThreadSanitizer reports the wrong thread after a change of stacks */
	return true;
#endif
	enum { NOT_ASKED, NO, YES };
	static atomic_int answer;

	if (atomic_load_explicit(&answer, memory_order_relaxed) == NOT_ASKED) {
		const char *preloads = getenv("LD_PRELOAD");

		atomic_store(&answer, preloads && strstr(preloads, "/vgpreload_") ? YES : NO);
	}
	return atomic_load_explicit(&answer, memory_order_relaxed) == YES;
}

static char *map_stack(void)
{
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return NULL;
	mprotect(stack, GUARD, PROT_NONE);
	return stack;
}

static int take_stack(void)
{
	for (int i = 0; i < STACKS; i++) {
		if (atomic_exchange_explicit(&stacks[i].taken, true, memory_order_acquire))
			continue;
		if (!stacks[i].stack)
			stacks[i].stack = map_stack();
		if (stacks[i].stack)
			return i;
		atomic_store(&stacks[i].taken, false);
		break;
	}
	return -1;
}

void own_stack_call(void (*work)(void *), void *argument)
{
	int at;

	if (on_own_stack) {
		work(argument);
		return;
	}
	SIGNALS_DEFERRED();
	on_own_stack = true;
	at = is_watched() ? -1 : take_stack();
	if (at < 0) {
		work(argument);
	} else {
		own_stack_switch(argument, work, stacks[at].stack + STACK_BYTES);
		atomic_store_explicit(&stacks[at].taken, false, memory_order_release);
	}
	on_own_stack = false;
}

/* --- threads --- */

enum {
	FLAGS = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
		CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
	MOST_FILES = 1 << 16, /* without close_range(), descriptors from this number on stay open */
	FORGET_TRIES = 10000,
};

struct task {
	int (*work)(void *);
	void *argument;
	int result;
	bool lengthy;
};

static _Thread_local bool inside;

/* State of lengthy work: running, requested to pause by the waiting thread, or paused. */
enum { WORKING, PLEASE_REST, RESTING };
static atomic_int rest_state;

/* The interval at which the waiting thread checks for signals. */
static const struct timespec slice = { 0, 50 * 1000000L };

/* --- the thread that works --- */

/* Opens "/" as descriptors 0 to 2, so that a write to stderr cannot reach a file of the library. */
static void leave_standard_out(void)
{
	for (int fd = 0; fd < 3; fd++)
		raw_call(SYS_openat, AT_FDCWD, raw_address("/"), O_PATH | O_CLOEXEC);
}

static void close_all(void)
{
	struct rlimit limit = { 0 };
	long most = MOST_FILES;

	if (!raw_call(SYS_getrlimit, RLIMIT_NOFILE, raw_address(&limit), 0) &&
	    limit.rlim_cur < MOST_FILES)
		most = (long)limit.rlim_cur;
	for (long fd = 0; fd < most; fd++)
		raw_call(SYS_close, fd, 0, 0);
}

/* Gives this thread its own descriptor table. Without close_range() (Linux before 5.9) the table
 * keeps copies of the program's descriptors until the work ends, unless the work is `lengthy`. */
static void take_table(bool lengthy)
{
	if (!raw_call(__NR_close_range, lengthy ? 0 : 3, ~0U, CLOSE_RANGE_UNSHARE)) {
		if (lengthy)
			leave_standard_out();
	} else if (!raw_call(SYS_unshare, CLONE_FILES, 0, 0) && lengthy) {
		close_all();
		leave_standard_out();
	}
}

static int run_work(void *argument)
{
	struct task *task = argument;

	take_table(task->lengthy);
	task->result = task->work(task->argument);
	return 0;
}

void own_thread_rest(void)
{
	int state = PLEASE_REST;

	if (!atomic_compare_exchange_strong(&rest_state, &state, RESTING))
		return;
	raw_futex(&rest_state, FUTEX_WAKE, 1, NULL);
	while (atomic_load(&rest_state) == RESTING)
		raw_futex(&rest_state, FUTEX_WAIT, RESTING, NULL);
}

/* --- the thread that waits --- */

/* True if a signal is pending that the program itself does not block. */
static bool host_has_signals(const struct signals_deferred *deferred)
{
	sigset_t pending;

	if (sigpending(&pending))
		return false;
	for (int signal = 1; signal < NSIG; signal++) {
		if (sigismember(&pending, signal) == 1 &&
		    sigismember(&deferred->before, signal) == 0)
			return true;
	}
	return false;
}

/* Pauses the work while the program's signal handlers run. They may do anything: allocate, jump
 * away, or fork, and in the forked child the working thread does not exist. */
static void let_signals_through(atomic_int *thread, struct signals_deferred *deferred)
{
	long process = raw_call(SYS_getpid, 0, 0, 0);

	atomic_store(&rest_state, PLEASE_REST);
	while (atomic_load(&rest_state) != RESTING && atomic_load(thread))
		raw_futex(&rest_state, FUTEX_WAIT, PLEASE_REST, &slice);
	if (atomic_load(&rest_state) == RESTING) {
		inside = false;
		signals_deliver(deferred);
		*deferred = signals_defer();
		inside = true;
	}
	if (raw_call(SYS_getpid, 0, 0, 0) != process)
		atomic_store(thread, 0);
	atomic_store(&rest_state, WORKING);
	raw_futex(&rest_state, FUTEX_WAKE, 1, NULL);
}

/* Waits until the kernel has removed the thread, not only until its work is done: a program that
 * forks next may count its own threads (CPython 3.12 does, and warns). */
static void wait_for_thread(int id, atomic_int *thread, bool lengthy,
			    struct signals_deferred *deferred)
{
	for (int now; (now = atomic_load(thread));) {
		raw_futex(thread, FUTEX_WAIT, now, lengthy ? &slice : NULL);
		if (lengthy && atomic_load(thread) && host_has_signals(deferred))
			let_signals_through(thread, deferred);
	}
	for (int i = 0; i < FORGET_TRIES && !raw_call(SYS_tgkill, getpid(), id, 0); i++)
		raw_call(SYS_sched_yield, 0, 0, 0);
}

/* Runs the task on a new thread. False if the kernel refuses the thread, or if is_watched(). */
static bool run_apart(struct task *task, struct signals_deferred *deferred)
{
	char *stack = is_watched() ? NULL : map_stack();
	atomic_int thread = 0;
	int id;

	if (!stack)
		return false;
	id = clone(run_work, stack + STACK_BYTES, FLAGS, task, &thread, NULL, &thread);
	if (id > 0)
		wait_for_thread(id, &thread, task->lengthy, deferred);
	munmap(stack, STACK_BYTES);
	return id > 0;
}

/*
 * Runs the task on this thread, with signals deferred. Signals that the task's writes raise (to a
 * closed pipe, beyond a file-size limit, to the terminal of another job) are removed from the
 * pending ones, so that the program receives only its own signals.
 */
static void run_here(void *argument)
{
	static const int of_writes[] = { SIGPIPE, SIGXFSZ, SIGTTOU, SIGTTIN };
	const struct timespec none = { 0, 0 };
	struct task *task = argument;
	sigset_t before;

	sigpending(&before);
	task->result = task->work(task->argument);
	for (size_t i = 0; i < COUNT_OF(of_writes); i++) {
		sigset_t raised;

		if (sigismember(&before, of_writes[i]) == 1)
			continue;
		sigemptyset(&raised);
		sigaddset(&raised, of_writes[i]);
		while (sigtimedwait(&raised, NULL, &none) < 0 && errno == EINTR)
			;
	}
}

int own_thread_run(int (*work)(void *), void *argument, bool lengthy)
{
	struct task task = { work, argument, -ECANCELED, lengthy };
	struct signals_deferred deferred;
	int saved = errno;

	if (inside)
		return work(argument);
	deferred = signals_defer();
	inside = true;
	if (!run_apart(&task, &deferred))
		own_stack_call(run_here, &task);
	inside = false;
	signals_deliver(&deferred);
	errno = saved;
	return task.result;
}

void own_thread_forked(void)
{
	/* Writes only if needed, because a page that is only read stays shared with the parent. */
	for (int i = 0; i < STACKS; i++) {
		if (atomic_load(&stacks[i].taken))
			atomic_store(&stacks[i].taken, false);
	}
	if (atomic_load(&rest_state))
		atomic_store(&rest_state, WORKING);
}

#endif
