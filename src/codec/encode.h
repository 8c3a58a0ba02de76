/* Events into bytes: the writing half of wire.h. */
#pragma once

#include <stddef.h>

#include "codec/wire.h"

/*
 * Writes one event at p, where WIRE_EVENT_MAX bytes must be free; its time must not be before the
 * one written last. Returns the end of what was written.
 */
uint8_t *encode_event(struct wire_state *state, uint8_t *p, const struct event *event);

/* Writes a device's sums at p, where WIRE_SUMS_MAX bytes must be free. */
uint8_t *encode_sums(uint8_t *p, int device, uint64_t allocated, uint64_t reserved);
