/*
 * A small lock on a futex: no allocation, and lock_reset() makes it free again after fork.
 *
 * pthread_mutex_t does not do, for two reasons. In the child of a raw clone() nobody has reset it,
 * and there is no portable way to do so. And a thread of the host that ends inside it (asynchronous
 * cancellation, a raw exit), or whose signal handler jumps out of it, would block all others for
 * ever.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/guest/watch.h"

struct lock {
	atomic_int state;      /* 0 free, 1 held, 2 held and waited for; or the holder's number (see
				  below) */
	_Atomic(void **) left; /* the place in the holder's frame where its return address is, */
	_Atomic(void *) back;  /* and that address: they agree as long as the holder is inside */
	atomic_uint turn;      /* counts holders, so that a waiting thread sees progress */
	enum lock_rank rank;   /* checked by watch.h */
};

/* A numbered lock: the holder's thread number, and this bit if another waits. */
enum { LOCK_AWAITED = 1 << 30, LOCK_RESCUED = LOCK_AWAITED - 1 };

/* A free lock; `name` is that of its row in locks.def. */
#define LOCK_INIT(name)             \
	{                           \
		.rank = LOCK_##name \
	}

enum {
	LOCK_SLICE_MS = 200, /* the interval at which a waiting thread checks the owner */
	LOCK_SLICES = 50,    /* after this many without a change the owner is given up: 10 s */
	/* The same where this thread holds it itself, on another stack. A signal led it here, and
	 * only the next signal could lead it back. */
	LOCK_OWN_SLICES = 5,
};

enum lock_got {
	LOCK_GOT,
	LOCK_LEFT, /* its holder is certainly not inside any more: it has ended, or jumped away */
	LOCK_OVERDUE, /* its holder did not come back for too long, and may come back or not */
};

void lock_wait(struct lock *lock);
void lock_wake(struct lock *lock);
enum lock_got lock_inherit(struct lock *lock, int self);
void lock_drop_awaited(struct lock *lock, int self);

/* For a thread that holds the lock but has left the code inside it: no other thread can take it
 * over until lock_drop_as() with LOCK_RESCUED. False if another thread has done so before. */
bool lock_rescue(struct lock *lock, int self);

/* True if a frame's word has changed or the frame is gone. False if it cannot be read. */
bool lock_frame_gone(void *const *where, const void *was);

/* True in a signal handler on the stack of sigaltstack(), and if that cannot be found out. */
bool lock_on_other_stack(void);

/*
 * True if this thread, which is in the frame `here` now, has left an earlier frame of its own that
 * returned to `back`. That is certain if `here` has its place or lies further out on the same
 * stack, or if the frame does not hold that address any more.
 */
bool lock_frame_left(void **frame, const void *back, void **here);

/* A free lock is not written to, so that a child keeps sharing its page with the parent. */
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

/*
 * The same for a thread that gives its number, and a frame that it does not leave before it drops
 * the lock (NULL: none); a signal handler may leave that frame by siglongjmp(). With LOCK_LEFT or
 * LOCK_OVERDUE the holder before has left its work unfinished: the guarded data must be repaired
 * first.
 */
static inline enum lock_got lock_take_as(struct lock *lock, int self, void **frame)
{
	enum lock_got got = LOCK_GOT;
	int free = 0;

	watch_take(lock->rank);
	if (!atomic_compare_exchange_strong_explicit(&lock->state, &free, self,
						     memory_order_acquire, memory_order_relaxed))
		got = lock_inherit(lock, self);
	/* The turn comes first: who reads the other two sees a new turn (was_left). */
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

/* Nothing happens if another thread has taken the lock over meanwhile. */
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
