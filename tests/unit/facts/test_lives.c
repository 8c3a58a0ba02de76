/* Events as the lives of blocks: pairs, handles, gaps. */
#include "check.h"

#include <string.h>

#include "facts/lives.h"
#include "facts/trace_model.h"

static struct lives lives;
static struct event event;

static void take(enum event_op op, int device, uint64_t ptr, uint64_t size, const char *api)
{
	static uint64_t sums[2][2];
	int64_t allocated, reserved;

	if (!lives.next_seq)
		memset(sums, 0, sizeof(sums));
	event = (struct event){ .seq = lives.next_seq,
				.op = (uint8_t)op,
				.ptr = ptr,
				.size = size,
				.device = (int16_t)device,
				.space = SPACE_DEVICE };
	event_effect(&event, &allocated, &reserved);
	event.allocated = sums[device][0] += (uint64_t)allocated;
	event.reserved = sums[device][1] += (uint64_t)reserved;
	EQ(lives_take(&lives, &event, api), 0);
}

TEST(a_free_ends_what_was_allocated_there)
{
	lives_start(&lives, false);
	take(EVENT_ALLOC, 0, 4096, 10, "cudaMalloc");
	OK(lives.begins && !lives.ends);
	take(EVENT_ALLOC, 1, 4096, 20, "cudaMalloc");
	OK(lives.begins && !lives.ends);
	take(EVENT_FREE, 0, 4096, 10, "cudaFree");
	OK(lives.ends && !lives.unseen);
	EQ(lives.ended.seq, 0);
	take(EVENT_FREE, 0, 8192, 5, "cudaFree");
	OK(lives.ends && lives.unseen);
	take(EVENT_ALLOC, 1, 4096, 30, "cudaMalloc");
	OK(lives.begins && lives.ends);
	EQ(lives.ended.size, 20);
	EQ(lives.blocks.live, 1);
	lives_clear(&lives);
}

TEST(calls_and_corrections_tell_handles)
{
	lives_start(&lives, false);
	take(EVENT_ALLOC, 0, 7, 10, "cuMemCreate");
	OK(lives.begun.handle);
	take(EVENT_FREE, 0, 7, 10, "cudaMalloc");
	take(EVENT_RESERVE, 0, 7, 10, "cudaMalloc");
	OK(lives.begun.handle);
	take(EVENT_MAP, 0, 4096, 10, "cuMemMap");
	OK(!lives.begun.handle);
	take(EVENT_RELEASE, 0, 9, 10, "cuMemUnmap");
	OK(lives.unseen && lives.ended.handle);
	take(EVENT_ALLOC, 0, 8192, 10, "cudaMalloc");
	OK(!lives.begun.handle);
	lives_clear(&lives);
}

TEST(numbers_and_sums_tell_gaps)
{
	lives_start(&lives, false);
	take(EVENT_ALLOC, 0, 4096, 10, "cudaMalloc");
	take(EVENT_ALLOC, 1, 4096, 10, "cudaMalloc");
	event = (struct event){ .seq = 3, .op = EVENT_MARK, .device = NO_DEVICE };
	OK(lives_gap(&lives, &event));
	event.seq = 2;
	OK(!lives_gap(&lives, &event));
	event.op = EVENT_FREE;
	event.device = 0;
	OK(lives_gap(&lives, &event)); /* it says that nothing is left, of 10 bytes */
	event.allocated = event.reserved = TRACE_NONE;
	OK(!lives_gap(&lives, &event));
	lives.filtered = true;
	event.allocated = 0;
	OK(!lives_gap(&lives, &event));
	lives_clear(&lives);
}

/* What another device holds behind a gap is what it says next: not a second gap. */
TEST(a_gap_is_one_for_all_devices)
{
	lives_start(&lives, false);
	event = (struct event){ .seq = 5,
				.op = EVENT_ALLOC,
				.ptr = 4096,
				.size = 10,
				.allocated = 110,
				.reserved = 110 };
	OK(lives_gap(&lives, &event));
	EQ(lives_take(&lives, &event, NULL), 0);
	event.seq++;
	event.device = 1;
	OK(!lives_gap(&lives, &event));
	EQ(lives_take(&lives, &event, NULL), 0);
	EQ(lives.blocks.live, 2);
	lives_clear(&lives);
}
