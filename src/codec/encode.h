/* Events into bytes: the writing half of wire.h. */
#pragma once

#include <stddef.h>

#include "codec/wire.h"

/*
 * Writes one event at p, where WIRE_EVENT_MAX bytes must be free; its time must not be before the
 * one written last. Returns the end of what was written.
 */
uint8_t *encode_event(struct wire_state *state, uint8_t *p, const struct event *event);

/*
 * The same, for a run of allocations and frees that differ in op, thread, time, address, size and
 * stack alone, with nothing else written in between: which contexts they have is found once. Zeroed
 * before the first.
 */
struct encode_run {
	uint32_t thread;
	uint8_t known; /* a bit an op */
	uint8_t slots[EVENT_FREE + 1];
};

uint8_t *encode_next(struct wire_state *state, uint8_t *p, const struct event *event,
		     struct encode_run *run);

/* Writes a device's sums at p, where WIRE_SUMS_MAX bytes must be free. */
uint8_t *encode_sums(uint8_t *p, int device, uint64_t allocated, uint64_t reserved);
