/*
 * Work on a stack of ours, and work with descriptors by a thread of ours.
 *
 * The host's threads may be as small as PTHREAD_STACK_MIN, its handlers may run on 8 KiB, and a
 * stack that the host took from its heap has no page without access below it. So whatever needs
 * much stack and is done once (loading libunwind, naming a new stack, making the file) runs on a
 * stack of ours. An unwinder that starts there finds its way to the host's frames.
 *
 * A descriptor of ours in the host's table is a number that another thread of the host may close
 * and get again for a file of its own, between any two of our calls: we would write into that file,
 * or close it. So work with descriptors is done by a thread that exists for this work alone. It has
 * a table of its own, which has no files of the host but descriptors 0 to 2 (close_range() with
 * CLOSE_RANGE_UNSHARE), and a stack of its own. No signal reaches it: SIGXFSZ, SIGPIPE and SIGTTOU
 * of its writes end with it. It uses the thread-local storage of the thread that waits for it, so
 * that libc and this library take it for that thread (which holds the locks).
 *
 * In the tool, whose threads close nothing, the work is simply called.
 */
#pragma once

#include <stdbool.h>

/*
 * Calls work(argument) on a stack of ours, with signals and cancellation deferred
 * (base/guest/signals.h). Such work takes locks of the loader, of libunwind and of malloc: a
 * handler that came in between and did the same would wait for its own thread, and one that jumped
 * away would leave them held. A nested call is a plain call. The caller's own stack is used where
 * there is no memory, under valgrind, which takes the change of stacks for an error, and under
 * ThreadSanitizer.
 */
void own_stack_call(void (*work)(void *), void *argument);

/*
 * Calls work(argument) on a thread of ours and returns its result. Within such work it is a plain
 * call. `lengthy` is for work that takes longer than the host should be without signals, or should
 * have its files kept open: it has no descriptors 0 to 2 of the host's, and the host's handlers run
 * on the waiting thread while the work rests in own_thread_rest(). There may be one lengthy work at
 * a time.
 *
 * Where the kernel refuses the thread (a sandbox, a limit of processes), the work runs on the
 * caller's own thread, on a stack of ours. The signals that a write can raise are held back there.
 */
int own_thread_run(int (*work)(void *), void *argument, bool lengthy);

/* Lets the host handle its signals, if there are any. Lengthy work calls this now and then. */
void own_thread_rest(void);

/* To be called in a forked child: other threads, and their work, do not exist there. */
void own_thread_forked(void);
