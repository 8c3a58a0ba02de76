/*
 * What the library promises to keep, asserted in debug builds (`make DEBUG=1`) and free in others:
 * the order of locks (locks.def), nothing of the host's called with one of them held, and no malloc
 * on the path of a hook.
 *
 * A thread that breaks a promise is stopped at once with a line on stderr that names both sides:
 * the deadlock itself would need two threads and bad luck.
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

/* What was known without looking is what was seen then; `what` names it. */
void watch_same(bool same, const char *what);

/* The thread is about to wait for the lock; it has dropped it. */
void watch_take(enum lock_rank rank);
void watch_drop(enum lock_rank rank);

/* At a fork: the child holds none, and its maker's is held for the child alone. */
void watch_forked(void);

/* Before what belongs to the host is called: a function of CUDA's, of the loader's, of PyTorch's.
 */
void watch_host(const char *function);

/*
 * While the loader lists what is there (dl_iterate_phdr), it has the lock that dlopen takes second:
 * who asks for its first one then waits for ever for a thread that loads.
 */
void watch_listing(bool on);

/* Before whatever allocates on the host's heap. */
void watch_malloc(const char *function);

/*
 * The thread is on the path of this hook from here on, of none with NULL: while the real function
 * runs, and for what is done once and said to allocate. Gives what it was on before.
 */
const char *watch_path(const char *hook);

/*
 * Before the stack is walked, which asks the loader for tables; watch_path() with the result comes
 * after. A thread's first walk may allocate: libunwind's thread-local block is made then, by the
 * loader, on the host's heap (glibc's allocate_dtv_entry), and a library that came by dlopen has no
 * other way to have one.
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
