/* Who is asking the dynamic loader, and who makes a child. */
#include "capture/loader.h"

#include <errno.h>
#include <time.h>

enum { NAP_US = 50, SHARDS = 64 };

/* Threads inside, spread: every walk counts itself here. */
static struct {
	_Alignas(64) atomic_int count;
} asking[SHARDS];

atomic_bool loader_silent;
static atomic_int forking;
static atomic_uint forks;                 /* so far */
static _Thread_local unsigned waited_for; /* the fork that this thread waited for in vain */
static atomic_uint threads;
static _Thread_local int depth;
static _Thread_local unsigned shard; /* 1 + that of this thread */

static atomic_int *own(void)
{
	if (!shard)
		shard = 1 + atomic_fetch_add(&threads, 1) % SHARDS;
	return &asking[shard - 1].count;
}

static bool nobody_forks(void)
{
	return !atomic_load(&forking);
}

/* But this thread itself, in a signal handler that interrupted it in there. */
static bool nobody_asks(void)
{
	int count = -(depth > 0);

	for (int i = 0; i < SHARDS; i++)
		count += atomic_load(&asking[i].count);
	return count <= 0;
}

/* Until it is so, or for as long as patience lasts. */
static void wait_until(bool (*so)(void))
{
	const struct timespec nap = { 0, NAP_US * 1000L };
	int saved = errno;

	for (int naps = LOADER_PATIENCE_MS * 1000 / NAP_US; !so() && naps; naps--)
		nanosleep(&nap, NULL);
	errno = saved;
}

/* Announced first and looked second, on both sides: one of two sees the other. */
void loader_enter(void)
{
	if (depth++)
		return;
	atomic_fetch_add(own(), 1);
	if (__builtin_expect(nobody_forks(), 1))
		return;
	/* A fork that waits for what we hold, we being a handler in the middle of an update, is
	 * not over before the handler is, however often that asks. */
	if (waited_for == atomic_load(&forks))
		return;
	atomic_fetch_sub(own(), 1);
	wait_until(nobody_forks);
	if (!nobody_forks())
		waited_for = atomic_load(&forks);
	atomic_fetch_add(own(), 1);
}

void loader_leave(void)
{
	if (!--depth)
		atomic_fetch_sub(own(), 1);
}

void loader_hold(void)
{
	atomic_fetch_add(&forks, 1);
	atomic_fetch_add(&forking, 1);
	wait_until(nobody_asks);
}

void loader_release(void)
{
	atomic_fetch_sub(&forking, 1);
}

void loader_forked(void)
{
	bool others = atomic_load(&threads) > (shard != 0);

	if (!nobody_asks() || (nobody_forks() && others))
		atomic_store(&loader_silent, true);
	for (int i = 0; i < SHARDS; i++)
		if (atomic_load(&asking[i].count)) /* who only reads keeps the parent's page */
			atomic_store(&asking[i].count, 0);
	if (depth)
		atomic_store(own(), 1);
	if (!nobody_forks())
		atomic_store(&forking, 0);
}

bool loader_used(void)
{
	return atomic_load(&threads) != 0;
}
