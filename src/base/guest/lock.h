/*
 * A small lock based on a futex. It allocates nothing, and lock_reset() frees it after a fork.
 *
 * pthread_mutex_t is not used, for two reasons. The child of a raw clone() has no portable way to
 * free a mutex that another thread held. And a thread of the program that ends inside the locked
 * code (asynchronous cancellation, a raw exit), or whose signal handler jumps out of it, would
 * block all other threads for ever.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/guest/debug_checks.h"

struct lock {
	atomic_int state; /* 0 if free; lock_take(): 1, or 2 if awaited; lock_take_as(): `self` */
	_Atomic(void **) left; /* address of the return address in the holder's frame, or NULL */
	_Atomic(void *) back;  /* the return address; *left differs if the holder jumped away */
	atomic_uint turn;      /* counts holders, so that a waiting thread notices progress */
	enum lock_rank rank;   /* the lock's place in the order of locks (locks.def) */
};

/* Values of `state` after lock_take_as(): a flag that another thread waits, and the holder that
 * lock_rescue() stores instead of `self`. */
enum { LOCK_AWAITED = 1 << 30, LOCK_RESCUED = LOCK_AWAITED - 1 };

/* Initializes a free lock; `name` is the lock's name in locks.def. */
#define LOCK_INIT(name)             \
	{                           \
		.rank = LOCK_##name \
	}

enum {
	LOCK_SLICE_MS = 200, /* interval at which a waiting thread checks if the holder is gone */
	LOCK_SLICES = 50,    /* intervals (10 s in all) after which the holder loses the lock */
	/* Intervals after which a thread takes over a lock that it holds itself: it took the lock
	 * on another stack, which a signal handler left, and may never go back to that stack. */
	LOCK_OWN_SLICES = 5,
};

enum lock_got {
	LOCK_GOT,
	LOCK_LEFT,    /* the previous holder has ended or jumped away: its work is unfinished */
	LOCK_OVERDUE, /* the previous holder took too long; it may still be working */
};

void lock_wait(struct lock *lock);
void lock_wake(struct lock *lock);
enum lock_got lock_inherit(struct lock *lock, int self);
void lock_drop_awaited(struct lock *lock, int self);

/* Called by a thread that has jumped out of the locked code. No other thread can then take the lock
 * until lock_drop_as(lock, LOCK_RESCUED). False if another thread has already taken the lock. */
bool lock_rescue(struct lock *lock, int self);

/* True if *where differs from `was`, or is unmapped. False if a sandbox forbids the check. */
bool lock_frame_gone(void *const *where, const void *was);

/* True if this code runs on the stack of sigaltstack(), or if that cannot be determined. */
bool lock_on_other_stack(void);

/* True if this thread, whose current frame is `here`, has left its earlier frame `frame`, whose
 * return address was `back`: if `here` has the same or a higher address on the same stack, or if
 * `frame` no longer holds `back`. */
bool lock_frame_left(void **frame, const void *back, void **here);

/* Frees the lock in a forked child. A free lock is not written, so its page stays shared. */
static inline void lock_reset(struct lock *lock)
{
	if (atomic_load(&lock->left))
		atomic_store(&lock->left, NULL);
	if (atomic_load(&lock->state))
		atomic_store(&lock->state, 0);
	watch_forked();
}

static inline void lock_take(struct lock *lock)
{
	int free = 0;

	watch_take(lock->rank);
	if (!atomic_compare_exchange_strong_explicit(&lock->state, &free, 1, memory_order_acquire,
						     memory_order_relaxed))
		lock_wait(lock);
}

/* Takes the lock for thread `self`. `frame` (or NULL) is a stack frame that the thread does not
 * leave before it drops the lock, unless a signal handler jumps out by siglongjmp(). If the result
 * is LOCK_LEFT or LOCK_OVERDUE, the previous holder did not finish its work, so the caller must
 * repair the protected data first. */
static inline enum lock_got lock_take_as(struct lock *lock, int self, void **frame)
{
	enum lock_got got = LOCK_GOT;
	int free = 0;

	watch_take(lock->rank);
	if (!atomic_compare_exchange_strong_explicit(&lock->state, &free, self,
						     memory_order_acquire, memory_order_relaxed))
		got = lock_inherit(lock, self);
	/* `turn` is stored first: a thread that reads a new `left` or `back` sees a new `turn`. */
	atomic_store_explicit(&lock->turn,
			      atomic_load_explicit(&lock->turn, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	atomic_store_explicit(&lock->back, frame ? frame[1] : NULL, memory_order_release);
	atomic_store_explicit(&lock->left, frame ? frame + 1 : NULL, memory_order_release);
	return got;
}

static inline bool lock_is_own(const struct lock *lock, int self)
{
	return (atomic_load_explicit(&lock->state, memory_order_relaxed) & ~LOCK_AWAITED) == self;
}

static inline void lock_drop(struct lock *lock)
{
	watch_drop(lock->rank);
	if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
		lock_wake(lock);
}

/* Drops a lock from lock_take_as(), unless another thread has taken it over in the meantime. */
static inline void lock_drop_as(struct lock *lock, int self)
{
	int held = self;

	watch_drop(lock->rank);
	if (lock_is_own(lock, self))
		atomic_store_explicit(&lock->left, NULL, memory_order_relaxed);
	if (!atomic_compare_exchange_strong_explicit(&lock->state, &held, 0, memory_order_release,
						     memory_order_relaxed))
		lock_drop_awaited(lock, self);
}
