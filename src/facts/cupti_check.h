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

#include "facts/spool_model.h"

/* Fills the trace's witness. */
void recording_match(struct recording *recording);

#endif
