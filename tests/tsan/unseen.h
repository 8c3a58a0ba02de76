/*
 * The simulated driver's locks, where ThreadSanitizer does not see them (Makefile, check-tsan).
 *
 * Every hooked call takes them: seen, they would order all that the library does after one call
 * with all that it does before the next, and hide its races.
 */
#pragma once

#include <pthread.h>
#include <sched.h>

static inline int unseen_lock(int *word)
{
	while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
		sched_yield();
	return 0;
}

static inline int unseen_unlock(int *word)
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
	return 0;
}

/* The first word of a mutex that is all zeros at the start, as those of the fake are. */
#define pthread_mutex_lock(mutex) unseen_lock((int *)(mutex))
#define pthread_mutex_unlock(mutex) unseen_unlock((int *)(mutex))
