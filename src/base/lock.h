/*
 * A small lock on a futex: 4 bytes, no allocation, re-initialised by storing 0 (after fork).
 *
 * pthread_mutex_t would do but for one thing: in the child of a raw clone() nobody has
 * re-initialised it, and there is no portable way to do so.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <stdatomic.h>

struct lock {
	atomic_int state; /* 0 free, 1 held, 2 held and somebody waits */
};

void lock_wait(struct lock *lock);
void lock_wake(struct lock *lock);

static inline void lock_take(struct lock *lock)
{
	int free = 0;

	if (!atomic_compare_exchange_strong_explicit(&lock->state, &free, 1, memory_order_acquire,
						     memory_order_relaxed))
		lock_wait(lock);
}

static inline void lock_drop(struct lock *lock)
{
	if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
		lock_wake(lock);
}

#endif
