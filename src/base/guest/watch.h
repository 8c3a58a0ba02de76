/*
 * Promises of the library, checked in debug builds (`make DEBUG=1`) and without cost in others: the
 * order of locks (locks.def), no call of the host's code with one of them held, and no malloc on
 * the path of a hook.
 *
 * A thread that breaks a promise is stopped at once with a line on stderr that names both sides.
 * The deadlock itself would need two threads and bad luck.
 */
#pragma once

#include <stdbool.h>

enum lock_rank {
	LOCK_UNRANKED,
#define LOCK(name, what) LOCK_##name,
#include "base/guest/locks.def"
#undef LOCK
	LOCK_RANKS
};

#ifdef MEMTRACE_DEBUG

enum { WATCHED = true };

/* Checks an assumption that was made without looking; `what` names it. */
void watch_same(bool same, const char *what);

/* The thread is about to wait for the lock, or has dropped it. */
void watch_take(enum lock_rank rank);
void watch_drop(enum lock_rank rank);

/* For a forked child: it holds no locks, and its parent's are held in the copy alone. */
void watch_forked(void);

/* Before a call of the host's code: a function of CUDA, of the loader, of PyTorch. */
void watch_host(const char *function);

/*
 * While the loader lists its libraries (dl_iterate_phdr), it holds the lock that dlopen takes
 * second. A thread that asked for the first one then would wait for ever for a thread that loads.
 */
void watch_listing(bool on);

/* Before any call that allocates on the host's heap. */
void watch_malloc(const char *function);

/* From here on the thread is on the path of this hook. NULL is for no hook: while the real function
 * runs, and for rare work that may allocate. Returns the hook before. */
const char *watch_path(const char *hook);

/*
 * Before a stack is walked, which asks the loader for tables; watch_path() with the result comes
 * afterwards. A thread's first walk may allocate: the loader then makes libunwind's thread-local
 * block on the host's heap (glibc's allocate_dtv_entry), and a library that was loaded by dlopen
 * has no other way.
 */
const char *watch_walk(void);

#else

enum { WATCHED = false };

#define watch_same(same, what) ((void)(same), (void)(what))
#define watch_take(rank) ((void)(rank))
#define watch_drop(rank) ((void)(rank))
#define watch_forked() ((void)0)
#define watch_host(function) ((void)(function))

static inline const char *watch_path(const char *hook)
{
	(void)hook;
	return 0;
}

static inline const char *watch_walk(void)
{
	return 0;
}

#endif
