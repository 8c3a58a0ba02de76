/* The lock: one at a time, and nobody waits for a thread that is no more. */
#define CHECK_SECONDS 120
#include "check.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/guest/lock.h"

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
		OK(!lock_take_as(&lock, self(), NULL));
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
	lock_take_as(&lock, self(), NULL);
	return unused;
}

TEST(a_lock_that_was_left_is_inherited)
{
	pthread_t thread;

	EQ(pthread_create(&thread, NULL, take_and_end, NULL), 0);
	pthread_join(thread, NULL);
	OK(lock.state);
	EQ(lock_take_as(&lock, self(), NULL), LOCK_LEFT);
	OK(lock_is_own(&lock, self()));
	lock_drop_as(&lock, self());
	OK(!lock_take_as(&lock, self(), NULL));
	lock_drop_as(&lock, self());
}

static void *take_and_stay(void *unused)
{
	lock_take_as(&lock, self(), NULL);
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
	OK(!lock_take_as(&lock, self(), NULL));
	EQ(guarded, 1);
	lock_drop_as(&lock, self());
	pthread_join(thread, NULL);
}

/* Whoever comes back to a lock that was taken over must not give it away. */
TEST(the_old_owner_drops_nothing)
{
	lock_take_as(&lock, self(), NULL);
	atomic_store(&lock.state, 1);
	lock_drop_as(&lock, self());
	EQ(lock.state, 1);
	lock_reset(&lock);
	OK(!lock_take_as(&lock, self(), NULL));
	lock_drop_as(&lock, self());
}

static jmp_buf away;
static _Atomic bool over;

/* As a signal handler would, from the middle of what the lock is held for. */
static __attribute__((noinline)) void take_and_jump(void)
{
	lock_take_as(&lock, self(), __builtin_frame_address(0));
	longjmp(away, 1);
}

static __attribute__((noinline)) void write_over(void)
{
	volatile char room[4096];

	memset((void *)room, 0x5a, sizeof(room));
}

static void *take_and_jump_away(void *unused)
{
	if (!setjmp(away))
		take_and_jump();
	write_over();
	taken = true;
	while (!over)
		usleep(1000);
	return unused;
}

/* The thread lives, and never comes back to it. */
TEST(a_lock_that_was_jumped_out_of_is_inherited)
{
	pthread_t thread;

	EQ(pthread_create(&thread, NULL, take_and_jump_away, NULL), 0);
	while (!taken)
		usleep(1000);
	EQ(lock_take_as(&lock, self(), NULL), LOCK_LEFT);
	lock_drop_as(&lock, self());
	over = true;
	pthread_join(thread, NULL);
	EQ(lock.state, 0);
}

/* On another stack of its thread, which nobody leads back to the one that has it. */
TEST(a_lock_that_its_own_thread_holds_is_not_waited_for_for_ever)
{
	EQ(lock_take_as(&lock, self(), NULL), LOCK_GOT);
	EQ(lock_take_as(&lock, self(), NULL), LOCK_OVERDUE);
	OK(lock_is_own(&lock, self()));
	lock_drop_as(&lock, self());
	EQ(lock.state, 0);
}

/* The thread itself sees it: from then on nobody else does. */
TEST(a_lock_is_rescued_once)
{
	EQ(lock_take_as(&lock, self(), NULL), LOCK_GOT);
	OK(lock_rescue(&lock, self()));
	OK(!lock_rescue(&lock, self()));
	OK(!lock_is_own(&lock, self()));
	lock_drop_as(&lock, self());
	OK(lock.state);
	lock_drop_as(&lock, LOCK_RESCUED);
	EQ(lock.state, 0);
}
