/* Bytes into events: the reading half of wire.h. It trusts nothing that it reads. */
#pragma once

#include <stddef.h>

#include "codec/wire.h"

enum { DECODE_DEVICES = 256 };

struct decode_sums {
	uint64_t allocated, reserved;
};

struct decoder {
	const uint8_t *p, *end;
	uint64_t seq; /* of the next event */
	struct wire_state state;
	struct decode_sums sums[DECODE_DEVICES];
};

/* Begins a chunk of `length` bytes whose first event has the given number and time. */
void decode_start(struct decoder *decoder, const uint8_t *bytes, size_t length, uint64_t seq,
		  uint64_t t);

/* 1 and the event; 0 at the end; -EINVAL where the bytes make no sense (decoder->p says where). */
int decode_event(struct decoder *decoder, struct event *event);
