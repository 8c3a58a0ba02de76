/*
 * The encoding of events: records, and the caches that encoder and decoder keep equal.
 *
 * A chunk is a run of records. It can be read by itself, given the first event's number and the
 * time from which that event's dt counts:
 *
 *   event    slot            1 byte, 0..247: a context (op, space, device, pool, ...)
 *            dt              varint, ns since the previous event
 *     memory ptr             varint, address XOR the previous one, rotated right by 8
 *            size            1 byte cache slot, or 255 and a varint (rotated right by 8)
 *            stack           1 byte cache slot, or 255 and a varint
 *     mark   name            varint
 *            color category payload_kind payload: varints, payload_kind 1 byte; if EVENT_DETAILED
 *   WIRE_CONTEXT slot op space flags: bytes; device (zigzag) pool api error thread stream: varints
 *   WIRE_SUMS    device (zigzag) allocated reserved: varints; at a chunk's start and between events
 *
 * Caches are direct-mapped: encoder and decoder store a value that was not cached in the same slot,
 * so their caches stay equal without extra records. A typical PyTorch block event takes 11 bytes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "codec/event.h"

enum {
	WIRE_CONTEXTS = 248,
	WIRE_CONTEXT = 248,
	WIRE_SUMS = 249,
	WIRE_CACHE = 255,
	WIRE_ESCAPE = 255,
	WIRE_EVENT_MAX = 128, /* maximum bytes of an event and its wire_context */
	WIRE_SUMS_MAX = 32,
};

struct wire_context {
	uint64_t stream;
	uint32_t pool, api, error, thread;
	int16_t device;
	uint8_t op, space, flags;
	uint8_t unused[3];
};

_Static_assert(sizeof(struct wire_context) == 32, "no padding: contexts are compared as bytes");

/* Caches that encoder and decoder change in the same way; empty at the start of each chunk. */
struct wire_state {
	uint64_t t;
	uint64_t ptr;
	uint64_t sizes[WIRE_CACHE], stacks[WIRE_CACHE];
	struct wire_context contexts[WIRE_CONTEXTS];
};

static inline unsigned wire_slot(uint64_t value, unsigned slots)
{
	return (unsigned)((value * 0x9e3779b97f4a7c15u >> 40) * slots >> 24);
}

/* Empties the caches for a new chunk, whose first event stores its time as the ns since t (ns). */
static inline void wire_reset(struct wire_state *state, uint64_t t)
{
	memset(state, 0, sizeof(*state));
	state->t = t;
}

/* --- writing --- */

/* Writes one event at p, where WIRE_EVENT_MAX bytes must be free. Its time must not be before the
 * previous event's. Returns the end of the bytes written. */
uint8_t *encode_event(struct wire_state *state, uint8_t *p, const struct event *event);

/* Writes a device's sums at p, where WIRE_SUMS_MAX bytes must be free. */
uint8_t *encode_sums(uint8_t *p, int device, uint64_t allocated, uint64_t reserved);

/* --- reading of untrusted bytes --- */

enum { DECODE_DEVICES = 256 };

struct decode_sums {
	uint64_t allocated, reserved;
};

struct decoder {
	const uint8_t *p, *end;
	uint64_t seq; /* sequence number of the next event */
	struct wire_state state;
	struct decode_sums sums[DECODE_DEVICES];
};

/* Begins a chunk of `length` bytes. Its first event has number `seq` and stores its time as the ns
 * since t (ns). */
void decode_start(struct decoder *decoder, const uint8_t *bytes, size_t length, uint64_t seq,
		  uint64_t t);

/* Reads the next event. Returns 1, 0 at the end of the chunk, or -EINVAL if bytes are invalid. */
int decode_event(struct decoder *decoder, struct event *event);
