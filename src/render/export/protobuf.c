/* Encodes fields in the wire format of Protocol Buffers. */
#include "render/export/protobuf.h"

#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, LENGTH = 2, LONGEST_VARINT = 10 };

/* Enlarges the buffer by `count` bytes and returns their address, NULL if memory runs out. */
static unsigned char *make_room_for(struct protobuf *message, size_t count)
{
	if (message->size - message->used < count) {
		size_t size = (message->size + count) * 2;
		unsigned char *bytes = realloc(message->bytes, size);

		if (!bytes) {
			message->no_memory = true;
			return NULL;
		}
		message->bytes = bytes;
		message->size = size;
	}
	return message->bytes + message->used;
}

void protobuf_varint(struct protobuf *message, uint64_t value)
{
	unsigned char *to = make_room_for(message, LONGEST_VARINT);

	while (to && value >= 0x80) {
		*to++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	if (!to)
		return;
	*to++ = (unsigned char)value;
	message->used = (size_t)(to - message->bytes);
}

void protobuf_u64(struct protobuf *message, unsigned field, uint64_t value)
{
	if (!value)
		return;
	protobuf_varint(message, field << 3 | VARINT);
	protobuf_varint(message, value);
}

void protobuf_bytes(struct protobuf *message, unsigned field, const void *bytes, size_t length)
{
	unsigned char *to;

	protobuf_varint(message, field << 3 | LENGTH);
	protobuf_varint(message, length);
	to = make_room_for(message, length);
	if (!to || !length)
		return;
	memcpy(to, bytes, length);
	message->used += length;
}

void protobuf_message(struct protobuf *message, unsigned field, struct protobuf *part)
{
	protobuf_bytes(message, field, part->bytes, part->used);
	message->no_memory = message->no_memory || part->no_memory;
	part->used = 0;
}

void protobuf_clear(struct protobuf *message)
{
	free(message->bytes);
	*message = (struct protobuf){ 0 };
}
