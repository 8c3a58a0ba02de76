/* Encodes fields in the wire format of Protocol Buffers: varints, bytes, and nested messages
 * (protobuf.dev/programming-guides/encoding). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A message that grows. It must be all 0 at first; protobuf_clear() frees its bytes. */
struct protobuf {
	unsigned char *bytes;
	size_t used, size;
};

void protobuf_varint(struct protobuf *message, uint64_t value);

/* Append a field. protobuf_u64() appends nothing for 0, the value that a missing field has. */
void protobuf_u64(struct protobuf *message, unsigned field, uint64_t value);
void protobuf_bytes(struct protobuf *message, unsigned field, const void *bytes, size_t length);

/* Appends the fields in `part` as a nested message, and empties `part`. */
void protobuf_message(struct protobuf *message, unsigned field, struct protobuf *part);

void protobuf_clear(struct protobuf *message);
