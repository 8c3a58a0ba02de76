/* Any bytes as a chunk of events: decoded without harm, and what came out survives a round trip. */
#include <stdlib.h>

#include "codec/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same(const struct event *a, const struct event *b)
{
	if (a->t != b->t || a->ptr != b->ptr || a->size != b->size || a->stream != b->stream ||
	    a->stack != b->stack || a->thread != b->thread || a->pool != b->pool ||
	    a->api != b->api || a->error != b->error || a->name != b->name ||
	    a->device != b->device || a->op != b->op || a->space != b->space ||
	    a->flags != b->flags)
		abort();
}

/* One event written anew, by an encoder that has seen the same as the decoder. */
static void again(struct wire_state *state, struct decoder *decoder, const struct event *event)
{
	uint8_t bytes[WIRE_EVENT_MAX];
	uint8_t *end = encode_event(state, bytes, event);
	struct event got;

	decoder->p = bytes;
	decoder->end = end;
	if (decode_event(decoder, &got) != 1 || decoder->p != end)
		abort();
	same(&got, event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct decoder first;
	static struct decoder second;
	static struct wire_state state;
	struct event event;
	size_t count = 0;

	decode_start(&first, data, size, 0, 0);
	decode_start(&second, data, 0, 0, 0);
	wire_reset(&state, 0);
	while (decode_event(&first, &event) == 1) {
		if (event.op >= EVENT_OPS || event.space >= SPACES || ++count > size)
			abort();
		again(&state, &second, &event);
	}
	return 0;
}
