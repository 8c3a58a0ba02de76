/* The journal: a bounded ring of chunks, the first tenth kept for good. */
#include "check.h"

#include "unit/recorder.h"

#include "unit/chance.h"
#include "unit/memory_spool.h"

enum { MOST = 20000 };

/* What the ledger said after each event, on two devices. */
static struct expected {
	uint64_t ptr, allocated, reserved;
	int16_t device;
	uint8_t op;
} expected[MOST];

struct journaling {
	struct spool spool;
	struct intern intern;
	struct ledger ledger;
	uint64_t chance;
	uint64_t live[64];
};

static void open_journal(struct journaling *it, uint64_t max_events)
{
	memset(it, 0, sizeof(*it));
	it->chance = max_events + 1;
	EQ(memory_spool(&it->spool), 0);
	EQ(intern_init(&it->intern, &it->spool), 0);
	EQ(ledger_init(&it->ledger, &it->spool, max_events), 0);
}

static void close_journal(struct journaling *it)
{
	ledger_clear(&it->ledger);
	intern_clear(&it->intern);
	spool_close(&it->spool);
}

static void one_event(struct journaling *it)
{
	uint64_t seq = it->spool.header->seq;
	size_t at = chance_below(&it->chance, 64);
	struct event event = { .t = seq * 1000, .ptr = 0x1000 + at * 512 };

	event.device = (int16_t)(at % 2);
	if (it->live[at]) {
		OK(ledger_leave(&it->ledger, &event, NODE_ADDRESS, NULL));
	} else {
		event.op = EVENT_ALLOC;
		event.size = 1 + chance_below(&it->chance, 1 << 20);
		ledger_enter(&it->ledger, &event, NODE_ADDRESS, 0, 0);
	}
	it->live[at] = !it->live[at];
	EQ(it->ledger.error, 0);
	if (it->ledger.quiet)
		return;
	EQ(event.seq, seq);
	for (uint32_t i = 0; i < spool_count(&it->spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = totals_scope(&it->spool, i);

		if (scope->kind == SCOPE_DEVICE && scope->device == event.device)
			expected[seq] =
				(struct expected){ event.ptr, scope->sums[METRIC_ALLOCATED].now,
						   scope->sums[METRIC_RESERVED].now, event.device,
						   event.op };
	}
}

/* What is kept is a beginning and an end, as long as promised, and each event is what it was. */
static void compare(struct journaling *it, uint64_t max_events)
{
	const struct spool_header *header = it->spool.header;
	uint64_t head = max_events / 10;
	uint64_t ring = max_events - head;
	uint64_t chunk = it->ledger.journal.chunk_events;
	uint64_t next = 0;
	uint64_t kept = 0;
	uint64_t tail = 0;
	struct journal_reader reader;
	struct event event;

	EQ(journal_read(&reader, &it->spool), 0);
	for (; journal_next(&reader, &event); kept++) {
		OK(event.seq == next || (event.seq > next && next <= head));
		if (event.seq >= head && !tail)
			tail = event.seq + 1;
		next = event.seq + 1;
		EQ(event.ptr, expected[event.seq].ptr);
		EQ(event.op, expected[event.seq].op);
		EQ(event.device, expected[event.seq].device);
		EQ(event.allocated, expected[event.seq].allocated);
		EQ(event.reserved, expected[event.seq].reserved);
		EQ(event.t, event.seq * 1000);
	}
	EQ(reader.broken, 0);
	journal_read_end(&reader);
	OK(kept <= max_events);
	if (!max_events)
		return;
	EQ(kept + header->dropped, header->seq);
	if (header->seq <= head) {
		EQ(kept, header->seq);
		return;
	}
	/* The latest nine tenths: whole chunks that fit, one of which may just have been dropped.
	 */
	EQ(next, header->seq);
	OK(kept >= head && (kept == header->seq || kept - head + 2 * chunk > ring));
}

static void fill(uint64_t max_events, uint64_t events)
{
	struct journaling it;

	open_journal(&it, max_events);
	for (uint64_t i = 0; i < events; i++) {
		one_event(&it);
		if (i % 997 == 0 || (i < 100 && i % 7 == 0))
			compare(&it, max_events);
	}
	compare(&it, max_events);
	EQ(it.spool.header->seq, events);
	close_journal(&it);
}

TEST(nothing_is_kept_of_zero)
{
	struct journaling it;
	struct journal_reader reader;
	struct event event;

	open_journal(&it, 0);
	for (unsigned i = 0; i < 1000; i++)
		one_event(&it);
	EQ(it.spool.header->seq, 1000);
	EQ(it.spool.header->dropped, 1000);
	EQ(journal_read(&reader, &it.spool), 0);
	OK(!journal_next(&reader, &event));
	journal_read_end(&reader);
	close_journal(&it);
}

TEST(one)
{
	fill(1, 1000);
}

TEST(ten)
{
	fill(10, 1000);
}

TEST(sizes_around_a_chunk)
{
	for (uint64_t max = 2; max < 60; max++)
		fill(max, 300);
}

TEST(a_thousand)
{
	fill(1000, 999);
	fill(1000, 1000);
	fill(1000, 1001);
	fill(1000, MOST);
}

TEST(all_fit)
{
	fill(100000, MOST);
}

/* 13 blocks of 128 KiB hold more than a ring of 5,000 events ever needs. */
TEST(the_file_stays_small)
{
	struct journaling it;

	open_journal(&it, 5000);
	for (uint64_t i = 0; i < MOST; i++)
		one_event(&it);
	OK(spool_count(&it.spool, SPOOL_CHUNK) <= 25);
	close_journal(&it);
}

/* While events are off sums move; afterwards events tell them right again. */
TEST(resync_after_quiet)
{
	for (uint64_t max = 100; max <= 10000; max *= 10) {
		struct journaling it;

		open_journal(&it, max);
		while (it.spool.header->seq < MOST - 1) {
			if (chance_one_in(&it.chance, 50)) {
				it.ledger.quiet = !it.ledger.quiet;
				if (!it.ledger.quiet)
					journal_resync(&it.ledger.journal);
			}
			one_event(&it);
		}
		OK(it.spool.header->paused > 100);
		compare(&it, max);
		close_journal(&it);
	}
}

/* On and off without an event between must not fill the chunk up. */
TEST(resync_without_end)
{
	struct journaling it;

	open_journal(&it, 1000000);
	for (unsigned i = 0; i < 100; i++)
		one_event(&it);
	for (unsigned i = 0; i < 100000; i++)
		journal_resync(&it.ledger.journal);
	for (unsigned i = 0; i < 1000; i++)
		one_event(&it);
	compare(&it, 1000000);
	close_journal(&it);
}

/* An event taken back right behind a resync: what it said of the sums must stay. */
TEST(rewind_behind_a_resync)
{
	struct journaling it;
	struct event event = { .op = EVENT_ALLOC, .ptr = 0x9000000, .size = 512 };

	open_journal(&it, 1000);
	for (unsigned i = 0; i < 20; i++)
		one_event(&it);
	it.ledger.quiet = true;
	for (unsigned i = 0; i < 21; i++)
		one_event(&it);
	it.ledger.quiet = false;
	journal_resync(&it.ledger.journal);
	ledger_enter(&it.ledger, &event, NODE_ADDRESS, 0, 0);
	ledger_retag(&it.ledger, live_find(&it.spool, NODE_ADDRESS, 0, 0x9000000),
		     intern_text(&it.intern, "torch"), &event);
	EQ(it.spool.header->seq, 21);
	expected[20] = (struct expected){ .ptr = 0x9000000, .op = EVENT_RESERVE };
	for (uint32_t i = 0; i < spool_count(&it.spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = totals_scope(&it.spool, i);

		if (scope->kind == SCOPE_DEVICE && scope->device == 0) {
			expected[20].allocated = scope->sums[METRIC_ALLOCATED].now;
			expected[20].reserved = scope->sums[METRIC_RESERVED].now;
		}
	}
	for (unsigned i = 0; i < 20; i++)
		one_event(&it);
	EQ(it.spool.header->seq, 41);
	{
		struct journal_reader reader;
		struct event got;

		EQ(journal_read(&reader, &it.spool), 0);
		while (journal_next(&reader, &got)) {
			EQ(got.allocated, expected[got.seq].allocated);
			EQ(got.reserved, expected[got.seq].reserved);
		}
		journal_read_end(&reader);
	}
	close_journal(&it);
}
