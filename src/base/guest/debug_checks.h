/*
 * Checks promises of the library in debug builds (`make DEBUG=1`), at no cost in others: the order
 * of locks (locks.def), no call of the program's code while a lock is held, no malloc in a hook.
 *
 * A thread that breaks a promise ends the program at once, with a line on stderr that says how.
 */
#pragma once

#include <stdbool.h>

enum lock_rank {
	LOCK_UNRANKED,
#define LOCK(name, what) LOCK_##name,
#include "base/guest/locks.def"
	LOCK_RANKS
};

#ifdef MEMTRACE_DEBUG

enum { WATCHED = true };

/* Stops the program if `same` is false: the code's assumption `what` is then wrong. */
void watch_same(bool same, const char *what);

/* To be called before a lock is taken, and before it is dropped. */
void watch_take(enum lock_rank rank);
void watch_drop(enum lock_rank rank);

/* For a forked child, where locks that the parent's thread held do not count. */
void watch_forked(void);

/* To be called before any function of CUDA, of the loader or of PyTorch. No lock may be held, and
 * the thread must not be inside dl_iterate_phdr() (see watch_listing()). */
void watch_host(const char *function);

/*
 * Called before and after dl_iterate_phdr(), in which the loader holds the lock that dlopen takes
 * second. A call in between that takes dlopen's first lock could deadlock with a thread in dlopen.
 */
void watch_listing(bool on);

/* The same as watch_host(), for functions of the program's heap; no hook may be running either. */
void watch_malloc(const char *function);

/* Sets the hook that this thread runs; NULL while the real function runs, and for rare work that
 * may allocate. Returns the previous hook. */
const char *watch_path(const char *hook);

/*
 * To be called before a stack is walked, because the unwinder calls the loader; pass the result to
 * watch_path() afterwards. A thread's first walk may allocate: the loader then makes libunwind's
 * thread-local block on the program's heap (glibc's allocate_dtv_entry), which is unavoidable for a
 * library that was loaded by dlopen.
 */
const char *watch_walk(void);

#else

enum { WATCHED = false };

#define watch_same(same, what) ((void)(same), (void)(what))
#define watch_take(rank) ((void)(rank))
#define watch_drop(rank) ((void)(rank))
#define watch_forked() ((void)0)
#define watch_host(function) ((void)(function))
#define watch_path(hook)         \
	({                       \
		(void)(hook);    \
		(const char *)0; \
	})
#define watch_walk() ((const char *)0)

#endif
