/*
 * Finds the blocks that were live before each event of a recording, by reading the events once more
 * from the spool.
 *
 * Where events are missing (dropped, or not recorded after memtrace_stop), only two kinds of blocks
 * are known to be live at the next event: those that are freed later before anything is allocated
 * at the same address (their stack may be unknown), and those that are live at the end and are
 * older than that event. Blocks without an address are unknown then, and if more events are missing
 * later, so are some others. With a filter, the live blocks are never known.
 *
 * This also runs in the traced program when it ends, so memory comes from mmap, not malloc.
 */
#pragma once

#include "facts/lives.h"
#include "spool/spool.h"

enum { CENSUS_RESTS = 64 };

struct census {
	const struct spool *spool;
	struct lives lives; /* stacks of its blocks: numbers in the spool, UINT32_MAX if unknown */
	/* Bytes of blocks without an address, one row for each stack, pool, device and kind. */
	struct block rests[CENSUS_RESTS];
	unsigned rests_n;
};

struct live_at_visitor {
	void *context;
	/* Called with the blocks that are live before each event, after the last event, and where
	 * events are missing also before the first missing one; never if the recording had a
	 * filter. `seq`: number of the event that comes next. Returns 0, or -errno to end the
	 * pass. */
	int (*moment)(void *context, const struct census *census, uint64_t seq);
	/* Called for each event, in order. */
	void (*event)(void *context, const struct event *event);
};

/* Passes all events of the spool to the visitor. Returns 0, -ENOMEM, or the visitor's error. */
int live_at_take(const struct spool *spool, const struct live_at_visitor *visitor);
