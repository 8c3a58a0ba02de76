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
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/guest/signals.h"

/*
 * Who is inside, for one who waits until nobody is; neither side has a lock.
 *
 * A thread counts once, and keeps which frame it entered in. If that still runs when the thread
 * enters again, this is a signal handler that interrupted it, and nothing is counted. If it does
 * not, a handler has jumped out of it: what is entered now takes its place, and is left for both.
 */
enum { CROWD_SHARDS = 64 };

struct crowd {
	atomic_uint threads; /* that were ever inside */
	struct {
		_Alignas(64) atomic_int count; /* spread: every walk counts itself */
	} shards[CROWD_SHARDS];
};

/* A thread's own, zeroed before it enters first. */
struct crowd_self {
	void **frame; /* that it is inside with, NULL outside */
	void *back;   /* where that one returns to */
	unsigned shard;
	bool counted;
};

/* `frame` is __builtin_frame_address(0) of a function that leaves before it returns. False when
 * this thread is inside already. */
bool crowd_enter(struct crowd *crowd, struct crowd_self *self, void **frame);
void crowd_leave(struct crowd *crowd, struct crowd_self *self, void **frame);

/* The same for what begins in one function and ends in another: without a frame nobody finds out
 * that it was left, before the thread comes again. */
void crowd_count(struct crowd *crowd, struct crowd_self *self);
void crowd_discount(struct crowd *crowd, struct crowd_self *self);

/* But for this thread itself. */
bool crowd_is_empty(const struct crowd *crowd, const struct crowd_self *self);

/* In a forked child nobody else is inside. */
void crowd_forked(struct crowd *crowd, struct crowd_self *self);

/* Until it is so, or for that long. errno is kept. */
void crowd_await(bool (*so)(void), int milliseconds);

enum { LOADER_PATIENCE_MS = 100 };

/* Nothing may be asked that can be done without. */
extern atomic_bool loader_silent;

/* With no lock held, and left in the function that entered; they nest. errno is kept. */
#define loader_enter() loader_enter_in(__builtin_frame_address(0))
#define loader_leave() loader_leave_in(__builtin_frame_address(0))
void loader_enter_in(void **frame);
void loader_leave_in(void **frame);

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

/* And on a stack of ours (base/guest/own_thread.h), for what needs more of it than the host may
 * have, or allocates. */
void loader_call(void (*work)(void *), void *argument);

/* True once a thread was inside. */
bool loader_used(void);

/* Around a fork: nobody is inside, nobody enters. `loader_forked` is for the child, however born.
 */
bool loader_nobody_forks(void);
void loader_hold(void);
void loader_release(void);
void loader_forked(void);

/* --- what libraries have bound --- */

/*
 * Does a loaded library have a call of the table bound to CUDA itself, not to this library? Takes
 * the loader's lock and reads relocations; for the end of a recording.
 */
bool libc_binding_past_us(void);

/*
 * Binds, once, all that this library calls of libc, to libc itself. The Makefile leaves each to its
 * first call (LIB_LAYOUT), but a lookup takes 2 KiB of the caller's stack, which a handler may not
 * have, and another preload that stands before libc may have ended when our end comes, or tell
 * another time than the kernel does (libfaketime). Takes the loader's lock.
 */
void libc_binding_bind(void);

/*
 * From here on the library calls this function where it has bound the name. `library` is what
 * dlopen() gave.
 */
void libc_binding_replace(void *library, const char *name, void *function);
