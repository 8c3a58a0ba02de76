/*
 * Asking the dynamic loader, and forks.
 *
 * glibc's loader and libunwind have locks that a child inherits as they are: born while another
 * thread is inside dl_iterate_phdr(), dlopen() or a walk, it waits for ever at its own first import
 * or walk (2.36 and 1.6: tried). That the program loads a library at this moment is its own affair;
 * that we ask is ours. So what asks either on behalf of a hook does it between these two, and a
 * fork waits until nobody is there.
 *
 * Neither side waits longer than LOADER_PATIENCE_MS: a thread may hold what the other one needs.
 *
 * A child that is born past fork's handlers (_Fork, a clone of its own) while the process had other
 * threads, or when patience was at its end, cannot know what they held. It asks nothing on its own
 * account for the rest of its life: its events have Python frames and no native ones.
 */
#ifndef CAPTURE_LOADER_LOADER_H
#define CAPTURE_LOADER_LOADER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/guest/signals.h"

enum { LOADER_PATIENCE_MS = 100 };

/* Nothing may be asked that can be done without. */
extern atomic_bool loader_silent;

/* With no lock held, and left in the function that entered; they nest. errno is kept. */
void loader_enter_in(void **frame);
void loader_leave_in(void **frame);

static inline __attribute__((always_inline)) void loader_enter(void)
{
	loader_enter_in(__builtin_frame_address(0));
}

static inline __attribute__((always_inline)) void loader_leave(void)
{
	loader_leave_in(__builtin_frame_address(0));
}

/*
 * The same for what must not be left in the middle either: a signal handler that jumped out of it
 * would leave the loader's locks held for good (base/guest/signals.h). All but a walk goes between
 * these.
 */
static inline __attribute__((always_inline)) void loader_begin(struct signals_deferred *deferred)
{
	signals_defer(deferred);
	loader_enter();
}

static inline __attribute__((always_inline)) void
loader_end(const struct signals_deferred *deferred)
{
	loader_leave();
	signals_deliver(deferred);
}

/* And on a stack of ours (base/guest/own_stack.h), for what needs more of it than the host may
 * have. */
void loader_call(void (*work)(void *), void *argument);

/* True once a thread was inside. */
bool loader_used(void);

/* Around a fork: nobody is inside, nobody enters. `loader_forked` is for the child, however born.
 */
bool loader_nobody_forks(void);
void loader_hold(void);
void loader_release(void);
void loader_forked(void);

#endif
