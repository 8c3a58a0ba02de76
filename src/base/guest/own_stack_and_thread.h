/*
 * Runs work on a separate stack of the library, or on a separate thread with its own descriptors.
 *
 * Threads of the program may have stacks of only PTHREAD_STACK_MIN bytes, its signal handlers may
 * have only 8 KiB, and a stack that it allocated on its heap has no guard page. So rare work that
 * needs much stack (loading libunwind, unwinding with it, storing a new call stack) runs on a stack
 * of the library's own, from which an unwinder still finds the program's frames.
 *
 * If the library opened a file in the program's descriptor table, another thread could close that
 * number and open its own file under it between two system calls: the library would then write into
 * that file, or close it. So work with files runs on a thread that exists only for it. The thread
 * has its own stack, and its own descriptor table with only 0 to 2 of the program's (close_range()
 * with CLOSE_RANGE_UNSHARE). It gets no signals of the program, and the program gets none that the
 * thread's writes raise. It uses the thread-local storage of the thread that waits for it, so libc
 * and this library treat both as the same thread (which holds the locks).
 *
 * In the tool, whose threads do not close each other's descriptors, the work is called directly.
 */
#pragma once

#include <stdbool.h>

/*
 * Calls work(argument) on a stack of the library's own, with signals and cancellation deferred
 * (base/guest/signals.h), because the work takes locks of the loader, of libunwind and of malloc: a
 * signal handler would wait for these locks for ever, or leave them locked by jumping away. A
 * nested call runs the work directly. The caller's stack is used if none of the library's is free,
 * and under valgrind and ThreadSanitizer, which report a change of stacks as an error.
 */
void own_stack_call(void (*work)(void *), void *argument);

/*
 * Calls work(argument) on a thread of the library's own and returns its result; a nested call runs
 * the work directly. `lengthy` is for work during which the program's signals must be handled and
 * its files must not be kept open. Lengthy work has not even descriptors 0 to 2 of the program, and
 * the program's signal handlers run on the waiting thread while the work is in own_thread_rest().
 * If such a handler forks, the result in the child is -ECANCELED. Only one thread at a time may run
 * lengthy work.
 *
 * If the kernel refuses the thread (a sandbox, a process limit), and under valgrind and
 * ThreadSanitizer, the work runs on the caller's thread by own_stack_call(), and signals that its
 * writes raise are discarded.
 */
int own_thread_run(int (*work)(void *), void *argument, bool lengthy);

/* To be called regularly by lengthy work. Pauses while the program handles pending signals. */
void own_thread_rest(void);

/* To be called in a forked child: frees the stacks that threads of the parent were using. */
void own_thread_forked(void);
