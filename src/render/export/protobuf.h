/*
 * Protocol Buffers on the wire, as far as writing a message needs them: varints, and fields of
 * varints, bytes and messages (protobuf.dev/programming-guides/encoding).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message being written: zeroed to begin, its bytes are freed by protobuf_clear(). */
struct protobuf {
	unsigned char *bytes;
	size_t used, size;
	bool no_memory;
};

void protobuf_varint(struct protobuf *message, uint64_t value);

/* A field that is 0 is the same as none, and not written. */
void protobuf_u64(struct protobuf *message, unsigned field, uint64_t value);
void protobuf_bytes(struct protobuf *message, unsigned field, const void *bytes, size_t length);

/* What the other message holds, which is empty then and may be filled again. */
void protobuf_message(struct protobuf *message, unsigned field, struct protobuf *part);

void protobuf_clear(struct protobuf *message);
