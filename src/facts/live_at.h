/*
 * Finds the blocks that were live before each event of a recording, by reading the events once more
 * from the spool.
 *
 * The result is exact even after events that were dropped or not recorded (memtrace_stop). The
 * blocks that were live when events resume are those that are freed later without an allocation in
 * between (their stack may be unknown), and older blocks that are live at the end. In a recording
 * with a filter, the live blocks are never known.
 *
 * Also used at the end of the traced program.
 */
#pragma once

#include "facts/lives.h"
#include "spool/spool.h"

enum { CENSUS_RESTS = 64 };

struct census {
	const struct spool *spool;
	struct lives lives; /* blocks[].stack: number in the spool, UINT32_MAX if unknown */
	/* Bytes without an address, by stack and pool: only a pool's counters showed them. */
	struct block rests[CENSUS_RESTS];
	unsigned rests_n;
};

struct live_at_visitor {
	void *context;
	/* Called before each event with the blocks that are live then, also before the first event
	 * of a gap and after the last event, but never with a filter. `seq`: number of that event.
	 * Returns 0, or -errno to end the pass. */
	int (*moment)(void *context, const struct census *census, uint64_t seq);
	/* Called for each event, in order. */
	void (*event)(void *context, const struct event *event);
};

/* Passes all events of the spool to the visitor. Returns 0, -ENOMEM, or the visitor's error. */
int live_at_take(const struct spool *spool, const struct live_at_visitor *visitor);
