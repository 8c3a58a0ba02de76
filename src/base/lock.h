/*
 * A small lock on a futex: no allocation, re-initialised by lock_reset() (after fork).
 *
 * pthread_mutex_t would do but for two things: in the child of a raw clone() nobody has
 * re-initialised it, and there is no portable way to do so; and a thread of the host that ends
 * inside it (asynchronous cancellation, a raw exit) would block all others for ever.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/watch.h"

struct lock {
	atomic_int state; /* 0 free, 1 held, 2 held and somebody waits */
	atomic_int owner; /* the kernel's number of the thread, 0 while it is not known */
	atomic_uint turn; /* counts holders, so that one who waits sees that it goes on */
#ifdef MEMTRACE_DEBUG
	enum lock_rank rank;
#endif
};

/* A free lock; `name` is that of its row in locks.def. */
#ifdef MEMTRACE_DEBUG
#define LOCK_INIT(name)             \
	{                           \
		.rank = LOCK_##name \
	}
#define LOCK_RANK(lock) ((lock)->rank)
#else
#define LOCK_INIT(name) \
	{               \
		0       \
	}
#define LOCK_RANK(lock) LOCK_UNRANKED
#endif

enum {
	LOCK_SLICE_MS = 200, /* how often somebody who waits looks after the owner */
	LOCK_SLICES = 50,    /* after so many without a change the owner is given up: 10 s */
};

void lock_wait(struct lock *lock);
void lock_wake(struct lock *lock);

/* Waits: true if its owner has ended inside, or did not come back for 10 s, and left the lock. */
bool lock_inherit(struct lock *lock, int self);

static inline void lock_reset(struct lock *lock)
{
	atomic_store(&lock->owner, 0);
	atomic_store(&lock->state, 0);
	watch_forked();
}

static inline void lock_take(struct lock *lock)
{
	int free = 0;

	watch_take(LOCK_RANK(lock));
	if (!atomic_compare_exchange_strong_explicit(&lock->state, &free, 1, memory_order_acquire,
						     memory_order_relaxed))
		lock_wait(lock);
}

/*
 * The same for a thread that says who it is. True: the owner before left it behind half done, as
 * lock_inherit() tells; what the lock guards has to be made whole first.
 */
static inline bool lock_take_as(struct lock *lock, int self)
{
	bool left = false;
	int free = 0;

	watch_take(LOCK_RANK(lock));
	if (!atomic_compare_exchange_strong_explicit(&lock->state, &free, 1, memory_order_acquire,
						     memory_order_relaxed))
		left = lock_inherit(lock, self);
	atomic_store_explicit(&lock->owner, self, memory_order_relaxed);
	atomic_store_explicit(&lock->turn,
			      atomic_load_explicit(&lock->turn, memory_order_relaxed) + 1,
			      memory_order_relaxed);
	return left;
}

static inline void lock_drop(struct lock *lock)
{
	watch_drop(LOCK_RANK(lock));
	if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
		lock_wake(lock);
}

/* Nothing happens if somebody has taken the lock over meanwhile. */
static inline void lock_drop_as(struct lock *lock, int self)
{
	if (atomic_load_explicit(&lock->owner, memory_order_relaxed) != self) {
		watch_drop(LOCK_RANK(lock));
		return;
	}
	atomic_store_explicit(&lock->owner, 0, memory_order_relaxed);
	lock_drop(lock);
}

#endif
