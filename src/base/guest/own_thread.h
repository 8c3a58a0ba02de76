/*
 * Runs work on a stack of the library's own, or by a thread of its own that uses descriptors.
 *
 * Threads of the program may have stacks of PTHREAD_STACK_MIN, its signal handlers may run on 8
 * KiB, and a stack that it allocated on its heap has no guard page. So work that needs much stack
 * and is done once (loading libunwind, naming a new stack, creating the file) runs on a stack of
 * the library's own, from which an unwinder still finds the program's frames.
 *
 * If the library opened a file in the program's descriptor table, another thread could close that
 * number and open its own file under it between two system calls: the library would then write into
 * that file, or close it. So a thread that exists only for such work does it. It has its own
 * descriptor table with only 0 to 2 of the program (close_range() with CLOSE_RANGE_UNSHARE), and
 * its own stack. It gets no signals of the program; SIGXFSZ, SIGPIPE and SIGTTOU of its writes
 * vanish with it. It uses the thread-local storage of the thread that waits for it, so libc and
 * this library take it for that thread (which holds the locks).
 *
 * In the tool, whose threads do not close descriptors of others, both are plain calls.
 */
#pragma once

#include <stdbool.h>

/*
 * Calls work(argument) on a stack of the library's own, with signals and cancellation deferred
 * (base/guest/signals.h): the work takes locks of the loader, of libunwind and of malloc, for which
 * a signal handler would wait for ever, and which one that jumps away would leave locked. Nested
 * calls are plain calls. The caller's stack is used if there is no memory, and under valgrind and
 * ThreadSanitizer, which report the change of stacks as an error.
 */
void own_stack_call(void (*work)(void *), void *argument);

/*
 * Calls work(argument) by a thread of the library's own and returns its result; inside such work
 * this is a plain call. `lengthy` is for work during which the program's signals must be handled
 * and its files must not be kept open: the work has no descriptors 0 to 2 of the program, whose
 * signal handlers run on the waiting thread while the work calls own_thread_rest(). There may be
 * one lengthy work at a time.
 *
 * If the kernel refuses the thread (a sandbox, a limit of processes), the work runs on the caller's
 * own thread, on a stack of the library's own. Signals that its writes raise are discarded.
 */
int own_thread_run(int (*work)(void *), void *argument, bool lengthy);

/* Called now and then by lengthy work: pauses it while the program handles pending signals. */
void own_thread_rest(void);

/* To be called in a forked child: frees the stacks of threads that do not exist there. */
void own_thread_forked(void);
