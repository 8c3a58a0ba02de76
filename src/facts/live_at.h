/*
 * What was live at moments of a recording: its events once more, read from the spool.
 *
 * Exact also behind events that were dropped or not recorded (memtrace_stop): what lived at the end
 * of such a hole is what ended later without having begun since, and what lives at the end and is
 * older. Only the stacks of the former are not known then. Of a recording that a filter left
 * events out of, no moment is known.
 *
 * Also used at the end of the traced program.
 */
#pragma once

#include "facts/lives.h"
#include "spool/spool.h"

enum { CENSUS_RESTS = 64 };

struct census {
	const struct spool *spool;
	struct lives lives; /* their stack is the spool's, UINT32_MAX where it is not known */
	/* Bytes without an address: what a pool's own sums told, and no call did. */
	struct block rests[CENSUS_RESTS];
	unsigned rests_n;
};

struct live_at_visitor {
	void *context;
	/*
	 * In front of the event `seq`, also of one that is missing while those before it are there;
	 * for no moment in a hole. 0 or -errno, which ends the census.
	 */
	int (*moment)(void *context, const struct census *census, uint64_t seq);
	/* Each event. */
	void (*event)(void *context, const struct event *event);
};

/* 0, or -ENOMEM, or what the visitor said. */
int live_at_take(const struct spool *spool, const struct live_at_visitor *visitor);
