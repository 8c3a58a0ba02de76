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
 * or close it. So work with descriptors is done by a thread that lives for it alone, and has a
 * table of its own, with none of the host's files in it but descriptors 0 to 2 (close_range() with
 * CLOSE_RANGE_UNSHARE), and a stack of its own, and no signal reaches it: SIGXFSZ, SIGPIPE and
 * SIGTTOU of its writes end with it. It has no thread-local storage of its own: it uses that of the
 * thread that waits for it, so all that libc and this library know of that thread (whose locks are
 * whose) holds.
 *
 * In the tool, whose threads close nothing, the work is simply called.
 */
#pragma once

#include <stdbool.h>

/*
 * Calls work(argument) on a stack of ours, with signals and cancellation deferred
 * (base/guest/signals.h): what is done once takes locks of the loader, of libunwind and of malloc,
 * and a handler that came in between and did the same would wait for its own thread, one that
 * jumped away would leave them held. Within another such call: a call. It is the caller's own stack
 * where no memory is to be had, under valgrind, which takes the change of stacks for an error, and
 * under ThreadSanitizer.
 */
void own_stack_call(void (*work)(void *), void *argument);

/*
 * Runs work(argument) and gives what it gives. Within such work: a call. `lengthy` is for what may
 * take longer than the host should go without signals and should have its files kept open: there
 * are no descriptors 0 to 2 then, and handlers run on the waiting thread while the work rests in
 * own_thread_rest(); one such work at a time.
 *
 * Where the kernel refuses the thread (a sandbox, a limit of processes), the work runs on the
 * caller's own thread, on a stack of ours, with the signals held that a write can raise.
 */
int own_thread_run(int (*work)(void *), void *argument, bool lengthy);

/* Lets the host have its signals, if there are any: to be called now and then by lengthy work. */
void own_thread_rest(void);

/* In a forked child: other threads are not there any more, and none is at work. */
void own_thread_forked(void);
