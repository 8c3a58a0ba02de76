/* Decodes bytes into events; wire.h describes the format. */
#include "codec/wire.h"

#include <errno.h>

#include "codec/varint.h"

void decode_start(struct decoder *decoder, const uint8_t *bytes, size_t length, uint64_t seq,
		  uint64_t t)
{
	decoder->p = bytes;
	decoder->end = bytes + length;
	decoder->seq = seq;
	wire_reset(&decoder->state, t);
	memset(decoder->sums, 0, sizeof(decoder->sums));
}

static bool get_byte(struct decoder *decoder, uint8_t *byte)
{
	if (decoder->p == decoder->end)
		return false;
	*byte = *decoder->p++;
	return true;
}

static bool get_varint(struct decoder *decoder, uint64_t *value)
{
	return varint_get(&decoder->p, decoder->end, value);
}

static bool get_u32(struct decoder *decoder, uint32_t *value)
{
	uint64_t wide;

	if (!get_varint(decoder, &wide) || wide > UINT32_MAX)
		return false;
	*value = (uint32_t)wide;
	return true;
}

static bool get_device(struct decoder *decoder, int16_t *device)
{
	uint64_t wide;
	int64_t value;

	if (!get_varint(decoder, &wide))
		return false;
	value = varint_unzigzag(wide);
	if (value < NO_DEVICE || value >= DECODE_DEVICES)
		return false;
	*device = (int16_t)value;
	return true;
}

static bool get_context(struct decoder *decoder)
{
	struct wire_context context = { .unused = { 1 } };
	uint8_t slot;

	if (!get_byte(decoder, &slot) || slot >= WIRE_CONTEXTS || !get_byte(decoder, &context.op) ||
	    !get_byte(decoder, &context.space) || !get_byte(decoder, &context.flags) ||
	    !get_device(decoder, &context.device) || !get_u32(decoder, &context.pool) ||
	    !get_u32(decoder, &context.api) || !get_u32(decoder, &context.error) ||
	    !get_u32(decoder, &context.thread) || !get_varint(decoder, &context.stream))
		return false;
	if (context.op >= EVENT_OPS || context.space >= SPACES)
		return false;
	decoder->state.contexts[slot] = context;
	return true;
}

static bool get_sums(struct decoder *decoder)
{
	struct decode_sums sums;
	int16_t device;

	if (!get_device(decoder, &device) || device < 0 || !get_varint(decoder, &sums.allocated) ||
	    !get_varint(decoder, &sums.reserved))
		return false;
	decoder->sums[device] = sums;
	return true;
}

static bool get_cached(struct decoder *decoder, uint64_t *cache, uint64_t *value, bool aligned)
{
	uint8_t slot;

	if (!get_byte(decoder, &slot))
		return false;
	if (slot != WIRE_ESCAPE) {
		*value = cache[slot];
		return true;
	}
	if (!get_varint(decoder, value))
		return false;
	if (aligned)
		*value = varint_unalign(*value);
	cache[wire_slot(*value, WIRE_CACHE)] = *value;
	return true;
}

static bool get_mark(struct decoder *decoder, struct event *event)
{
	struct event_detail *detail = &event->detail;
	bool detailed = event->flags & EVENT_DETAILED;

	event->flags &= (uint8_t)~EVENT_DETAILED; /* only an encoded event has this flag */
	if (!get_u32(decoder, &event->name))
		return false;
	if (!detailed)
		return true;
	return get_u32(decoder, &detail->color) && get_u32(decoder, &detail->category) &&
	       get_byte(decoder, &detail->payload_kind) && detail->payload_kind < PAYLOADS &&
	       get_varint(decoder, &detail->payload);
}

static bool get_event(struct decoder *decoder, unsigned slot, struct event *event)
{
	const struct wire_context *context = &decoder->state.contexts[slot];
	uint64_t value;

	if (!context->unused[0] || !get_varint(decoder, &value))
		return false;
	*event = (struct event){
		.t = decoder->state.t += value,
		.stream = context->stream,
		.thread = context->thread,
		.pool = context->pool,
		.api = context->api,
		.error = context->error,
		.device = context->device,
		.op = context->op,
		.space = context->space,
		.flags = context->flags,
	};
	if (!event_is_memory(event->op))
		return get_mark(decoder, event);
	if (!get_varint(decoder, &value))
		return false;
	event->ptr = decoder->state.ptr ^= varint_unalign(value);
	if (!get_cached(decoder, decoder->state.sizes, &event->size, true) ||
	    !get_cached(decoder, decoder->state.stacks, &value, false) || value > UINT32_MAX)
		return false;
	event->stack = (uint32_t)value;
	return true;
}

static void replay(struct decoder *decoder, struct event *event)
{
	int64_t allocated;
	int64_t reserved;

	event->seq = decoder->seq++;
	if (event->device < 0)
		return;
	event_effect(event, &allocated, &reserved);
	event->allocated = decoder->sums[event->device].allocated += (uint64_t)allocated;
	event->reserved = decoder->sums[event->device].reserved += (uint64_t)reserved;
}

int decode_event(struct decoder *decoder, struct event *event)
{
	uint8_t slot;

	while (get_byte(decoder, &slot)) {
		bool good;

		if (slot == WIRE_CONTEXT)
			good = get_context(decoder);
		else if (slot == WIRE_SUMS)
			good = get_sums(decoder);
		else
			good = slot < WIRE_CONTEXTS && get_event(decoder, slot, event);
		if (!good)
			return -EINVAL;
		if (slot < WIRE_CONTEXTS) {
			replay(decoder, event);
			return 1;
		}
	}
	return 0;
}
