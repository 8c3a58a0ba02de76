/*
 * LEB128 variable-length integers: seven bits per byte, the lowest bits first.
 *
 * Addresses and sizes are mostly multiples of 256. varint_align() rotates them right by eight bits,
 * so that their low zero bits become high zero bits, which a varint omits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline uint8_t *varint_put(uint8_t *p, uint64_t value)
{
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

/* Reads a varint and advances *p. False if it does not end before `end` or exceeds 64 bits. */
static inline bool varint_get(const uint8_t **p, const uint8_t *end, uint64_t *value)
{
	uint64_t result = 0;

	for (unsigned shift = 0; shift < 64 && *p < end; shift += 7) {
		uint8_t byte = *(*p)++;

		if (shift == 63 && byte > 1)
			return false;
		result |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*value = result;
			return true;
		}
	}
	return false;
}

static inline uint64_t varint_align(uint64_t value)
{
	return value >> 8 | value << 56;
}

static inline uint64_t varint_unalign(uint64_t value)
{
	return value << 8 | value >> 56;
}

static inline uint64_t varint_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t varint_unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}
