/* A small lock on a futex (Drepper, "Futexes are tricky", mutex 2, with a short spin in front). */
#include "base/lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 200 }; /* what the lock guards takes about 100 ns */

static inline void relax(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static bool spin(struct lock *lock)
{
	for (int i = 0; i < SPINS; i++) {
		int free = 0;

		relax();
		if (atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_weak_explicit(
			    &lock->state, &free, 1, memory_order_acquire, memory_order_relaxed))
			return true;
	}
	return false;
}

/* False when the time is over. */
static bool wait_for(struct lock *lock, const struct timespec *slice)
{
	return !syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, slice, NULL, 0) ||
	       errno != ETIMEDOUT;
}

void lock_wait(struct lock *lock)
{
	int saved = errno;

	if (!spin(lock)) {
		while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
			wait_for(lock, NULL);
	}
	errno = saved;
}

/* tkill and not tgkill: with CLONE_VM the owner may be of another process. */
static bool is_gone(int thread)
{
	return thread && syscall(SYS_tkill, thread, 0) && errno == ESRCH;
}

static bool inherit(struct lock *lock, int self)
{
	const struct timespec slice = { 0, LOCK_SLICE_MS * 1000000L };
	unsigned turn = atomic_load(&lock->turn);
	unsigned waited = 0;

	while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0) {
		int owner;

		if (wait_for(lock, &slice) || turn != atomic_load(&lock->turn)) {
			turn = atomic_load(&lock->turn);
			waited = 0;
			continue;
		}
		/* A process that was stopped for an hour finds one slice over, not fifty. */
		owner = atomic_load(&lock->owner);
		if ((is_gone(owner) || ++waited >= LOCK_SLICES) &&
		    atomic_compare_exchange_strong(&lock->owner, &owner, self))
			return true;
	}
	return false;
}

bool lock_inherit(struct lock *lock, int self)
{
	int saved = errno;
	bool left = !spin(lock) && inherit(lock, self);

	errno = saved;
	return left;
}

void lock_wake(struct lock *lock)
{
	int saved = errno;

	syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	errno = saved;
}
