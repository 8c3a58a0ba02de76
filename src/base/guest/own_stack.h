/*
 * Work that needs more stack than a thread of the host may have left, done on a stack of ours.
 *
 * The host's threads may be as small as PTHREAD_STACK_MIN, its handlers may run on 8 KiB, and a
 * stack that the host took from its heap has no page without access below it. So whatever is done
 * once (loading libunwind, naming a new stack, making the file) runs elsewhere. An unwinder that
 * starts there finds its way to the host's frames.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { OWN_STACK_BYTES = 512 << 10 }; /* of which what is never touched takes no memory */

/*
 * Calls work(argument) on a stack of ours, with signals and cancellation deferred
 * (base/guest/signals.h): what is done once takes locks of the loader, of libunwind and of malloc,
 * and a handler that came in between and did the same would wait for its own thread, one that
 * jumped away would leave them held. Within another such call: a call. It is the caller's own stack
 * where no memory is to be had, and under valgrind, which takes the change of stacks for an error.
 */
void own_stack_call(void (*work)(void *), void *argument);

/* In a forked child: other threads are not there any more. */
void own_stack_forked(void);

/* OWN_STACK_BYTES of new memory, the lowest page of which has no access; NULL when there is none.
 */
char *own_stack_map(void);

/* True under valgrind, and where the library is compiled with ThreadSanitizer. */
bool own_stack_watched(void);
