/* Advice: each rule has facts that fire it and, one number off, facts that do not. */
#include "check.h"

#include <stddef.h>

#include "analyse/findings/advice.h"
#include "analyse/findings/leaks.h"
#include "analyse/trace/trace.h"

enum { MIB = 1 << 20 };
#define GIB (1ull << 30)

/* A healthy training. */
static struct facts healthy(void)
{
	return (struct facts){
		.total = 80 * GIB,
		.peak = 40 * GIB,
		.reserved = 42 * GIB,
		.cached = 2 * GIB,
		.used = 43 * GIB,
		.torch = 1,
		.python = 1,
		.ended = 1,
		.plain_allocs = 300,
		.plain_frees = 20,
		.reserves = 400,
		.releases = 20,
		.segments = 380,
		.workspace = 64 * MIB,
		.pinned = GIB,
		.temporaries = GIB,
		.short_lived = GIB,
		.short_block = 200 * MIB,
		.run = 60000000000,
		.driver_calls = 320,
		.driver_time = 400000000,
		.driver_long = 20000000,
		.recorded = 5000000,
		.events = 5000000,
		.leak = 30 * GIB,
	};
}

/* The rules that apply, a bit each. */
static unsigned applying(const struct facts *facts)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < ADVICES; i++)
		bits |= (unsigned)advice_applies((enum advice)i, facts) << i;
	return bits;
}

TEST(a_healthy_program_needs_no_advice)
{
	struct facts facts = healthy();
	struct facts none = { 0 };

	EQ(applying(&facts), 0);
	EQ(applying(&none), 0);
}

/* Changes to the healthy facts that fire the rule alone, and one that ends it again. */
static const struct {
	enum advice advice;
	struct {
		size_t fact;
		uint64_t value;
	} fires[4], ends;
} rows[] = {
#define F(name) offsetof(struct facts, name)
	{ ADVICE_growth, { { F(growth), MIB }, { F(grown), 50 * MIB } }, { F(grown), 30 * MIB } },
	{ ADVICE_growth_native,
	  { { F(growth), MIB }, { F(grown), 50 * MIB }, { F(python), 0 } },
	  { F(growth), 0 } },
	{ ADVICE_leak, { { F(python), 0 } }, { F(ended), 0 } },
	{ ADVICE_fragmentation, { { F(cached), 9ull << 30 } }, { F(expandable), 1 } },
	{ ADVICE_retries, { { F(retries), 1 } }, { F(ooms), 1 } },
	{ ADVICE_full, { { F(used), 77ull << 30 } }, { F(ooms), 1 } },
	{ ADVICE_huge, { { F(short_block), 10ull << 30 } }, { F(short_block), 9ull << 30 } },
	{ ADVICE_temporaries, { { F(temporaries), 10ull << 30 } }, { F(temporaries), 9ull << 30 } },
	{ ADVICE_short_lived, { { F(short_lived), 10ull << 30 } }, { F(categorised), 1 } },
	{ ADVICE_workspace, { { F(workspace), 2ull << 30 } }, { F(workspace), 1ull << 30 } },
	{ ADVICE_uncached,
	  { { F(plain_allocs), 3000 }, { F(plain_frees), 2000 } },
	  { F(plain_frees), 1000 } },
	{ ADVICE_driver, { { F(driver_time), 3000000000 } }, { F(driver_time), 2900000000 } },
	{ ADVICE_empty_cache, { { F(releases), 60 } }, { F(torch), 0 } },
	{ ADVICE_segments, { { F(segments), 2000 } }, { F(expandable), 1 } },
	{ ADVICE_pinned, { { F(pinned), 8ull << 30 } }, { F(pinned), 7ull << 30 } },
	{ ADVICE_stackless, { { F(stackless), 4ull << 30 } }, { F(stackless), 3ull << 30 } },
	{ ADVICE_truncated, { { F(dropped), 1 } }, { F(dropped), 0 } },
#undef F
};

static void set(struct facts *facts, size_t fact, uint64_t value)
{
	memcpy((char *)facts + fact, &value, sizeof(value));
}

TEST(each_rule_fires_alone_and_ends)
{
	unsigned seen = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct facts facts = healthy();

		/* The device comes first among the facts and no rule reads it: 0 ends the list. */
		for (size_t k = 0; k < 4 && rows[i].fires[k].fact; k++)
			set(&facts, rows[i].fires[k].fact, rows[i].fires[k].value);
		EQ(applying(&facts), 1u << rows[i].advice);
		set(&facts, rows[i].ends.fact, rows[i].ends.value);
		OK(!advice_applies(rows[i].advice, &facts));
		seen |= 1u << rows[i].advice;
	}
	EQ(seen, (1u << ADVICES) - 1);
}

/* A few bytes a step are no story where megabytes of CPU memory are all that there is. */
TEST(a_program_without_a_device_has_a_peak)
{
	struct trace_space spaces[] = { { .space = "pinned" }, { .space = "cpu" } };
	struct trace trace = { .summary = { .spaces = spaces, .spaces_n = 2 } };
	struct leaks leaks = { 0 };
	struct facts facts;

	spaces[0].allocated.peak_bytes = TRACE_NONE;
	spaces[1].allocated.peak_bytes = 5 * MIB;
	facts_find(&facts, &trace, NULL, TRACE_NONE, NULL, &leaks);
	EQ(facts.peak, 5 * MIB);
}

/* A block that becomes a pool's segment is a free in the sums of the device, and no call. */
TEST(frees_that_nobody_called_are_no_calls)
{
	struct trace_call calls[] = {
		{ .api = "cudaMalloc", .calls = 2400 },
		{ .api = "cudaFreeHost", .calls = 1500 },
		{ .api = "cudaFree", .calls = 3, .failed = 1 },
	};
	struct trace_part pool = { .name = "mine", .allocations = 100 };
	struct trace_device device = {
		.pools = &pool, .pools_n = 1, .allocations = 2500, .frees = 1200
	};
	struct trace trace = { .calls = calls, .calls_n = 3 };
	struct leaks leaks = { 0 };
	struct facts facts;

	facts_find(&facts, &trace, &device, TRACE_NONE, NULL, &leaks);
	EQ(facts.plain_allocs, 2400);
	EQ(facts.plain_frees, 2);
	OK(!advice_applies(ADVICE_uncached, &facts));
}

/* A name that is no fact would be a hole in the sentence. */
TEST(texts_name_facts_only)
{
	static const char *const names[] = {
#define NUMBER(name, unit, what) #name,
#define WORDS(name, what) #name,
#include "analyse/findings/report_facts.def"
	};

	for (unsigned i = 0; i < ADVICES; i++) {
		const char *text = advice_text((enum advice)i);

		OK(strchr(text, '{'));
		while ((text = strchr(text, '{'))) {
			size_t length = strcspn(++text, "}");
			bool known = false;

			for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
				known |= strlen(names[k]) == length &&
					 !strncmp(names[k], text, length);
			OK(known);
		}
	}
}
