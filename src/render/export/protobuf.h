/*
 * The wire format of Protocol Buffers, as much of it as writing takes: varints, and fields that are
 * varints, bytes or messages (protobuf.dev/programming-guides/encoding).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message being written, zeroed to begin. protobuf_clear() frees its bytes. */
struct protobuf {
	unsigned char *bytes;
	size_t used, size;
	bool no_memory;
};

void protobuf_varint(struct protobuf *message, uint64_t value);

/* A field whose value is 0 is not written: readers take a missing field for 0. */
void protobuf_u64(struct protobuf *message, unsigned field, uint64_t value);
void protobuf_bytes(struct protobuf *message, unsigned field, const void *bytes, size_t length);

/* Writes the contents of `part` as a field. `part` is empty afterwards and may be filled again. */
void protobuf_message(struct protobuf *message, unsigned field, struct protobuf *part);

void protobuf_clear(struct protobuf *message);
