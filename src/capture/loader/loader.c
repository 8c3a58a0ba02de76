/* Counts the threads that are calling the dynamic loader, and makes forks wait for them. */
#include "capture/loader/loader.h"

#include <errno.h>
#include <time.h>

#include "base/guest/debug_checks.h"
#include "base/guest/lock.h"
#include "base/guest/own_stack_and_thread.h"

enum { NAP_US = 50 };

HOT_CODE void crowd_count(struct crowd *crowd, struct crowd_self *self)
{
	if (__builtin_expect(!self->shard, 0))
		self->shard = 1 + atomic_fetch_add(&crowd->threads, 1) % CROWD_SHARDS;
	if (__builtin_expect(!self->counted, 1)) {
		atomic_fetch_add(&crowd->shards[self->shard - 1].count, 1);
		self->counted = true;
	}
}

HOT_CODE void crowd_discount(struct crowd *crowd, struct crowd_self *self)
{
	if (!self->counted)
		return;
	self->counted = false;
	atomic_fetch_sub(&crowd->shards[self->shard - 1].count, 1);
}

HOT_CODE bool crowd_enter(struct crowd *crowd, struct crowd_self *self, void **frame)
{
	if (__builtin_expect(self->frame != NULL, 0) &&
	    !lock_frame_left(self->frame, self->back, frame))
		return false;
	self->back = frame[1];
	atomic_signal_fence(memory_order_seq_cst);
	self->frame = frame;
	atomic_signal_fence(memory_order_seq_cst);
	crowd_count(crowd, self);
	return true;
}

/* Clears self->frame last: until then, a signal handler that enters the crowd changes no count. */
HOT_CODE void crowd_leave(struct crowd *crowd, struct crowd_self *self, void **frame)
{
	if (self->frame != frame)
		return;
	crowd_discount(crowd, self);
	atomic_signal_fence(memory_order_seq_cst);
	self->frame = NULL;
}

bool crowd_is_empty(const struct crowd *crowd, const struct crowd_self *self)
{
	int count = -self->counted;

	for (int i = 0; i < CROWD_SHARDS; i++)
		count += atomic_load(&crowd->shards[i].count);
	return count <= 0;
}

void crowd_forked(struct crowd *crowd, struct crowd_self *self)
{
	for (int i = 0; i < CROWD_SHARDS; i++)
		if (atomic_load(&crowd->shards[i].count)) /* a page not written to stays shared */
			atomic_store(&crowd->shards[i].count, 0);
	if (self->counted)
		atomic_store(&crowd->shards[self->shard - 1].count, 1);
}

void crowd_await(bool (*so)(void), int milliseconds)
{
	const struct timespec nap = { 0, NAP_US * 1000L };
	int saved = errno;

	for (int naps = milliseconds * 1000 / NAP_US; !so() && naps; naps--)
		nanosleep(&nap, NULL);
	errno = saved;
}

atomic_bool loader_silent;
static struct crowd asking;
static _Thread_local struct crowd_self self;
static atomic_int forking;
static atomic_uint forks;                 /* number of forks so far */
static _Thread_local unsigned waited_for; /* `forks` when a wait for a fork timed out */

bool loader_nobody_forks(void)
{
	return !atomic_load(&forking);
}

static bool nobody_asks(void)
{
	return crowd_is_empty(&asking, &self);
}

/* Threads and forks announce themselves before they check: one of any two sees the other. */
void loader_enter_in(void **frame)
{
	if (!crowd_enter(&asking, &self, frame) || __builtin_expect(loader_nobody_forks(), 1))
		return;
	/* This may be a signal handler inside an update that the fork waits for: the fork goes on
	 * only after the handler returns. So a thread waits at most once for a given fork. */
	if (waited_for == atomic_load(&forks))
		return;
	crowd_leave(&asking, &self, frame);
	crowd_await(loader_nobody_forks, LOADER_PATIENCE_MS);
	if (!loader_nobody_forks())
		waited_for = atomic_load(&forks);
	crowd_enter(&asking, &self, frame);
}

void loader_leave_in(void **frame)
{
	crowd_leave(&asking, &self, frame);
}

void loader_hold(void)
{
	atomic_fetch_add(&forks, 1);
	atomic_fetch_add(&forking, 1);
	crowd_await(nobody_asks, LOADER_PATIENCE_MS);
}

void loader_release(void)
{
	atomic_fetch_sub(&forking, 1);
}

void loader_forked(void)
{
	bool others = atomic_load(&asking.threads) > (self.shard != 0);

	if (!nobody_asks() || (loader_nobody_forks() && others))
		atomic_store(&loader_silent, true);
	crowd_forked(&asking, &self);
	if (!loader_nobody_forks())
		atomic_store(&forking, 0);
}

struct call {
	void (*work)(void *);
	void *argument;
};

static void call_inside(void *argument)
{
	const struct call *call = argument;
	const char *path = watch_path(NULL);

	loader_enter();
	call->work(call->argument);
	loader_leave();
	watch_path(path);
}

void loader_call(void (*work)(void *), void *argument)
{
	struct call call = { work, argument };

	own_stack_call(call_inside, &call);
}

bool loader_used(void)
{
	return atomic_load(&asking.threads) != 0;
}
