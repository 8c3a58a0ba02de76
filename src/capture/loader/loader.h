/*
 * Keeps calls of the dynamic loader apart from forks, and finds the real functions.
 *
 * A forked child inherits the locks of glibc's loader and of libunwind as they are. If another
 * thread was inside dl_iterate_phdr(), dlopen() or a walk, the child waits for ever at its own
 * first import or walk (seen with glibc 2.36 and libunwind 1.6). This library prevents that only
 * for the calls that its hooks add to the program's: these calls of the loader and of libunwind are
 * made between loader_enter() and loader_leave(), and a fork waits until no thread is in between.
 *
 * Neither side waits longer than LOADER_PATIENCE_MS: each may hold something that the other needs.
 *
 * A child cannot know which locks the parent's threads held if it was made without fork's handlers
 * (_Fork(), clone()) while there were other threads, or if the wait timed out. The hooks of such a
 * child call the loader only to find real functions: its events have no native frames.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/guest/hot.h"
#include "base/guest/signals.h"
#include "capture/loader/hooks.h"

/*
 * A crowd counts the threads that are inside some code, for a thread that waits until there are
 * none; neither side takes a lock.
 *
 * A thread is counted once, and the frame in which it entered is stored. If that frame still exists
 * when the thread enters again (nested, or in a signal handler), nothing is counted. Otherwise a
 * handler has jumped out of that frame: the new frame is stored, and one leave counts for both.
 */
enum { CROWD_SHARDS = 64 };

struct crowd {
	atomic_uint threads; /* number of threads that were ever inside */
	struct {
		_Alignas(64) atomic_int count; /* one of many, so that few threads share one */
	} shards[CROWD_SHARDS];
};

/* A thread's own state; all 0 before it enters for the first time. */
struct crowd_self {
	void **frame; /* frame in which the thread entered, NULL if it is not inside */
	void *back;   /* that frame's return address */
	unsigned shard;
	bool counted;
};

/* Both are called by the function with the frame address `frame`. crowd_enter(): false if the
 * thread is already inside. */
bool crowd_enter(struct crowd *crowd, struct crowd_self *self, void **frame);
void crowd_leave(struct crowd *crowd, struct crowd_self *self, void **frame);

/* As crowd_enter() and crowd_leave(), for work that begins in one function and ends in another. No
 * frame is stored: a thread that never ends its work stays counted until it ends its next work. */
void crowd_count(struct crowd *crowd, struct crowd_self *self);
void crowd_discount(struct crowd *crowd, struct crowd_self *self);

/* True if no other thread is inside. */
bool crowd_is_empty(const struct crowd *crowd, const struct crowd_self *self);

/* In a forked child: counts no other thread as inside any more. */
void crowd_forked(struct crowd *crowd, struct crowd_self *self);

/* Waits until so() returns true, but at most `milliseconds`. Keeps errno. */
void crowd_await(bool (*so)(void), int milliseconds);

enum { LOADER_PATIENCE_MS = 100 };

/* True if a loader lock may be held for ever: the loader is then called only to find functions. */
extern atomic_bool loader_silent;

/* Called before and after calls of the loader, both in one function, with no lock of this library
 * held. Pairs may nest. errno is kept. */
#define loader_enter() loader_enter_in(__builtin_frame_address(0))
#define loader_leave() loader_leave_in(__builtin_frame_address(0))
void loader_enter_in(void **frame);
void loader_leave_in(void **frame);

/* loader_enter() for work that no signal handler may jump out of, since the loader's locks would
 * then be held for ever (signals.h). */
static INLINED struct signals_deferred loader_begin(void)
{
	struct signals_deferred deferred = signals_defer();

	loader_enter();
	return deferred;
}

static INLINED void loader_end(const struct signals_deferred *deferred)
{
	loader_leave();
	signals_deliver(deferred);
}

/* loader_begin() here, and loader_end() at the end of the block. */
#define LOADER_CALLED()                                                                       \
	__attribute__((unused, cleanup(loader_end))) const struct signals_deferred deferred = \
		loader_begin()

/* Calls work(argument) as between loader_begin() and loader_end(), on a stack of this library's own
 * (own_stack_and_thread.h). The work may allocate on the program's heap. */
void loader_call(void (*work)(void *), void *argument);

/* True if a thread has ever called loader_enter(). */
bool loader_used(void);

/* loader_hold() is called before a fork: it waits until no other thread is inside (after
 * loader_enter()), and keeps threads out until loader_release(). In between, loader_nobody_forks()
 * is false. loader_forked() is called in any child, however made. */
bool loader_nobody_forks(void);
void loader_hold(void);
void loader_release(void);
void loader_forked(void);

/* --- how libraries are bound --- */

/* True if a loaded library's calls of hooked functions go straight to CUDA, so that no hook sees
 * them. Takes the loader's lock. Slow, because it reads relocations: called when recording ends. */
bool libc_binding_past_us(void);

/*
 * Binds all of this library's calls of libc, except free(), to libc itself, once. The Makefile
 * leaves each function unbound until its first call (LIB_LAYOUT), but binding takes 2 KiB of the
 * caller's stack, which a signal handler may not have. Moreover, a library preloaded before libc
 * may have ended when this library writes its trace, or return another time than the kernel's
 * (libfaketime). Takes the loader's lock.
 */
void libc_binding_bind(void);

/* Makes `library`, a handle from dlopen(), call `function` where it calls the function `name`. */
void libc_binding_replace(void *library, const char *name, void *function);

/*
 * --- Where the real functions are (resolve.c) ---
 *
 * A driver row of hooks.def has one real function: libcuda's. A runtime row has one for each CUDA
 * runtime in the process (such as 12 and 13): the caller decides which, as when the linker binds.
 */

/* resolve_dlsym(): glibc's dlsym for this library's own use; with RTLD_NEXT it searches the
 * libraries after this one. resolve_next_dlsym() and resolve_dlclose(): the functions that the
 * program would call without this library: glibc's, or those of another preloaded library. */
void *resolve_dlsym(void *handle, const char *name);
void *resolve_next_dlsym(void *handle, const char *name);
int resolve_dlclose(void *handle);

/* True if the real dlsym and dlclose were found. Without glibc's own dlsym nothing is recorded. */
bool resolve_can(void);

/* Each finds a row's real function: NULL if there is none. Slow, and takes the loader's lock. */
void *resolve_runtime(enum hook_id id, void *caller);
void *resolve_driver(enum hook_id id);

/* Looks up a function without a row in hooks.def, as the linker would for `caller`; or NULL. */
void *resolve_from(const char *name, const void *caller);

/* After a library was unloaded: empties resolve_callers, and clears functions of an unloaded CUDA
 * runtime in hook_real. */
void resolve_forget(void);

/* A function of libcuda as the program would find it, NULL while libcuda is not loaded. Software
 * that shares a GPU among containers may replace it, by a dlsym() of its own. */
void *resolve_cuda(const char *name);

/* Finds the real function of every driver row and lookup function that has none yet. */
void resolve_driver_rows(void);

/* True if the address is in code of this library. */
bool resolve_is_ours(const void *address);

/* The base name of the file that the address is in, "" for none. */
const char *resolve_module(const void *address);

enum { RESOLVE_CALLERS = 1024 };

#define RESOLVE_WRITTEN UINTPTR_MAX /* value of a key while a thread writes its slot */

struct resolve_caller {
	_Atomic(void *) real;
	_Atomic(uintptr_t) key; /* resolve_key() of caller and row; written last */
};

extern struct resolve_caller resolve_callers[RESOLVE_CALLERS];

static inline uintptr_t resolve_key(enum hook_id id, const void *caller)
{
	return (uintptr_t)caller * HOOKS + (uintptr_t)id + 1;
}

static inline struct resolve_caller *resolve_place(uintptr_t key)
{
	return &resolve_callers[key * 0x9e3779b97f4a7c15u >> 54];
}

/* For a CUDA runtime function of hooks.def: the real function that this caller would reach if the
 * library were not loaded. Cached after the first lookup. */
static inline void *resolve_caller(enum hook_id id, void *caller)
{
	uintptr_t key = resolve_key(id, caller);
	struct resolve_caller *cached = resolve_place(key);
	void *real;

	if (atomic_load_explicit(&cached->key, memory_order_acquire) == key) {
		/* Threads may race for the slot: `real` is valid if the key is unchanged. */
		real = atomic_load_explicit(&cached->real, memory_order_acquire);
		if (atomic_load_explicit(&cached->key, memory_order_relaxed) == key)
			return real;
	}
	return resolve_runtime(id, caller);
}

/* A row's real function for a caller (a return address). For a driver row this takes one load. */
static INLINED void *resolve_hook(enum hook_id id, void *caller)
{
	void *real;

	if (hooks[id].api != DRV)
		return resolve_caller(id, caller);
	real = atomic_load_explicit(&hook_real[id], memory_order_relaxed);
	return real ? real : resolve_driver(id);
}

/* True if the loader may be used for more than finding real functions. False in a child that cannot
 * know which locks its parent's threads held, until a hooked function was looked up there. */
bool resolve_may_ask(void);
