/*
 * Work with descriptors, done by a thread of ours that lives for it alone.
 *
 * A descriptor of ours in the host's table is a number that another thread of the host may close
 * and get again for a file of its own, between any two of our calls: we would write into that file,
 * or close it. So the thread has a table of its own, with none of the host's files in it but
 * descriptors 0 to 2 (close_range() with CLOSE_RANGE_UNSHARE), and a stack of its own, and no
 * signal reaches it: SIGXFSZ, SIGPIPE and SIGTTOU of its writes end with it. It has no
 * thread-local storage of its own: it uses that of the thread that waits for it, so all that libc
 * and this library know of that thread (whose locks are whose) holds.
 *
 * In the tool, whose threads close nothing, the work is simply called.
 */
#pragma once

#include <stdbool.h>

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

/* In a forked child: nobody is at work. */
void own_thread_forked(void);
