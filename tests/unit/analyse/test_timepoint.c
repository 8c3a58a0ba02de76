/* Moments: times as people write them, what is live now and at the mark, free gaps of pools. */
#include "check.h"

#include "analyse/input/error.h"
#include "analyse/lifetimes/timepoint.h"
#include "analyse/trace/unattributed.h"
#include "facts/gaps.h"
#include "facts/lives.h"

/* --- times --- */

static uint64_t ns_of(const char *text)
{
	uint64_t ns = 0;

	EQ(timepoint_time(text, &ns), 0);
	return ns;
}

TEST(times_are_exact)
{
	EQ(ns_of("0s"), 0);
	EQ(ns_of("12.5s"), 12500000000);
	EQ(ns_of("12.5 s"), 12500000000);
	EQ(ns_of("0.000000001s"), 1);
	EQ(ns_of("6.489013990s"), 6489013990);
	EQ(ns_of("350ms"), 350000000);
	EQ(ns_of("1.5us"), 1500);
	EQ(ns_of("7ns"), 7);
	EQ(ns_of("1.9ns"), 1); /* a nanosecond is not divided */
	EQ(ns_of("2min"), 120000000000);
	EQ(ns_of("2m"), 120000000000);
	EQ(ns_of("1h"), 3600000000000);
	EQ(ns_of("18446744073709551615ns"), UINT64_MAX);
}

TEST(what_is_no_time)
{
	static const char *const texts[] = { "",     "s",     "12",
					     "12.s", ".5s",   "-1s",
					     "1e3s", "12 s ", "1d",
					     "1.2",  "0x1s",  "18446744073709551616ns",
					     "1 2s", "12s5",  "99999999999999h" };
	uint64_t ns;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		OK(timepoint_time(texts[i], &ns));
		OK(strstr(err_text(), "cannot read the time"));
	}
}

TEST(what_a_moment_is)
{
	OK(timepoint_makes_sense("peak") && timepoint_makes_sense("exit"));
	OK(timepoint_makes_sense("phase:step 3") && timepoint_makes_sense("mark:loaded") &&
	   timepoint_makes_sense("seq:0"));
	OK(timepoint_makes_sense("1.5s"));
	OK(!timepoint_makes_sense("seq:") && !timepoint_makes_sense("seq:-1"));
	OK(!timepoint_makes_sense("seq:18446744073709551616"));
	OK(!timepoint_makes_sense("Peak") && !timepoint_makes_sense(""));
}

/* Of phases of one name that with the highest sum; a peak is the worst device's. */
TEST(moments_of_a_trace)
{
	struct trace_phase phases[] = {
		{ .name = "step", .start = 10, .end = 20, .allocated = { 0, 5, 7 } },
		{ .name = "step", .start = 20, .end = 30, .allocated = { 5, 5, 9 } },
		{ .name = "eval",
		  .start = 40,
		  .end = TRACE_NONE,
		  .allocated = { 5, TRACE_NONE, 9 } },
	};
	struct trace_peak peaks[] = { { .device = 0, .bytes = 50 },
				      { .device = 0, .pool = "torch", .bytes = 3 },
				      { .device = 2, .bytes = 90 },
				      { .device = 0, .metric = TRACE_RESERVED, .bytes = 99 } };
	struct trace trace = {
		.path = "t.json", .phases = phases, .phases_n = 3, .peaks = peaks, .peaks_n = 4
	};
	struct replay_wish wish = { .device = NO_DEVICE, .space = SPACES };
	char what[200];
	uint64_t ns;

	EQ(moment_find(&wish, &trace, "phase:step", what, sizeof(what)), 0);
	EQ(wish.from, 20);
	EQ(wish.to, 30);
	EQ(wish.moment, REPLAY_PEAK);
	EQ(wish.device, 2);
	STR(what, "at the peak of phase step (2 of 2 with this name)");
	wish = (struct replay_wish){ .device = NO_DEVICE, .space = SPACES, .pool = "torch" };
	EQ(moment_find(&wish, &trace, "peak", what, sizeof(what)), 0);
	EQ(wish.device, 0);
	EQ(moment_find(&wish, &trace, "seq:12", what, sizeof(what)), 0);
	EQ(wish.last, 12);
	EQ(wish.moment, REPLAY_END);
	EQ(moment_find(&wish, &trace, "2us", what, sizeof(what)), 0);
	EQ(wish.to, 2000);
	EQ(wish.last, UINT64_MAX);
	EQ(timepoint_bound(&trace, "phase:eval", false, &ns), 0);
	EQ(ns, 40);
	EQ(timepoint_bound(&trace, "phase:eval", true, &ns), 0);
	EQ(ns, TRACE_NONE);
	OK(moment_find(&wish, &trace, "phase:foo", what, sizeof(what)));
	STR(err_text(), "t.json: has no phase foo; the phases are: step, eval");
}

/* --- blocks --- */

enum { PLACES = 200, STEPS = 50000 };

static struct {
	uint64_t state;
	struct block now[PLACES], mark[PLACES]; /* seq 0: nothing there */
} model;

static uint64_t below(uint64_t most)
{
	model.state = model.state * 6364136223846793005u + 1442695040888963407u;
	return (model.state >> 33) % most;
}

static struct block block_at(unsigned place, uint64_t seq)
{
	return (struct block){ .ptr = place / 4 * 4096u,
			       .size = seq * 3,
			       .seq = seq,
			       .pool = place % 2,
			       .device = (int16_t)(place / 2 % 2) };
}

/* What counts is, one by one, what the model has. */
static void compare(const struct blocks *blocks, const struct block *wanted)
{
	unsigned found = 0;
	unsigned expected = 0;

	for (unsigned i = 0; i < PLACES; i++)
		expected += wanted[i].seq != 0;
	for (uint32_t i = 0; i < blocks->used; i++) {
		const struct block *block = &blocks->list[i];
		unsigned place = (unsigned)(block->ptr / 4096 * 4 + (unsigned)block->device * 2 +
					    block->pool);

		if (!block_counts(blocks, block))
			continue;
		EQ(block->seq, wanted[place].seq);
		EQ(block->size, wanted[place].size);
		found++;
	}
	EQ(found, expected);
}

static void random_steps(bool marking)
{
	struct blocks blocks;

	memset(&model, 0, sizeof(model));
	model.state = marking;
	blocks = (struct blocks){ .marking = marking };
	for (uint64_t seq = 1; seq < STEPS; seq++) {
		unsigned place = (unsigned)below(PLACES);
		struct block block = block_at(place, seq);
		uint32_t id = blocks_find(&blocks, &block);

		EQ(id != 0, model.now[place].seq != 0);
		if (id) {
			EQ(blocks.list[id - 1].seq, model.now[place].seq);
			blocks_end(&blocks, id);
			model.now[place].seq = 0;
		} else {
			OK(blocks_add(&blocks, &block));
			model.now[place] = block;
		}
		if (below(20) == 0) {
			blocks_set_mark(&blocks, seq);
			memcpy(model.mark, model.now, sizeof(model.mark));
		}
		if (seq % 97 == 0)
			compare(&blocks, marking ? model.mark : model.now);
		if (below(5000) == 0) {
			blocks_forget(&blocks);
			memset(model.now, 0, sizeof(model.now));
			memset(model.mark, 0, sizeof(model.mark));
		}
	}
	OK(blocks.size < 4 * PLACES + 1024); /* what ended is used again */
	blocks_clear(&blocks);
}

TEST(what_lives)
{
	random_steps(false);
}

TEST(what_lived_at_the_mark)
{
	random_steps(true);
}

/* --- without an address --- */

static struct unattributed loose;

static int come(uint64_t size, uint32_t pool, uint32_t tag)
{
	return unattributed_come(&loose, &(struct block){ .size = size, .stack = 7, .pool = pool },
				 tag);
}

/* The newest that goes: its bytes, with its tag, and 1 more when nothing is left of its lump. */
static uint64_t gone(uint64_t bytes, uint32_t pool, uint32_t tag)
{
	uint32_t found = UINT32_MAX;
	bool whole = false;
	uint64_t part = unattributed_go(&loose, &(struct block){ .stack = 7, .pool = pool }, bytes,
					&found, &whole);

	OK(!part || found == tag);
	return part + whole;
}

/* It goes from the newest of its own pool, in other pieces than it came in. */
TEST(what_has_no_address_goes_as_it_came)
{
	EQ(come(32, 1, 5), 1);
	EQ(come(8, 1, 5), 0); /* the same lump */
	EQ(come(16, 1, 6), 1);
	EQ(come(100, 2, 9), 1);
	EQ(come(0, 1, 8), 0);
	EQ(gone(10, 1, 6), 10);
	EQ(gone(30, 1, 6), 6 + 1);
	EQ(gone(24, 1, 5), 24);
	EQ(come(4, 1, 6), 1);
	EQ(gone(4, 1, 6), 4 + 1);
	EQ(gone(20, 1, 5), 16 + 1);
	EQ(gone(1, 1, 0), 0);
	EQ(gone(99, 2, 9), 99);
	unattributed_forget(&loose);
	EQ(gone(1, 2, 0), 0);
	EQ(come(3, 2, 4), 1);
	EQ(gone(3, 2, 4), 3 + 1);
	unattributed_clear(&loose);
}

/* --- gaps --- */

static void put(struct blocks *blocks, enum block_kind kind, uint64_t ptr, uint64_t size,
		uint32_t pool)
{
	struct block block = { .ptr = ptr, .size = size, .pool = pool, .kind = (uint8_t)kind };

	OK(blocks_add(blocks, &block));
}

TEST(gaps_of_segments_and_mappings)
{
	struct blocks blocks;
	struct gaps gaps;
	const struct gaps_pool *pool;

	blocks = (struct blocks){ .marking = false };
	put(&blocks, BLOCK_SEGMENT, 0x100000, 0x100000, 1); /* side by side, and apart */
	put(&blocks, BLOCK_SEGMENT, 0x200000, 0x100000, 1);
	put(&blocks, BLOCK_MAPPING, 0x800000, 0x200000, 1); /* side by side, and one */
	put(&blocks, BLOCK_MAPPING, 0xa00000, 0x200000, 1);
	put(&blocks, BLOCK_HANDED, 0x110000, 0x10000, 1);
	put(&blocks, BLOCK_HANDED, 0x120000, 0x20000, 1);
	put(&blocks, BLOCK_HANDED, 0x9f0000, 0x20000, 1); /* across the seam */
	put(&blocks, BLOCK_HANDED, 0xf00000, 0x1000, 1);  /* in no segment */
	put(&blocks, BLOCK_HANDED, 0x150000, 0x1000, 0);  /* in no pool */
	EQ(gaps_find(&gaps, &blocks), 0);
	EQ(gaps.pools_n, 1);
	pool = &gaps.pools[0];
	EQ(pool->segments_n, 3);
	EQ(pool->reserved, 0x600000);
	EQ(pool->used, 0x50000);
	EQ(pool->whole, 0x100000);
	EQ(pool->whole_n, 1);
	EQ(pool->gaps_n, 4);
	EQ(pool->gaps, 0x100000 - 0x30000 + 0x400000 - 0x20000);
	EQ(pool->largest, 0x1f0000);
	EQ(pool->fragments, 0x10000 + 0xc0000);
	EQ(pool->elsewhere_n, 1);
	EQ(pool->elsewhere, 0x1000);
	EQ(pool->by_size[16].count, 1);
	EQ(pool->by_size[20].count, 2);
	EQ(gaps.segments[0].ptr, 0x800000); /* the most free beside a block */
	EQ(gaps.segments[0].blocks_n, 1);
	EQ(gaps.segments[0].largest, 0x1f0000);
	EQ(gaps.segments[1].used, 0x30000);
	EQ(gaps.segments[1].gaps, 2);
	EQ(gaps.segments[2].blocks_n, 0);
	gaps_clear(&gaps);
	blocks_clear(&blocks);
}

/* What a broken trace may say: blocks upon one another, over the edge, and sizes that overflow. */
TEST(gaps_of_nonsense)
{
	struct blocks blocks;
	struct gaps gaps;

	blocks = (struct blocks){ .marking = false };
	put(&blocks, BLOCK_SEGMENT, 0x1000, 0x1000, 1);
	put(&blocks, BLOCK_HANDED, 0x1800, 0x1000, 1);
	put(&blocks, BLOCK_HANDED, 0x1c00, 0x100, 1);
	put(&blocks, BLOCK_HANDED, 0x1000, UINT64_MAX, 1);
	put(&blocks, BLOCK_HANDED, 0x1900, 0, 1);
	put(&blocks, BLOCK_SEGMENT, UINT64_MAX, 16, 2);
	EQ(gaps_find(&gaps, &blocks), 0);
	EQ(gaps.pools_n, 1);
	EQ(gaps.pools[0].used, 0x800);
	EQ(gaps.pools[0].gaps, 0x800);
	gaps_clear(&gaps);
	blocks_clear(&blocks);
	blocks = (struct blocks){ .marking = true };
	EQ(gaps_find(&gaps, &blocks), 0);
	EQ(gaps.pools_n, 0);
	gaps_clear(&gaps);
}
