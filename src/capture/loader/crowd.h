/*
 * Who is inside, for one who waits until nobody is; neither side has a lock.
 *
 * A thread counts once, and keeps which frame it entered in. If that still runs when the thread
 * enters again, this is a signal handler that interrupted it, and nothing is counted. If it does
 * not, a handler has jumped out of it: what is entered now takes its place, and is left for both.
 */
#ifndef CAPTURE_LOADER_CROWD_H
#define CAPTURE_LOADER_CROWD_H

#include <stdatomic.h>
#include <stdbool.h>

enum { CROWD_SHARDS = 64 };

struct crowd {
	atomic_uint threads; /* that were ever inside */
	struct {
		_Alignas(64) atomic_int count; /* spread: every walk counts itself */
	} shards[CROWD_SHARDS];
};

/* A thread's own, zeroed before it enters first. */
struct crowd_self {
	void **frame; /* that it is inside with, NULL outside */
	void *back;   /* where that one returns to */
	unsigned shard;
	bool counted;
};

/* `frame` is __builtin_frame_address(0) of a function that leaves before it returns. False when
 * this thread is inside already. */
bool crowd_enter(struct crowd *crowd, struct crowd_self *self, void **frame);
void crowd_leave(struct crowd *crowd, struct crowd_self *self, void **frame);

/* The same for what begins in one function and ends in another: without a frame nobody finds out
 * that it was left, before the thread comes again. */
void crowd_count(struct crowd *crowd, struct crowd_self *self);
void crowd_discount(struct crowd *crowd, struct crowd_self *self);

/* But for this thread itself. */
bool crowd_is_empty(const struct crowd *crowd, const struct crowd_self *self);

/* In a forked child nobody else is inside. */
void crowd_forked(struct crowd *crowd, struct crowd_self *self);

/* Until it is so, or for that long. errno is kept. */
void crowd_await(bool (*so)(void), int milliseconds);

#endif
