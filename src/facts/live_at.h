/*
 * The blocks that were live at moments of a recording, found by reading its events once more from
 * the spool.
 *
 * The result is exact after events that were dropped or not recorded (memtrace_stop), too: the
 * blocks that were live at the end of such a hole are those that end later without having begun
 * since, and those that are live at the end and older. Only the stacks of the former are not known.
 * In a recording with a filter, no moment is known.
 *
 * Also used at the end of the traced program.
 */
#pragma once

#include "facts/lives.h"
#include "spool/spool.h"

enum { CENSUS_RESTS = 64 };

struct census {
	const struct spool *spool;
	struct lives lives; /* a block's stack is a number of the spool, UINT32_MAX where it is not
			       known */
	/* Bytes without an address: a pool's own sums counted them, and no call did. */
	struct block rests[CENSUS_RESTS];
	unsigned rests_n;
};

struct live_at_visitor {
	void *context;
	/* Called before the event `seq`, also for an event that is missing while those before it
	 * are there; not for moments in a hole. 0 or -errno, which ends the pass. */
	int (*moment)(void *context, const struct census *census, uint64_t seq);
	/* Called for each event. */
	void (*event)(void *context, const struct event *event);
};

/* 0, or -ENOMEM, or the error of the visitor. */
int live_at_take(const struct spool *spool, const struct live_at_visitor *visitor);
