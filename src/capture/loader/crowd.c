/* Who is inside, counted without a lock. */
#include "capture/loader/crowd.h"

#include <errno.h>
#include <time.h>

#include "base/guest/hot.h"
#include "base/guest/lock.h"

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

/* The frame is forgotten last: a handler that comes before that counts nothing. */
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
		if (atomic_load(
			    &crowd->shards[i].count)) /* who only reads keeps the parent's page */
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
