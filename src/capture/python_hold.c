/* Keeps the interpreter from ending under a walk: its own lock, tried and never waited for. */
#include "capture/python_hold.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hot.h"

enum {
	TRIES = 200,
	MUTEX_LOCKED = 1, /* of a PyMutex (Include/cpython/lock.h) */
};

enum { UNKNOWN, FIRST, OTHER };
static HOT_THREAD __thread unsigned char thread_kind;

/* Of the process. In a child of fork() the only thread is the first one, whatever it was before. */
static bool is_first_thread(void)
{
	return syscall(SYS_gettid) == getpid();
}

static void *lock_of(const struct python_interpreter *python)
{
	return (char *)(uintptr_t)python->runtime + python->layout.runtime_head - 8;
}

static bool try_mutex(_Atomic uint8_t *bits)
{
	uint8_t old = atomic_load_explicit(bits, memory_order_relaxed);

	return !(old & MUTEX_LOCKED) &&
	       atomic_compare_exchange_strong_explicit(bits, &old, old | MUTEX_LOCKED,
						       memory_order_acquire, memory_order_relaxed);
}

static bool try_lock(const struct python_interpreter *python)
{
	void *lock = lock_of(python);

	if (!python->lock_acquire)
		return try_mutex(lock);
	/* Up to 3.12 a pointer stands there: a child of fork() gets another, an ended one has none.
	 */
	lock = *(void **)lock;
	return lock && python->lock_acquire(lock, 0) == 1;
}

static void pause_briefly(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static bool lock_soon(const struct python_interpreter *python)
{
	for (int i = 0; i < TRIES; i++) {
		if (try_lock(python))
			return true;
		if (python->finalizing())
			return false;
		pause_briefly();
	}
	return false;
}

HOT_CODE enum python_hold python_hold(const struct python_interpreter *python)
{
	enum python_hold hold = PYTHON_OWN;

	if (python->finalizing())
		return is_first_thread() ? PYTHON_OWN : PYTHON_ENDING;
	if (thread_kind == UNKNOWN)
		thread_kind = is_first_thread() ? FIRST : OTHER;
	if (thread_kind == FIRST || !python->lock_release)
		return PYTHON_OWN;
	if (lock_soon(python))
		hold = PYTHON_HELD;
	if (!python->finalizing())
		return hold;
	python_let_go(python, hold);
	return PYTHON_ENDING;
}

HOT_CODE void python_let_go(const struct python_interpreter *python, enum python_hold hold)
{
	void *lock;

	if (hold != PYTHON_HELD)
		return;
	lock = lock_of(python);
	python->lock_release(python->lock_acquire ? *(void **)lock : lock);
}
