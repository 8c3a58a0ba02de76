/* Encodes events as bytes; wire.h describes the format. */
#include "codec/wire.h"

#include "base/guest/hot.h"
#include "codec/varint.h"

static uint8_t *put_context(uint8_t *p, unsigned slot, const struct wire_context *context)
{
	*p++ = WIRE_CONTEXT;
	*p++ = (uint8_t)slot;
	*p++ = context->op;
	*p++ = context->space;
	*p++ = context->flags;
	p = varint_put(p, varint_zigzag(context->device));
	p = varint_put(p, context->pool);
	p = varint_put(p, context->api);
	p = varint_put(p, context->error);
	p = varint_put(p, context->thread);
	return varint_put(p, context->stream);
}

static bool detailed(const struct event *event)
{
	const struct event_detail *detail = &event->detail;

	return !event_is_memory(event->op) &&
	       (detail->payload_kind || detail->color || detail->category);
}

/* Packs an event's wire_context into four words in registers: a word read from bytes that were just
 * written would have to wait until they have left the store buffer (measured: 20 ns). */
static inline void context_words(uint64_t words[4], const struct event *event)
{
	uint8_t flags = (uint8_t)(event->flags | (detailed(event) ? EVENT_DETAILED : 0));

	words[0] = event->stream;
	words[1] = event->pool | (uint64_t)event->api << 32;
	words[2] = event->error | (uint64_t)event->thread << 32;
	words[3] = (uint16_t)event->device | (uint64_t)event->op << 16 |
		   (uint64_t)event->space << 24 | (uint64_t)flags << 32 |
		   1ULL << 40; /* unused[0] = 1, so that an empty slot matches no context */
}

_Static_assert(offsetof(struct wire_context, api) == 12 &&
		       offsetof(struct wire_context, thread) == 20 &&
		       offsetof(struct wire_context, op) == 26 &&
		       offsetof(struct wire_context, flags) == 28 &&
		       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "context_words() relies on this layout");

/* Writes the event's context if its slot holds another context, then the number of the slot. */
static HOT_CODE uint8_t *use_context(struct wire_state *state, uint8_t *p,
				     const struct event *event)
{
	uint64_t words[4];
	uint64_t held[4];
	unsigned slot;

	context_words(words, event);
	slot = wire_slot((words[0] ^ words[1] * 31) + words[2] * 37 + words[3], WIRE_CONTEXTS);
	memcpy(held, &state->contexts[slot], sizeof(held));
	if ((words[0] ^ held[0]) | (words[1] ^ held[1]) | (words[2] ^ held[2]) |
	    (words[3] ^ held[3])) {
		memcpy(&state->contexts[slot], words, sizeof(words));
		p = put_context(p, slot, &state->contexts[slot]);
	}
	*p++ = (uint8_t)slot;
	return p;
}

/* If the value is in the cache, writes its slot. Else caches it, and writes WIRE_ESCAPE and the
 * varint `written`, which stands for the value. */
static inline uint8_t *put_cached(uint64_t *cache, uint8_t *p, uint64_t value, uint64_t written)
{
	unsigned slot = wire_slot(value, WIRE_CACHE);

	if (cache[slot] == value) {
		*p++ = (uint8_t)slot;
		return p;
	}
	cache[slot] = value;
	*p++ = WIRE_ESCAPE;
	return varint_put(p, written);
}

static uint8_t *put_detail(uint8_t *p, const struct event *event)
{
	if (!detailed(event))
		return p;
	p = varint_put(p, event->detail.color);
	p = varint_put(p, event->detail.category);
	*p++ = event->detail.payload_kind;
	return varint_put(p, event->detail.payload);
}

HOT_CODE uint8_t *encode_event(struct wire_state *state, uint8_t *p, const struct event *event)
{
	p = use_context(state, p, event);
	p = varint_put(p, event->t - state->t);
	state->t = event->t;
	if (!event_is_memory(event->op))
		return put_detail(varint_put(p, event->name), event);
	p = varint_put(p, varint_align(event->ptr ^ state->ptr));
	state->ptr = event->ptr;
	p = put_cached(state->sizes, p, event->size, varint_align(event->size));
	return put_cached(state->stacks, p, event->stack, event->stack);
}

uint8_t *encode_sums(uint8_t *p, int device, uint64_t allocated, uint64_t reserved)
{
	*p++ = WIRE_SUMS;
	p = varint_put(p, varint_zigzag(device));
	p = varint_put(p, allocated);
	return varint_put(p, reserved);
}
