/* The lock: one at a time, and nobody waits for a thread that is no more. */
#define CHECK_SECONDS 120
#include "check.h"

#include <pthread.h>
#include <sys/syscall.h>

#include "base/lock.h"

enum { THREADS = 8, TURNS = 20000 };

static struct lock lock;
static unsigned long guarded;
static _Atomic bool taken;

static int self(void)
{
	return (int)syscall(SYS_gettid);
}

static void *count(void *unused)
{
	for (unsigned i = 0; i < TURNS; i++) {
		OK(!lock_take_as(&lock, self()));
		guarded++;
		lock_drop_as(&lock, self());
	}
	return unused;
}

TEST(one_at_a_time)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		EQ(pthread_create(&threads[i], NULL, count, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	EQ(guarded, (unsigned long)THREADS * TURNS);
	EQ(lock.state, 0);
}

static void *take_and_end(void *unused)
{
	lock_take_as(&lock, self());
	return unused;
}

TEST(a_lock_that_was_left_is_inherited)
{
	pthread_t thread;

	EQ(pthread_create(&thread, NULL, take_and_end, NULL), 0);
	pthread_join(thread, NULL);
	EQ(lock.state, 1);
	OK(lock_take_as(&lock, self()));
	EQ(lock.owner, self());
	lock_drop_as(&lock, self());
	OK(!lock_take_as(&lock, self()));
	lock_drop_as(&lock, self());
}

static void *take_and_stay(void *unused)
{
	lock_take_as(&lock, self());
	taken = true;
	usleep(LOCK_SLICE_MS * 5000);
	guarded = 1;
	lock_drop_as(&lock, self());
	return unused;
}

/* Longer than a slice, but its owner lives: it is waited for. */
TEST(who_lives_is_waited_for)
{
	pthread_t thread;

	EQ(pthread_create(&thread, NULL, take_and_stay, NULL), 0);
	while (!taken)
		usleep(1000);
	OK(!lock_take_as(&lock, self()));
	EQ(guarded, 1);
	lock_drop_as(&lock, self());
	pthread_join(thread, NULL);
}

/* Whoever comes back to a lock that was taken over must not give it away. */
TEST(the_old_owner_drops_nothing)
{
	lock_take_as(&lock, self());
	atomic_store(&lock.owner, 1);
	lock_drop_as(&lock, self());
	EQ(lock.state, 1);
	lock_reset(&lock);
	OK(!lock_take_as(&lock, self()));
	lock_drop_as(&lock, self());
}
