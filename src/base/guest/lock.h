/*
 * A small lock on a futex: no allocation, re-initialised by lock_reset() (after fork).
 *
 * pthread_mutex_t would do but for two things: in the child of a raw clone() nobody has
 * re-initialised it, and there is no portable way to do so; and a thread of the host that ends
 * inside it (asynchronous cancellation, a raw exit), or whose signal handler jumps out of it, would
 * block all others for ever.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/guest/watch.h"

struct lock {
	atomic_int state;      /* 0 free, 1 held, 2 held and somebody waits; or, with a name: */
	_Atomic(void **) left; /* where the holder's frame keeps its return address, and which: */
	_Atomic(void *) back;  /* as long as the holder is inside, the one is found in the other */
	atomic_uint turn;      /* counts holders, so that one who waits sees that it goes on */
	enum lock_rank rank;   /* for watch.h */
};

/* The state of a lock whose holder said who it is: its thread's number, and this bit. */
enum { LOCK_AWAITED = 1 << 30, LOCK_RESCUED = LOCK_AWAITED - 1 };

/* A free lock; `name` is that of its row in locks.def. */
#define LOCK_INIT(name)             \
	{                           \
		.rank = LOCK_##name \
	}

enum {
	LOCK_SLICE_MS = 200, /* how often somebody who waits looks after the owner */
	LOCK_SLICES = 50,    /* after so many without a change the owner is given up: 10 s */
	/* The same where this thread has it itself, on another stack: led there by a signal, it
	 * waits for the next one to lead it back. */
	LOCK_OWN_SLICES = 5,
};

enum lock_got {
	LOCK_GOT,
	LOCK_LEFT,    /* its holder is known to be inside no more: it has ended, or jumped away */
	LOCK_OVERDUE, /* it did not come back for so long: nobody knows whether it will */
};

void lock_wait(struct lock *lock);
void lock_wake(struct lock *lock);
enum lock_got lock_inherit(struct lock *lock, int self);
void lock_drop_awaited(struct lock *lock, int self);

/* By a thread that holds it itself, but is not inside any more: nobody else can take it over then,
 * until lock_drop_as() with LOCK_RESCUED. False if somebody has done so. */
bool lock_rescue(struct lock *lock, int self);

/* Has the word changed that a frame keeps, or is it gone? False also if nothing can be read here.
 */
bool lock_frame_gone(void *const *where, const void *was);

/* Is this a signal handler on the stack that sigaltstack() named? Also if nobody can tell. */
bool lock_on_other_stack(void);

/*
 * Has this thread, which is in `here` now, left a frame of its own that returned to `back`? Surely
 * if `here` has its place or lies further out on the same stack, or if the frame does not hold that
 * address any more.
 */
bool lock_frame_left(void **frame, const void *back, void **here);

/* One that is free is not written to: a child keeps sharing its page with the parent. */
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
 * The same for a thread that says who it is, and which frame it does not leave before it drops the
 * lock (NULL: none): a signal handler may leave that frame behind by siglongjmp(). Where it is
 * LOCK_LEFT or LOCK_OVERDUE the holder before left the lock behind half done; what it guards has to
 * be made whole first.
 */
static inline enum lock_got lock_take_as(struct lock *lock, int self, void **frame)
{
	enum lock_got got = LOCK_GOT;
	int free = 0;

	watch_take(lock->rank);
	if (!atomic_compare_exchange_strong_explicit(&lock->state, &free, self,
						     memory_order_acquire, memory_order_relaxed))
		got = lock_inherit(lock, self);
	/* First: who sees the others of this turn sees that it is one (was_left). */
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

/* Nothing happens if somebody has taken the lock over meanwhile. */
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
