/*
 * Encodes fields in the wire format of Protocol Buffers: varints, bytes, and nested messages
 * (protobuf.dev/programming-guides/encoding).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A growing message. It must begin as zeros; protobuf_clear() frees its bytes. */
struct protobuf {
	unsigned char *bytes;
	size_t used, size;
};

void protobuf_varint(struct protobuf *message, uint64_t value);

/* Append a field. A value of 0 is left out, because readers read a missing field as 0. */
void protobuf_u64(struct protobuf *message, unsigned field, uint64_t value);
void protobuf_bytes(struct protobuf *message, unsigned field, const void *bytes, size_t length);

/* Appends the fields in `part` as a nested message, and empties `part` for the next one. */
void protobuf_message(struct protobuf *message, unsigned field, struct protobuf *part);

void protobuf_clear(struct protobuf *message);
