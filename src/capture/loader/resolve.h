/*
 * Where the real functions are.
 *
 * A driver row has one: libcuda's. A runtime row has as many as the process has runtimes (12 beside
 * 13, one of them loaded RTLD_LOCAL): the caller decides, as the linker would have.
 */
#pragma once

#include "capture/loader/hooks.h"

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
 * parent's threads held (capture/loader/loader.h), until the host itself has had its answer.
 */
bool resolve_may_ask(void);
