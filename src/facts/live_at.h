/*
 * The blocks that were live at moments of a recording, found by reading its events once more from
 * the spool.
 *
 * The result is exact even after events that were dropped or not recorded (memtrace_stop). The
 * blocks that were live when recording went on are those that are freed later without an allocation
 * in between, and those that are older and live at the end; the former have no known stack. In a
 * recording with a filter, no moment is known.
 *
 * Also used at the end of the traced program.
 */
#pragma once

#include "facts/lives.h"
#include "spool/spool.h"

enum { CENSUS_RESTS = 64 };

struct census {
	const struct spool *spool;
	struct lives lives; /* blocks[].stack is a number of the spool, UINT32_MAX if unknown */
	/* Bytes without an address, by stack: a pool's counters have them, but no call. */
	struct block rests[CENSUS_RESTS];
	unsigned rests_n;
};

struct live_at_visitor {
	void *context;
	/* Called with the blocks that were live before event `seq`, wherever they are known; `seq`
	 * may be the first missing event. 0, or -errno, which ends the pass. */
	int (*moment)(void *context, const struct census *census, uint64_t seq);
	/* Called for each event, in order. */
	void (*event)(void *context, const struct event *event);
};

/* 0, or -ENOMEM, or the error of the visitor. */
int live_at_take(const struct spool *spool, const struct live_at_visitor *visitor);
