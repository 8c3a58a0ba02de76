/* The codec: what goes in comes out, and what never went in does no harm. */
#include "check.h"

#include "codec/varint.h"
#include "codec/wire.h"
#include "unit/chance.h"

enum { CHUNK = 1 << 17, EVENTS = 100000, VARINT_MAX = 10 };

static uint64_t odd_number(uint64_t *chance)
{
	switch (chance_below(chance, 6)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return 1ull << 63;
	case 3:
		return chance_next(chance);
	case 4:
		return chance_next(chance) >> chance_below(chance, 64);
	default:
		return chance_below(chance, 64) * 512;
	}
}

static struct event_detail random_detail(uint64_t *chance)
{
	struct event_detail detail = {
		.color = (uint32_t)odd_number(chance),
		.category = (uint32_t)odd_number(chance),
		.payload_kind = (uint8_t)chance_below(chance, PAYLOADS),
	};

	if (detail.payload_kind)
		detail.payload = odd_number(chance);
	return detail;
}

static struct event random_event(uint64_t *chance, uint64_t *t)
{
	struct event event = {
		.op = (uint8_t)chance_below(chance, EVENT_OPS),
		.space = (uint8_t)chance_below(chance, SPACES),
		.flags = (uint8_t)chance_below(chance, 2),
		.device = (int16_t)(chance_below(chance, 257) - 1),
		.pool = (uint32_t)odd_number(chance),
		.api = (uint32_t)chance_below(chance, 9),
		.error = (uint32_t)(chance_one_in(chance, 9) ? odd_number(chance) : 0),
		.thread = (uint32_t)odd_number(chance),
		.stream = odd_number(chance),
	};

	*t += chance_one_in(chance, 100) ? chance_below(chance, 1ull << 50)
					 : chance_below(chance, 10000);
	event.t = *t;
	if (event_is_memory(event.op)) {
		event.ptr = odd_number(chance);
		event.size = odd_number(chance);
		event.stack = (uint32_t)odd_number(chance);
	} else {
		event.name = (uint32_t)odd_number(chance);
		if (chance_one_in(chance, 2))
			event.detail = random_detail(chance);
	}
	return event;
}

static void same(const struct event *got, const struct event *wanted)
{
	EQ(got->t, wanted->t);
	EQ(got->ptr, wanted->ptr);
	EQ(got->size, wanted->size);
	EQ(got->stream, wanted->stream);
	EQ(got->stack, wanted->stack);
	EQ(got->thread, wanted->thread);
	EQ(got->pool, wanted->pool);
	EQ(got->api, wanted->api);
	EQ(got->error, wanted->error);
	EQ(got->name, wanted->name);
	EQ(got->device, wanted->device);
	EQ(got->op, wanted->op);
	EQ(got->space, wanted->space);
	EQ(got->flags, wanted->flags);
	EQ(got->detail.color, wanted->detail.color);
	EQ(got->detail.category, wanted->detail.category);
	EQ(got->detail.payload_kind, wanted->detail.payload_kind);
	EQ(got->detail.payload, wanted->detail.payload);
}

/* As many events as fit into a chunk, out and in again. */
static size_t round_trip(const struct event *events, size_t count, uint64_t t0)
{
	static struct wire_state state;
	static struct decoder decoder;
	static uint8_t bytes[CHUNK];
	uint8_t *p = bytes;
	struct event got;
	size_t made = 0;

	wire_reset(&state, t0);
	for (; made < count && bytes + CHUNK - p >= WIRE_EVENT_MAX; made++) {
		uint8_t *end = encode_event(&state, p, &events[made]);

		OK(end > p && end - p <= WIRE_EVENT_MAX);
		p = end;
	}
	decode_start(&decoder, bytes, (size_t)(p - bytes), 77, t0);
	for (size_t i = 0; i < made; i++) {
		EQ(decode_event(&decoder, &got), 1);
		EQ(got.seq, 77 + i);
		same(&got, &events[i]);
	}
	EQ(decode_event(&decoder, &got), 0);
	return made;
}

TEST(round_trip_of_random_events)
{
	static struct event events[EVENTS];

	for (uint64_t seed = 1; seed <= 5; seed++) {
		uint64_t chance = seed;
		uint64_t t = seed == 5 ? UINT64_MAX >> 1 : 0;
		uint64_t t0 = t;

		for (size_t i = 0; i < EVENTS; i++)
			events[i] = random_event(&chance, &t);
		for (size_t i = 0; i < EVENTS;) {
			i += round_trip(events + i, EVENTS - i, t0);
			t0 = events[i - 1].t;
		}
	}
}

TEST(round_trip_of_every_op_and_space)
{
	struct event events[EVENT_OPS * SPACES];
	size_t count = 0;

	for (unsigned op = 0; op < EVENT_OPS; op++) {
		for (unsigned space = 0; space < SPACES; space++) {
			struct event event = { .op = (uint8_t)op, .space = (uint8_t)space };

			event.device = space == SPACE_PINNED ? NO_DEVICE : 255;
			if (event_is_memory(op))
				event.size = 512;
			else
				event.name = 3;
			events[count++] = event;
		}
	}
	EQ(round_trip(events, count, 0), count);
}

TEST(round_trip_of_the_largest_numbers)
{
	struct event events[3] = {
		{ .op = EVENT_ALLOC },
		{ .op = EVENT_FREE,
		  .t = UINT64_MAX,
		  .ptr = UINT64_MAX,
		  .size = UINT64_MAX,
		  .stream = UINT64_MAX,
		  .stack = UINT32_MAX,
		  .thread = UINT32_MAX,
		  .pool = UINT32_MAX,
		  .api = UINT32_MAX,
		  .error = UINT32_MAX,
		  .device = DECODE_DEVICES - 1,
		  .flags = UINT8_MAX },
		{ .op = EVENT_PUSH,
		  .t = UINT64_MAX,
		  .stream = UINT64_MAX,
		  .thread = UINT32_MAX,
		  .name = UINT32_MAX,
		  .pool = UINT32_MAX,
		  .device = NO_DEVICE },
	};

	EQ(round_trip(events, 3, 0), 3);
}

TEST(sums_are_replayed)
{
	static struct wire_state state;
	static struct decoder decoder;
	uint8_t bytes[1024];
	uint8_t *p = bytes;
	struct event event = { .op = EVENT_ALLOC, .ptr = 4096, .size = 512, .device = 3 };

	wire_reset(&state, 0);
	p = encode_sums(p, 3, 1000, UINT64_MAX);
	p = encode_event(&state, p, &event);
	event.op = EVENT_FREE;
	event.pool = 1;
	p = encode_event(&state, p, &event);
	p = encode_sums(p, 3, 5, 6);
	event.op = EVENT_OOM;
	p = encode_event(&state, p, &event);
	decode_start(&decoder, bytes, (size_t)(p - bytes), 0, 0);
	EQ(decode_event(&decoder, &event), 1);
	EQ(event.allocated, 1512);
	EQ(event.reserved, 511);
	EQ(decode_event(&decoder, &event), 1);
	EQ(event.allocated, 1000);
	EQ(event.reserved, 511);
	EQ(decode_event(&decoder, &event), 1);
	EQ(event.allocated, 5);
	EQ(event.reserved, 6);
}

/* A training step's blocks: sizes and stacks that come again, addresses of a pool. */
TEST(a_realistic_event_takes_at_most_sixteen_bytes)
{
	static struct event events[EVENTS];
	static struct {
		uint64_t ptr, size;
	} live[2000];
	uint64_t chance = 9;
	uint64_t t = 60000000;
	size_t chunks = 0;

	for (size_t i = 0; i < EVENTS; i++) {
		size_t at = chance_below(&chance, 2000);
		bool in = !live[at].ptr;

		if (in) {
			live[at].ptr = 0x7f1200000000u + at * 20971520 / 4 +
				       chance_below(&chance, 32) * 512;
			live[at].size = 512 * (1 + (at * at) % 300 * 37);
		}
		events[i] = (struct event){
			.op = in ? EVENT_ALLOC : EVENT_FREE,
			.t = t += 400 + chance_below(&chance, 12000),
			.ptr = live[at].ptr,
			.size = live[at].size,
			.stack = (uint32_t)(at % 500 + !in * 7),
			.thread = 4242 + (uint32_t)(at % 3),
			.pool = 40,
			.api = 44,
		};
		if (!in)
			live[at].ptr = 0;
	}
	for (size_t i = 0; i < EVENTS; chunks++)
		i += round_trip(events + i, EVENTS - i, i ? events[i - 1].t : 60000000);
	printf("# %.1f bytes an event\n", (double)chunks * CHUNK / EVENTS);
	OK(chunks * CHUNK <= 16 * (size_t)EVENTS);
}

/* A small chunk with one of everything; in memory of its very size, so that a sanitizer sees a
 * byte too far. */
static size_t small_chunk(uint8_t *bytes, struct event *events, size_t *count)
{
	static struct wire_state state;
	uint64_t chance = 4;
	uint64_t t = 0;
	uint8_t *p = bytes;

	wire_reset(&state, 0);
	p = encode_sums(p, 0, 1 << 30, 1ull << 31);
	for (*count = 0; *count < 60; ++*count) {
		events[*count] = random_event(&chance, &t);
		p = encode_event(&state, p, &events[*count]);
		if (*count % 16 == 0)
			p = encode_sums(p, 255, t, chance);
	}
	return (size_t)(p - bytes);
}

/* Decodes all there is: the number of events, of which no more can be than the bytes allow. */
static size_t decode_all(const uint8_t *bytes, size_t length, int *verdict)
{
	static struct decoder decoder;
	uint8_t *exact = malloc(length ? length : 1);
	struct event event;
	size_t count = 0;

	OK(exact);
	memcpy(exact, bytes, length);
	decode_start(&decoder, exact, length, 0, 0);
	while ((*verdict = decode_event(&decoder, &event)) == 1) {
		OK(event.op < EVENT_OPS && event.space < SPACES);
		OK(event.device >= NO_DEVICE && event.device < DECODE_DEVICES);
		count++;
	}
	OK(*verdict == 0 || *verdict == -22);
	OK(count <= length / 3);
	OK(decoder.p >= exact && decoder.p <= exact + length);
	free(exact);
	return count;
}

TEST(every_prefix_is_the_beginning_or_refused)
{
	static uint8_t bytes[60 * (WIRE_EVENT_MAX + WIRE_SUMS_MAX)];
	struct event events[60];
	size_t count;
	size_t length = small_chunk(bytes, events, &count);
	size_t before = 0;

	for (size_t cut = 0; cut <= length; cut++) {
		int verdict;
		size_t got = decode_all(bytes, cut, &verdict);

		OK(got == before || got == before + 1);
		before = got;
	}
	EQ(before, count);
}

TEST(mutations_do_no_harm)
{
	static uint8_t bytes[60 * (WIRE_EVENT_MAX + WIRE_SUMS_MAX)];
	static uint8_t changed[sizeof(bytes)];
	struct event events[60];
	size_t count;
	size_t length = small_chunk(bytes, events, &count);
	uint64_t chance = 11;
	size_t refused = 0;

	for (unsigned i = 0; i < 100000; i++) {
		int verdict;

		memcpy(changed, bytes, length);
		for (uint64_t k = 1 + chance_below(&chance, 8); k--;)
			changed[chance_below(&chance, length)] =
				(uint8_t)(chance_one_in(&chance, 2) ? chance_next(&chance)
								    : 248 + k % 8);
		decode_all(changed, chance_below(&chance, length + 1), &verdict);
		refused += verdict < 0;
	}
	OK(refused > 1000);
}

TEST(varints)
{
	static const uint64_t values[] = { 0, 1, 127, 128, 16383, 16384, 1ull << 56, UINT64_MAX };
	uint64_t chance = 2;

	for (unsigned i = 0; i < 1000; i++) {
		uint64_t value = i < 8 ? values[i] : odd_number(&chance);
		uint8_t bytes[VARINT_MAX + 1];
		uint8_t *end = varint_put(bytes, value);
		const uint8_t *p = bytes;
		uint64_t got;

		OK(end - bytes <= VARINT_MAX);
		OK(varint_get(&p, end, &got) && p == end);
		EQ(got, value);
		p = bytes;
		OK(!varint_get(&p, end - 1, &got));
		EQ(varint_unalign(varint_align(value)), value);
		EQ(varint_unzigzag(varint_zigzag((int64_t)value)), (int64_t)value);
	}
}

TEST(a_varint_of_more_than_64_bits_is_refused)
{
	uint8_t bytes[12] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2 };
	const uint8_t *p = bytes;
	uint64_t got;

	OK(!varint_get(&p, bytes + 12, &got));
	memset(bytes, 0xff, sizeof(bytes));
	p = bytes;
	OK(!varint_get(&p, bytes + 12, &got));
}

TEST(effects_of_events)
{
	struct event event = { .op = EVENT_ALLOC, .size = 512 };
	int64_t allocated;
	int64_t reserved;

	event_effect(&event, &allocated, &reserved);
	OK(allocated == 512 && reserved == 512);
	event.pool = 1;
	event_effect(&event, &allocated, &reserved);
	OK(allocated == 512 && reserved == 0);
	event.op = EVENT_RELEASE;
	event_effect(&event, &allocated, &reserved);
	OK(allocated == 0 && reserved == -512);
	event.size = 1ull << 63; /* of a hostile trace */
	event_effect(&event, &allocated, &reserved);
	OK(reserved == INT64_MIN);
	event.flags = EVENT_FOREIGN;
	event_effect(&event, &allocated, &reserved);
	OK(allocated == 0 && reserved == 0);
	event = (struct event){ .op = EVENT_FREE, .size = 512, .space = SPACE_MANAGED };
	event_effect(&event, &allocated, &reserved);
	OK(allocated == 0 && reserved == 0);
	event.space = SPACE_ARRAY;
	event_effect(&event, &allocated, &reserved);
	OK(allocated == -512 && reserved == -512);
	event.device = NO_DEVICE;
	event_effect(&event, &allocated, &reserved);
	OK(allocated == 0 && reserved == 0);
}

TEST(names)
{
	for (unsigned i = 0; i < EVENT_OPS; i++)
		OK(event_op_name(i) && *event_op_name(i));
	STR(event_op_name(EVENT_OPS), NULL);
	STR(event_op_name(EVENT_OOM), "oom");
	for (unsigned i = 0; i < SPACES; i++)
		OK(space_name(i) && *space_name(i));
	STR(space_name(SPACES), NULL);
	STR(space_name(SPACE_PINNED), "pinned");
}
