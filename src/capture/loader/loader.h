/*
 * Asking the dynamic loader, and forks; where the real functions are.
 *
 * glibc's loader and libunwind have locks that a child inherits as they are: born while another
 * thread is inside dl_iterate_phdr(), dlopen() or a walk, it waits for ever at its own first import
 * or walk (seen with 2.36 and 1.6). If the program itself loads a library at that moment, that is
 * its own affair; if we do, it is ours. So on behalf of a hook the loader and libunwind are asked
 * only between loader_enter() and loader_leave(), and a fork waits until no thread is there.
 *
 * Neither side waits longer than LOADER_PATIENCE_MS: a thread may hold something that the other one
 * needs.
 *
 * A child cannot know what the parent's threads held if it is born past fork's handlers (_Fork, a
 * clone of its own) while there were other threads, or if the wait came to its end. It asks nothing
 * on its own account for the rest of its life: its events have Python frames and no native ones.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/guest/signals.h"
#include "capture/loader/hooks.h"

/*
 * The threads that are inside, for a thread that waits until there are none; neither side has a
 * lock.
 *
 * A thread is counted once, and the frame in which it entered is kept. If that frame still runs
 * when the thread enters again, this is a signal handler that interrupted it, and nothing is
 * counted. If not, a handler has jumped out of it: the new entry takes its place, and one leave
 * serves for both.
 */
enum { CROWD_SHARDS = 64 };

struct crowd {
	atomic_uint threads; /* that were ever inside */
	struct {
		_Alignas(64) atomic_int count; /* many, for every walk counts itself */
	} shards[CROWD_SHARDS];
};

/* A thread's own part, zeroed before it enters first. */
struct crowd_self {
	void **frame; /* in which it entered, NULL outside */
	void *back;   /* that frame's return address */
	unsigned shard;
	bool counted;
};

/* `frame`: __builtin_frame_address(0) of a function that leaves. False if inside already. */
bool crowd_enter(struct crowd *crowd, struct crowd_self *self, void **frame);
void crowd_leave(struct crowd *crowd, struct crowd_self *self, void **frame);

/* The same for work that begins in one function and ends in another. Without a frame, an end that
 * never comes is noticed only when the thread comes again. */
void crowd_count(struct crowd *crowd, struct crowd_self *self);
void crowd_discount(struct crowd *crowd, struct crowd_self *self);

/* True if no other thread is inside. */
bool crowd_is_empty(const struct crowd *crowd, const struct crowd_self *self);

/* In a forked child nobody else is inside. */
void crowd_forked(struct crowd *crowd, struct crowd_self *self);

/* Waits until so() is true, at most for that time. errno is kept. */
void crowd_await(bool (*so)(void), int milliseconds);

enum { LOADER_PATIENCE_MS = 100 };

/* The loader may be asked for nothing but necessities. */
extern atomic_bool loader_silent;

/* With no lock held; the function that entered must leave. They nest. errno is kept. */
#define loader_enter() loader_enter_in(__builtin_frame_address(0))
#define loader_leave() loader_leave_in(__builtin_frame_address(0))
void loader_enter_in(void **frame);
void loader_leave_in(void **frame);

/*
 * The same for work that must not be left in the middle: a signal handler that jumped out of it
 * would leave the loader's locks held for good (base/guest/signals.h). Everything but a walk goes
 * between these.
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

/* The same on a stack of ours (own_thread.h), for work that allocates. */
void loader_call(void (*work)(void *), void *argument);

/* True once a thread was inside. */
bool loader_used(void);

/* Around a fork: waits until nobody is inside, and keeps others from entering. `loader_forked` is
 * for the child, however it was born. */
bool loader_nobody_forks(void);
void loader_hold(void);
void loader_release(void);
void loader_forked(void);

/* --- slots that libraries have bound --- */

/* True if a loaded library has bound a call of the table to CUDA itself, not to this library. Takes
 * the loader's lock and reads relocations; for the end of a recording. */
bool libc_binding_past_us(void);

/*
 * Binds all of this library's calls of libc to libc itself, once. The Makefile leaves each to its
 * first call (LIB_LAYOUT), but a lookup takes 2 KiB of the caller's stack, which a handler may not
 * have. Another preload that stands before libc may have ended when our end comes, or give another
 * time than the kernel does (libfaketime). Takes the loader's lock.
 */
void libc_binding_bind(void);

/*
 * From here on the library calls this function by that name. `library` is a handle from dlopen().
 */
void libc_binding_replace(void *library, const char *name, void *function);

/*
 * --- Where the real functions are (resolve.c) ---
 *
 * A driver row has one: libcuda's. A runtime row has one for each runtime of the process (12 beside
 * 13, one of them loaded RTLD_LOCAL): the caller decides which, as the linker would have.
 */

/* glibc's dlsym, for ourselves: it tells callers apart by their return addresses. The next dlsym,
 * which the host would have without us: another preload's, or glibc's. The next dlclose. */
void *resolve_dlsym(void *handle, const char *name);
void *resolve_next_dlsym(void *handle, const char *name);
int resolve_dlclose(void *handle);

/* True if they were found; where libc's own dlsym cannot be found, nothing is recorded. */
bool resolve_can(void);

/* Slow: each takes the loader's lock. NULL when the machine has no such function. */
void *resolve_runtime(enum hook_id id, void *caller);
void *resolve_driver(enum hook_id id);

/* A function that is not a row, as the linker would have found it for this caller; NULL if none. */
void *resolve_from(const char *name, const void *caller);

/* A library was unloaded: forgets functions found for callers, and in runtimes that are gone. */
void resolve_forget(void);

/* Any function of libcuda as the host would find it, NULL while libcuda is not loaded: software
 * that shares a GPU among containers stands before the driver with a dlsym of its own. */
void *resolve_cuda(const char *name);

/* Fills `real` of every driver row and lookup that has none yet. */
void resolve_driver_rows(void);

/* True if the address is code of this library. */
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

/* The place where a caller's function is kept. */
static inline struct resolve_caller *resolve_place(uintptr_t key)
{
	return &resolve_callers[key * 0x9e3779b97f4a7c15u >> 54];
}

/* The function of a runtime row for the caller, from an earlier lookup if there was one. */
static inline void *resolve_caller(enum hook_id id, void *caller)
{
	uintptr_t key = resolve_key(id, caller);
	struct resolve_caller *cached = resolve_place(key);
	void *real;

	if (atomic_load_explicit(&cached->key, memory_order_acquire) == key) {
		/* Callers may race for the slot: the function is ours if the key still is. */
		real = atomic_load_explicit(&cached->real, memory_order_acquire);
		if (atomic_load_explicit(&cached->key, memory_order_relaxed) == key)
			return real;
	}
	return resolve_runtime(id, caller);
}

/* The real function of a row for a caller (a return address); one load for a driver row. */
static inline __attribute__((always_inline)) void *resolve_hook(enum hook_id id, void *caller)
{
	void *real;

	if (hooks[id].api != DRV)
		return resolve_caller(id, caller);
	real = atomic_load_explicit(&hook_real[id], memory_order_relaxed);
	return real ? real : resolve_driver(id);
}

/* True if the loader may be asked for things that are not necessary. Not so in a child that cannot
 * know what its parent's threads held, until a call of the host itself has been answered. */
bool resolve_may_ask(void);
