/*
 * Checks rules of the library in debug builds (`make DEBUG=1`), at no cost in other builds: locks
 * are taken in the order of locks.def, no code of the traced program is called while a lock is
 * held, and no hook (a function that replaces one of CUDA's) calls malloc.
 *
 * A thread that breaks a rule ends the program at once, with a line on stderr about the rule.
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

/* Stops the program if `same` is false, as the library's assumption `what` is then wrong. */
void watch_same(bool same, const char *what);

/* watch_take() is to be called before a lock is taken, watch_drop() before it is released. */
void watch_take(enum lock_rank rank);
void watch_drop(enum lock_rank rank);

/* To be called in a forked child, where locks that the parent's thread held do not count. */
void watch_forked(void);

/* To be called before any function of CUDA, of the loader or of PyTorch. No lock may be held, and
 * the thread must not be inside dl_iterate_phdr() (see watch_listing()). */
void watch_host(const char *function);

/* Called with true before dl_iterate_phdr() and with false after it. In between, the loader holds
 * the lock that dlopen takes second: taking dlopen's first lock there could cause a deadlock. */
void watch_listing(bool on);

/* Like watch_host(), for functions of the program's heap. Nor may a hook run on this thread. */
void watch_malloc(const char *function);

/* Sets the name of the hook that this thread runs; NULL while the real function runs, and for rare
 * work that may allocate. Returns the previous name. */
const char *watch_path(const char *hook);

/* To be called before a stack is walked, because the unwinder calls the loader. The result is to be
 * passed to watch_path() after the walk. A thread's first walk may call malloc: glibc allocates
 * thread-local storage of libraries loaded by dlopen, such as libunwind, on the program's heap at
 * its first use (allocate_dtv_entry). */
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
