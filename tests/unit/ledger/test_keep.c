/*
 * The flight recorder: detail of the latest stretch, a ledger that is exact from the start, and no
 * table that grows for ever.
 */
#include "base/settings/opt.h"
#include "check.h"

#include "ledger/pending.h"
#include "ledger/timeline.h"
#include "unit/recorder.h"

enum {
	EVENTS = 400000, /* at 2,000 a second; KEEP_EVENTS says otherwise */
	STEP_NS = 500000,
	KEEP_S = 20,
	CHUNKS = 8,
};

static const uint64_t SECOND = 1000000000;
static struct recorder recorder, whole;

TEST(what_is_kept_is_told_in_words)
{
	static const struct {
		const char *text;
		uint64_t seconds, bytes;
	} good[] = {
		{ "10min", 600, 0 },
		{ "1GiB", 0, 1ull << 30 },
		{ "10min,1GiB", 600, 1ull << 30 },
		{ "512M,7d", 7 * 86400, 512 << 20 },
		{ "90s", 90, 0 },
		{ "2h", 7200, 0 },
		{ "4096B", 0, 4096 },
		{ "5000d", 5000 * 86400ull, 0 },
	};
	static const char *const bad[] = {
		"",           "10",         "10m",     "10 min",
		"min",        "0s",         "0GiB",    "1GiB,",
		",1GiB",      "1GiB,2GiB",  "-5s",     "1s,2min",
		"10min;1GiB", "999999999d", "1GiB 5s", "18446744073709551616B"
	};
	uint64_t ns, bytes;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		EQ(opt_parse_keep(good[i].text, &ns, &bytes), 0);
		EQ(ns, good[i].seconds * SECOND);
		EQ(bytes, good[i].bytes);
		OK(opt_parse(OPT_ID_keep, good[i].text, &bytes));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		OK(opt_parse_keep(bad[i], &ns, &bytes) < 0);
		OK(opt_parse(OPT_ID_keep, bad[i], &bytes) == !bad[i][0]);
	}
}

static void open_keeping(uint64_t ns, uint64_t bytes, uint64_t seed)
{
	EQ(recorder_open(&recorder, NULL, UINT64_MAX, seed), 0);
	journal_keep(&recorder.ledger.journal, ns, bytes);
}

static void step(struct recorder *it)
{
	it->t += STEP_NS;
	recorder_step(it);
	EQ(it->ledger.error, 0);
}

/* What is there is the end, without a hole: the time it counts from, and how many bytes it takes.
 */
static uint64_t expect_a_tail(const struct spool *spool, uint64_t *bytes)
{
	const struct spool_header *header = spool->header;
	struct journal_reader reader;
	struct event event;
	uint64_t next = header->dropped;
	uint64_t since = 0;
	uint64_t first = 0;

	EQ(journal_since(spool, &since), header->dropped != 0);
	EQ(journal_read(&reader, spool), 0);
	*bytes = (uint64_t)reader.chunks << SPOOL_BLOCK_SHIFT;
	while (journal_next(&reader, &event)) {
		EQ(event.seq, next);
		if (next++ == header->dropped)
			first = event.t;
	}
	EQ(reader.broken, 0);
	EQ(next, header->seq);
	OK(since <= first);
	journal_read_end(&reader);
	return since;
}

TEST(time_is_kept)
{
	uint64_t bytes, since;

	open_keeping(KEEP_S * SECOND, 0, 1);
	for (unsigned i = 0; i < EVENTS / 2; i++) {
		step(&recorder);
		if (i % 9973)
			continue;
		/* All of it until it is that old; then at least as much. */
		since = expect_a_tail(&recorder.spool, &bytes);
		OK(!since || recorder.spool.header->t - since >= KEEP_S * SECOND);
	}
	OK(recorder.spool.header->dropped > 0);
	/* And no more than what the chunks at both ends are longer. */
	OK(recorder.spool.header->t - expect_a_tail(&recorder.spool, &bytes) < 2 * KEEP_S * SECOND);
	recorder_close(&recorder);
}

/* A burst makes the ring larger, and a calm after it loses nothing that is young. */
TEST(time_is_kept_at_any_rate)
{
	uint64_t bytes;

	open_keeping(KEEP_S * SECOND, 0, 2);
	for (unsigned i = 0; i < EVENTS / 2; i++) {
		if (i / 40000 % 2)
			recorder.t += 20 * STEP_NS;
		step(&recorder);
	}
	OK(recorder.spool.header->dropped > 0);
	OK(recorder.spool.header->t - expect_a_tail(&recorder.spool, &bytes) >= KEEP_S * SECOND);
	recorder_close(&recorder);
}

TEST(bytes_are_kept)
{
	uint64_t bytes;

	open_keeping(0, (uint64_t)CHUNKS << SPOOL_BLOCK_SHIFT, 3);
	for (unsigned i = 0; i < EVENTS / 2; i++)
		step(&recorder);
	expect_a_tail(&recorder.spool, &bytes);
	EQ(bytes, CHUNKS << SPOOL_BLOCK_SHIFT);
	OK(recorder.spool.header->dropped > 0);
	recorder_close(&recorder);
}

TEST(time_is_kept_in_so_many_bytes)
{
	uint64_t bytes;

	open_keeping(3600 * SECOND, (uint64_t)CHUNKS << SPOOL_BLOCK_SHIFT, 4);
	for (unsigned i = 0; i < EVENTS / 2; i++)
		step(&recorder);
	expect_a_tail(&recorder.spool, &bytes);
	EQ(bytes, CHUNKS << SPOOL_BLOCK_SHIFT);
	recorder_close(&recorder);
}

static void expect_same_table(enum spool_kind kind)
{
	uint64_t count = spool_count(&whole.spool, kind);

	EQ(spool_count(&recorder.spool, kind), count);
	for (uint64_t i = 0; i < count; i++)
		MEM(spool_at(&recorder.spool, kind, i), spool_at(&whole.spool, kind, i),
		    (size_t)1 << spool_shift[kind]);
}

/* Sums, peaks with their composition, curves, what each stack did and what lives: to the byte. */
TEST(the_ledger_is_that_of_a_recording_without_bounds)
{
	EQ(recorder_open(&whole, NULL, UINT64_MAX, 5), 0);
	open_keeping(SECOND, 2 << SPOOL_BLOCK_SHIFT, 5);
	for (unsigned i = 0; i < EVENTS / 2; i++) {
		step(&recorder);
		step(&whole);
	}
	EQ(recorder.spool.header->seq, whole.spool.header->seq);
	EQ(whole.spool.header->dropped, 0);
	OK(recorder.spool.header->dropped > recorder.spool.header->seq / 2);
	expect_same_table(SPOOL_TEXT);
	expect_same_table(SPOOL_SCOPE);
	expect_same_table(SPOOL_STACK);
	expect_same_table(SPOOL_CELL);
	expect_same_table(SPOOL_NODE);
	expect_same_table(SPOOL_BUCKET);
	expect_same_table(SPOOL_CURVE);
	expect_same_table(SPOOL_USED);
	timeline_settle(&recorder.spool);
	timeline_settle(&whole.spool);
	pending_settle(&recorder.ledger);
	pending_settle(&whole.ledger);
	STR(recorder_complaint(&recorder.spool), NULL);
	STR(recorder_complaint(&whole.spool), NULL);
	recorder_close(&recorder);
	recorder_close(&whole);
}

/* However long it runs: the second half makes it no larger. */
TEST(a_long_run_stays_within_its_bounds)
{
	const char *told = getenv("KEEP_EVENTS");
	uint64_t events = told ? strtoull(told, NULL, 10) : EVENTS;
	uint64_t blocks = 0;
	uint64_t bytes;

	alarm(0);
	open_keeping(KEEP_S * SECOND, 0, 6);
	for (uint64_t i = 0; i < events; i++) {
		step(&recorder);
		if (i == events / 2)
			blocks = recorder.spool.header->blocks;
	}
	printf("# %llu events, %llu s: %llu KiB, %llu KiB half way\n",
	       (unsigned long long)recorder.spool.header->seq,
	       (unsigned long long)(recorder.spool.header->t / SECOND),
	       (unsigned long long)(recorder.spool.header->blocks << SPOOL_BLOCK_SHIFT >> 10),
	       (unsigned long long)(blocks << SPOOL_BLOCK_SHIFT >> 10));
	/* Chunks differ by some events, so the stretch may take one or two more of them. */
	OK(recorder.spool.header->blocks <= blocks + blocks / 16 + 1);
	OK(recorder.spool.header->t - expect_a_tail(&recorder.spool, &bytes) >= KEEP_S * SECOND);
	recorder_close(&recorder);
}

/* --- what else could grow --- */

static const uint64_t most[SPOOL_KINDS] = {
#define BOUND(kind, rows, what) [SPOOL_##kind] = (rows),
#include "ledger/bounds.def"
};

TEST(stacks_have_a_bound)
{
	uint64_t first = 0;
	char name[32];

	EQ(recorder_open(&recorder, NULL, 1000, 7), 0);
	for (uint64_t i = 0; i < most[SPOOL_STACK] + 1000; i++) {
		uint32_t id;

		snprintf(name, sizeof(name), "stack %llu", (unsigned long long)i);
		id = intern_pseudo_stack(&recorder.intern, name, 0, SPACE_DEVICE);
		OK(id && id <= most[SPOOL_STACK]);
		if (id == most[SPOOL_STACK] && !first)
			first = i;
		if (first)
			EQ(id, most[SPOOL_STACK]);
	}
	EQ(spool_count(&recorder.spool, SPOOL_STACK), most[SPOOL_STACK] + 1);
	OK(first &&
	   recorder.spool.header->left_out[SPOOL_STACK] == most[SPOOL_STACK] + 1000 - first);
	recorder.stacks[0] = (uint32_t)most[SPOOL_STACK];
	for (unsigned i = 0; i < 1000; i++)
		step(&recorder);
	/* Those that were known before still are. */
	OK(intern_pseudo_stack(&recorder.intern, "stack 5", 0, SPACE_DEVICE) < most[SPOOL_STACK]);
	recorder_close(&recorder);
}

TEST(names_threads_facts_and_libraries_have_a_bound)
{
	static char name[8 << 10];
	struct spool_module module = { .low = 0x1000, .high = 0x2000 };
	uint32_t known;

	EQ(recorder_open(&recorder, NULL, 1000, 8), 0);
	known = intern_text(&recorder.intern, "known before");
	memset(name, 'x', sizeof(name) - 1);
	for (unsigned i = 0; i < 20000; i++) {
		snprintf(name, 24, "%u ", i);
		name[strlen(name)] = '+';
		intern_text(&recorder.intern, name);
	}
	OK(spool_count(&recorder.spool, SPOOL_TEXT) <= most[SPOOL_TEXT]);
	OK(recorder.spool.header->left_out[SPOOL_TEXT] > 10000);
	EQ(intern_text(&recorder.intern, "known before"), known);
	for (unsigned i = 0; i < most[SPOOL_THREAD] + 10; i++) {
		intern_thread(&recorder.intern, i, "thread", i);
		intern_fact(&recorder.intern, "key", "known before");
		module.path = i;
		intern_module(&recorder.intern, &module);
	}
	EQ(spool_count(&recorder.spool, SPOOL_THREAD), most[SPOOL_THREAD]);
	EQ(recorder.spool.header->left_out[SPOOL_THREAD], 10);
	EQ(spool_count(&recorder.spool, SPOOL_FACT), most[SPOOL_FACT]);
	EQ(spool_count(&recorder.spool, SPOOL_MODULE), most[SPOOL_MODULE]);
	for (unsigned i = 0; i < 1000; i++)
		step(&recorder);
	recorder_close(&recorder);
}

/* Pools without end: the device's sums have all of them, those beyond have none of their own. */
TEST(pools_have_a_bound)
{
	struct event event = { .op = EVENT_ALLOC, .size = 64 };
	uint64_t pools = most[SPOOL_SCOPE] + 100;

	EQ(recorder_open(&recorder, NULL, 1000, 9), 0);
	for (uint64_t i = 1; i <= pools; i++) {
		event.pool = (uint32_t)i;
		event.ptr = i << 12;
		event.t = i;
		ledger_enter(&recorder.ledger, &event, NODE_BLOCK, 0, 0);
		EQ(recorder.ledger.error, 0);
	}
	EQ(spool_count(&recorder.spool, SPOOL_SCOPE), most[SPOOL_SCOPE]);
	OK(recorder.spool.header->left_out[SPOOL_SCOPE] >= 100);
	EQ(totals_scope(&recorder.spool, 0)->sums[METRIC_ALLOCATED].now, pools * 64);
	for (uint64_t i = 1; i <= pools; i++) {
		event.pool = (uint32_t)i;
		event.ptr = i << 12;
		OK(ledger_leave(&recorder.ledger, &event, NODE_BLOCK, NULL));
	}
	EQ(totals_scope(&recorder.spool, 0)->sums[METRIC_ALLOCATED].now, 0);
	recorder_close(&recorder);
}
