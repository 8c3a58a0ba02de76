/*
 * CUPTI's records against our events: does every allocation and free that it saw have an event?
 *
 * One by one and in order: a record is matched by the first event of its kind at its address that
 * no other record took, with its size. Where the two speak of one thing in different ways (read off
 * an H200 with CUPTI 13.0):
 *
 *   - of a mipmapped array CUPTI tells each level, with a handle of its own: together they must be
 *     the array's size; of a layered one it tells the bytes of one layer;
 *   - memory opened a second time (cudaIpcOpenMemHandle) is one event and two records;
 *   - what graphs allocate while they run has no event by itself, for it is sampled: it must fit
 *     into what the trace says graphs had then.
 *
 * Memory comes from mmap, for this also runs at the end of the traced program.
 */
#ifndef FACTS_CUPTI_CHECK_H
#define FACTS_CUPTI_CHECK_H

#include "base/mem/arena.h"
#include "spool/spool.h"

enum { WITNESS_LISTED = 100 };

struct witness {
	uint64_t records; /* of allocations and frees */
	uint64_t matched;
	uint64_t unjudged; /* from the time whose events were dropped */
	uint64_t lost;     /* that found no room */
	uint64_t events; /* of ours without a record: CUPTI has none of cuMemCreate, or of segments
			  */
	uint64_t pools;  /* records of pools made, trimmed and ended: no memory moves */
	uint64_t listed_n;
	const struct spool_witness *listed[WITNESS_LISTED]; /* without an event, oldest first */
};

/* 0 or -ENOMEM. The lists point into the spool. */
int witness_match(struct witness *witness, const struct spool *spool);

#endif
