/* A small lock based on a futex: a short spin, then mutex 2 of Drepper's "Futexes are tricky". */
#include "base/guest/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <time.h>

#include "base/guest/raw_call.h"
#include "base/guest/safe_read.h"

enum { SPINS = 200 }; /* tries before futex(2); most holders drop the lock within about 100 ns */

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static bool spin(struct lock *lock, int held)
{
	for (int i = 0; i < SPINS; i++) {
		int free = 0;

		relax();
		if (atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_weak_explicit(
			    &lock->state, &free, held, memory_order_acquire, memory_order_relaxed))
			return true;
	}
	return false;
}

/* Waits until the lock's state is not `state`, or returns early for a signal. False if the time
 * `slice` (NULL: no limit) has passed. */
static bool wait_for_state(struct lock *lock, int state, const struct timespec *slice)
{
	return raw_futex(&lock->state, FUTEX_WAIT_PRIVATE, state, slice) != -ETIMEDOUT;
}

void lock_wait(struct lock *lock)
{
	if (spin(lock, 1))
		return;
	while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
		wait_for_state(lock, 2, NULL);
}

/* True if the thread has ended. tkill(), unlike tgkill(), finds it in a CLONE_VM process, too. */
static bool is_gone(int thread)
{
	return thread != LOCK_RESCUED && raw_call(SYS_tkill, thread, 0, 0) == -ESRCH;
}

bool lock_frame_gone(void *const *where, const void *was)
{
	void *now = NULL;

	return peek(&now, where, sizeof(now)) ? now != was : peek(&now, &was, sizeof(now));
}

bool lock_on_other_stack(void)
{
	stack_t stack = { 0 };

	return raw_call(SYS_sigaltstack, 0, raw_address(&stack), 0) || stack.ss_flags & SS_ONSTACK;
}

bool lock_frame_left(void **frame, const void *back, void **here)
{
	return (here >= frame && !lock_on_other_stack()) || lock_frame_gone(frame + 1, back);
}

/* True if the holder left its stack frame without dropping the lock (a signal handler jumped away).
 * Only valid if lock->turn stays the same during the call: else lock->left and lock->back may
 * belong to a later holder. */
static bool was_left(struct lock *lock)
{
	void **where = atomic_load(&lock->left);

	return where && lock_frame_gone(where, atomic_load(&lock->back));
}

/* Sets LOCK_AWAITED unless the lock is free. Returns the lock's state, 0 if it is free. */
static int await(struct lock *lock)
{
	int state = atomic_load_explicit(&lock->state, memory_order_relaxed);

	while (state && !(state & LOCK_AWAITED)) {
		if (atomic_compare_exchange_weak(&lock->state, &state, state | LOCK_AWAITED))
			return state | LOCK_AWAITED;
	}
	return state;
}

static enum lock_got inherit(struct lock *lock, int self)
{
	const struct timespec slice = { 0, LOCK_SLICE_MS * 1000000L };
	unsigned turn = atomic_load(&lock->turn);
	unsigned most = lock_is_own(lock, self) ? LOCK_OWN_SLICES : LOCK_SLICES;
	unsigned waited = 0;

	for (;;) {
		int state = await(lock);
		bool left;

		if (!state) {
			if (atomic_compare_exchange_weak_explicit(
				    &lock->state, &state, self | LOCK_AWAITED, memory_order_acquire,
				    memory_order_relaxed))
				return LOCK_GOT;
			continue;
		}
		if (wait_for_state(lock, state, &slice) || turn != atomic_load(&lock->turn)) {
			turn = atomic_load(&lock->turn);
			waited = 0;
			continue;
		}
		/* Counts waits, not time, which also passes while the process is stopped. */
		left = is_gone(state & ~LOCK_AWAITED) || was_left(lock);
		if ((!left && ++waited < most) || turn != atomic_load(&lock->turn))
			continue;
		atomic_store(&lock->left, NULL);
		if (atomic_compare_exchange_strong(&lock->state, &state, self | LOCK_AWAITED))
			return left ? LOCK_LEFT : LOCK_OVERDUE;
	}
}

enum lock_got lock_inherit(struct lock *lock, int self)
{
	return spin(lock, self) ? LOCK_GOT : inherit(lock, self);
}

bool lock_rescue(struct lock *lock, int self)
{
	int state = atomic_load(&lock->state);

	while ((state & ~LOCK_AWAITED) == self) {
		atomic_store(&lock->left, NULL);
		if (atomic_compare_exchange_weak(&lock->state, &state,
						 LOCK_RESCUED | (state & LOCK_AWAITED))) {
			atomic_fetch_add(&lock->turn, 1);
			return true;
		}
	}
	return false;
}

void lock_wake(struct lock *lock)
{
	raw_futex(&lock->state, FUTEX_WAKE_PRIVATE, 1, NULL);
}

void lock_drop_awaited(struct lock *lock, int self)
{
	int held = self | LOCK_AWAITED;

	if (atomic_compare_exchange_strong_explicit(&lock->state, &held, 0, memory_order_release,
						    memory_order_relaxed))
		lock_wake(lock);
}
