#include "render/export/protobuf.h"

#include "analyse/input/grow.h"

enum { VARINT = 0, LENGTH = 2, LONGEST_VARINT = 10 };

static unsigned char *make_room_for(struct protobuf *message, size_t count)
{
	if (message->size - message->used < count) {
		size_t size = (message->size + count) * 2;

		message->bytes = realloc(message->bytes, size);
		NEED(message->bytes);
		message->size = size;
	}
	return message->bytes + message->used;
}

void protobuf_varint(struct protobuf *message, uint64_t value)
{
	unsigned char *to = make_room_for(message, LONGEST_VARINT);

	while (value >= 0x80) {
		*to++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
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
	if (length)
		memcpy(to, bytes, length);
	message->used += length;
}

void protobuf_message(struct protobuf *message, unsigned field, struct protobuf *part)
{
	protobuf_bytes(message, field, part->bytes, part->used);
	part->used = 0;
}

void protobuf_clear(struct protobuf *message)
{
	free(message->bytes);
	*message = (struct protobuf){ 0 };
}
