/* A small lock on a futex (Drepper, "Futexes are tricky", mutex 2, with a short spin in front). */
#include "base/lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
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

void lock_wait(struct lock *lock)
{
	for (int i = 0; i < SPINS; i++) {
		int free = 0;

		relax();
		if (atomic_load_explicit(&lock->state, memory_order_relaxed) == 0 &&
		    atomic_compare_exchange_weak_explicit(
			    &lock->state, &free, 1, memory_order_acquire, memory_order_relaxed))
			return;
	}
	while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
		syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

void lock_wake(struct lock *lock)
{
	syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
