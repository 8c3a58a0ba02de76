/*
 * Asking the dynamic loader, and forks; where the real functions are.
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
#include "capture/loader/hooks.h"

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

/*
 * --- Where the real functions are (resolve.c) ---
 *
 * A driver row has one: libcuda's. A runtime row has as many as the process has runtimes (12 beside
 * 13, one of them loaded RTLD_LOCAL): the caller decides, as the linker would have.
 */

/*
 * glibc's dlsym, for ourselves: it knows callers by their return addresses. The next dlsym, which
 * the host would have without us: another preload's, or glibc's. The next dlclose.
 */
void *resolve_dlsym(void *handle, const char *name);
void *resolve_next_dlsym(void *handle, const char *name);
int resolve_dlclose(void *handle);

/* Can they be found? A libc that does not say which dlsym is its own leaves us nothing to do. */
bool resolve_can(void);

/* The slow ways; each takes the loader's lock. NULL when the machine has no such function. */
void *resolve_runtime(enum hook_id id, void *caller);
void *resolve_driver(enum hook_id id);

/* A function that is not a row, as the linker would have found it for this caller; NULL if none. */
void *resolve_from(const char *name, const void *caller);

/* A library was unloaded: forgets what was found for callers, and in runtimes that are gone. */
void resolve_forget(void);

/*
 * Any function of libcuda as the host would find it, NULL while libcuda is not loaded: those who
 * share a GPU among containers stand in front of the driver with a dlsym of their own.
 */
void *resolve_cuda(const char *name);

/* Fills `real` of every driver row and lookup that has none yet. */
void resolve_driver_rows(void);

/* Is the address code of this library? */
bool resolve_is_ours(const void *address);

/* The base name of the file that holds the address, "" if none does. */
const char *resolve_module(const void *address);

enum { RESOLVE_CALLERS = 1024 };

#define RESOLVE_WRITTEN UINTPTR_MAX /* the key while a slot is written */

struct resolve_caller {
	_Atomic(void *) real;
	_Atomic(uintptr_t) key; /* caller and row; written last */
};

extern struct resolve_caller resolve_callers[RESOLVE_CALLERS];

static inline uintptr_t resolve_key(enum hook_id id, const void *caller)
{
	return (uintptr_t)caller * HOOKS + (uintptr_t)id + 1;
}

/* Where a caller's function is kept. */
static inline struct resolve_caller *resolve_place(uintptr_t key)
{
	return &resolve_callers[key * 0x9e3779b97f4a7c15u >> 54];
}

/* A runtime row's, from what was found for the caller before. */
static inline void *resolve_caller(enum hook_id id, void *caller)
{
	uintptr_t key = resolve_key(id, caller);
	struct resolve_caller *cached = resolve_place(key);
	void *real;

	if (atomic_load_explicit(&cached->key, memory_order_acquire) == key) {
		/* Two callers may race for the slot: what was read is ours if the key still is. */
		real = atomic_load_explicit(&cached->real, memory_order_acquire);
		if (atomic_load_explicit(&cached->key, memory_order_relaxed) == key)
			return real;
	}
	return resolve_runtime(id, caller);
}

/* The real function of a row for a caller (a return address). One load of a driver row's. */
static inline __attribute__((always_inline)) void *resolve_hook(enum hook_id id, void *caller)
{
	void *real;

	if (hooks[id].api != DRV)
		return resolve_caller(id, caller);
	real = atomic_load_explicit(&hook_real[id], memory_order_relaxed);
	return real ? real : resolve_driver(id);
}

/*
 * May the loader be asked what can be done without? Not in a child that cannot know what its
 * parent's threads held, until the host itself has had its answer.
 */
bool resolve_may_ask(void);
