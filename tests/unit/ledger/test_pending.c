/* Blocks that waited are booked as if each had come alone. */
#include "ledger/pending.h"

#include <string.h>

#include "check.h"
#include "unit/chance.h"
#include "unit/recorder.h"

enum { DEVICE = 1, ROUNDS = 3000, ADDRESSES = 300 };

static struct recorder waiting, alone;

static void open_both(uint64_t max_events, uint64_t seed)
{
	EQ(recorder_open(&waiting, NULL, max_events, seed), 0);
	EQ(recorder_open(&alone, NULL, max_events, seed), 0);
}

static void close_both(void)
{
	recorder_close(&waiting);
	recorder_close(&alone);
}

static struct event block(enum event_op op, uint64_t t, unsigned address, uint64_t size,
			  unsigned stack)
{
	return (struct event){
		.op = (uint8_t)op,
		.t = t,
		.ptr = 0x7e0000000000u + 512ull * address,
		.size = size,
		.stack = waiting.stacks[stack],
		.thread = 4242 + stack % 3,
		.pool = waiting.pools[1],
		.api = waiting.api,
		.device = DEVICE,
	};
}

static void book(struct recorder *recorder, const struct event *event)
{
	struct event copy = *event;

	if (event->op == EVENT_ALLOC)
		ledger_enter(&recorder->ledger, &copy, NODE_BLOCK, 0, 0);
	else if (!ledger_leave(&recorder->ledger, &copy, NODE_BLOCK, NULL))
		recorder->spool.header->unmatched++;
}

/* True if it waited. */
static bool put(const struct event *event, uint64_t told)
{
	const struct pending_told totals = { .allocated = told };
	bool waited = pending_put(&waiting.ledger, event, &totals);

	if (!waited)
		book(&waiting, event);
	book(&alone, event);
	return waited;
}

static void same_scopes(void)
{
	EQ(spool_count(&waiting.spool, SPOOL_SCOPE), spool_count(&alone.spool, SPOOL_SCOPE));
	for (uint32_t i = 0; i < spool_count(&alone.spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *one = totals_scope(&waiting.spool, i);
		const struct spool_scope *other = totals_scope(&alone.spool, i);

		EQ(one->kind, other->kind);
		EQ(one->allocations, other->allocations);
		EQ(one->frees, other->frees);
		MEM(one->sums, other->sums, sizeof(one->sums));
	}
}

static const struct spool_cell *cell_of(const struct recorder *recorder, uint32_t stack,
					uint32_t sum)
{
	const struct spool_stack *row = spool_at(&recorder->spool, SPOOL_STACK, stack);
	const struct spool_cell *cell;

	for (uint32_t id = row->cell; id; id = cell->next) {
		cell = spool_at(&recorder->spool, SPOOL_CELL, id - 1);
		if (cell->sum == sum)
			return cell;
	}
	return NULL;
}

static void same_stacks(void)
{
	uint32_t sums = (uint32_t)spool_count(&alone.spool, SPOOL_SCOPE) * METRICS;

	for (uint32_t i = 0; i < spool_count(&alone.spool, SPOOL_STACK); i++) {
		struct spool_stack one =
			*(struct spool_stack *)spool_at(&waiting.spool, SPOOL_STACK, i);
		struct spool_stack other =
			*(struct spool_stack *)spool_at(&alone.spool, SPOOL_STACK, i);

		one.cell = other.cell = 0;
		MEM(&one, &other, sizeof(one));
		for (uint32_t sum = 0; sum < sums; sum++) {
			const struct spool_cell *a = cell_of(&waiting, i, sum);
			const struct spool_cell *b = cell_of(&alone, i, sum);
			const struct spool_sum *of =
				&totals_scope(&alone.spool, sum / METRICS)->sums[sum % METRICS];
			uint64_t count = 0;
			uint64_t counted = 0;

			EQ(!a, !b);
			if (!a)
				continue;
			EQ(a->live, b->live);
			EQ(a->live_count, b->live_count);
			EQ(totals_at_peak(of, a, &count), totals_at_peak(of, b, &counted));
			EQ(count, counted);
		}
	}
}

static void same_events(void)
{
	struct journal_reader one, other;
	struct event a, b;

	EQ(journal_read(&one, &waiting.spool), 0);
	EQ(journal_read(&other, &alone.spool), 0);
	while (journal_next(&other, &b)) {
		OK(journal_next(&one, &a));
		EQ(a.seq, b.seq);
		EQ(a.t, b.t);
		EQ(a.op, b.op);
		EQ(a.ptr, b.ptr);
		EQ(a.size, b.size);
		EQ(a.stack, b.stack);
		EQ(a.thread, b.thread);
		EQ(a.allocated, b.allocated);
		EQ(a.reserved, b.reserved);
	}
	OK(!journal_next(&one, &a));
	journal_read_end(&one);
	journal_read_end(&other);
}

static void same(void)
{
	pending_settle(&waiting.ledger);
	EQ(waiting.ledger.error, 0);
	EQ(waiting.spool.header->seq, alone.spool.header->seq);
	EQ(waiting.spool.header->t, alone.spool.header->t);
	EQ(waiting.spool.header->unmatched, alone.spool.header->unmatched);
	EQ(waiting.spool.header->live.count, alone.spool.header->live.count);
	same_scopes();
	same_stacks();
}

/* How many of them waited. */
static unsigned random_blocks(uint64_t seed)
{
	static uint64_t live[ADDRESSES]; /* sizes */
	uint64_t chance = seed;
	uint64_t told = 0;
	uint64_t t = 1000;
	unsigned waited = 0;

	memset(live, 0, sizeof(live));
	for (unsigned i = 0; i < ROUNDS; i++) {
		unsigned address = (unsigned)chance_below(&chance, ADDRESSES);
		unsigned stack = (unsigned)chance_below(&chance, RECORDER_STACKS);
		bool born = !live[address];
		uint64_t size = born ? 512 * (1 + chance_below(&chance, 20)) : live[address];
		struct event event;

		t += chance_below(&chance, 40) ? chance_below(&chance, 3) : 5000;
		event = block(born ? EVENT_ALLOC : EVENT_FREE, t, address, size, stack);
		live[address] = born ? size : 0;
		told += born ? size : -size;
		waited += put(&event, told);
		if (chance_below(&chance, 500) == 0)
			same();
	}
	same();
	return waited;
}

TEST(as_if_each_had_come_alone)
{
	unsigned waited = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		open_both(1000000, seed);
		waited += random_blocks(seed);
		same_events();
		close_both();
	}
	printf("# %u of %u waited\n", waited, 20 * ROUNDS);
	OK(waited > 20 * ROUNDS / 4);
}

TEST(in_a_ring_of_few_events_too)
{
	unsigned waited = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		open_both(10 + 30 * seed, seed);
		waited += random_blocks(seed);
		close_both();
	}
	OK(waited > 100);
}

/* A peak, and room below it. */
static void make_headroom(uint64_t *told)
{
	struct event event = block(EVENT_ALLOC, 2000, 0, 100 * 512, 0);

	put(&event, 100 * 512);
	event = block(EVENT_FREE, 2000, 0, 100 * 512, 0);
	put(&event, 0);
	event = block(EVENT_ALLOC, 2000, 1, 50 * 512, 0);
	put(&event, 50 * 512);
	*told = 50 * 512;
}

TEST(what_makes_a_peak_or_is_told_otherwise_does_not_wait)
{
	struct event event;
	uint64_t told;

	open_both(1000, 1);
	make_headroom(&told);
	event = block(EVENT_ALLOC, 2001, 2, 512, 0);
	OK(put(&event, told + 512));
	event = block(EVENT_ALLOC, 2001, 3, 512, 0);
	OK(!put(&event, told));
	event = block(EVENT_ALLOC, 2001, 4, 49 * 512, 0);
	OK(!put(&event, told + 51 * 512));
	EQ(waiting.ledger.backlog.waiting, 0);
	event = block(EVENT_FREE, 2001, 2, 512, 0);
	event.untold = true;
	OK(!put(&event, told + 50 * 512));
	same();
	close_both();
}

/* Who dies unknown is believed to have had bytes that were never booked: what comes then is more.
 */
TEST(a_peak_that_nobody_expected)
{
	struct event event;
	uint64_t told;

	open_both(1000, 1);
	make_headroom(&told);
	event = block(EVENT_FREE, 2001, 200, 40 * 512, 0);
	OK(put(&event, told - 40 * 512));
	event = block(EVENT_ALLOC, 2001, 2, 80 * 512, 0);
	OK(put(&event, told + 40 * 512));
	same();
	EQ(alone.spool.header->unmatched, 1);
	close_both();
}

/* The same address twice, and a size that is another one's. */
TEST(what_makes_no_sense_is_booked_as_ever)
{
	struct event event;
	uint64_t told;

	open_both(1000, 1);
	make_headroom(&told);
	for (unsigned i = 0; i < 3; i++) {
		event = block(EVENT_ALLOC, 2001, 2, 512, i);
		OK(put(&event, told += 512));
	}
	event = block(EVENT_FREE, 2001, 2, 1024, 0);
	OK(put(&event, told -= 1024));
	event = block(EVENT_FREE, 2001, 2, 512, 0);
	OK(put(&event, told -= 512));
	same();
	same_events();
	close_both();
}

/* Each pair's stack is new, so that its cells are made in the transaction that books the pair. */
TEST(short_lived_blocks_of_many_new_stacks)
{
	struct event event;
	uint64_t told;

	open_both(1000, 1);
	make_headroom(&told);
	for (unsigned i = 0; i < SPOOL_WAITING / 2; i++) {
		char name[] = { '[', (char)('0' + i), ']', '\0' };
		uint32_t stack = intern_pseudo_stack(&waiting.intern, name, 0, SPACE_DEVICE);

		EQ(intern_pseudo_stack(&alone.intern, name, 0, SPACE_DEVICE), stack);
		event = block(EVENT_ALLOC, 2001, 2, 512, 0);
		event.stack = stack;
		OK(put(&event, told + 512));
		event.op = EVENT_FREE;
		OK(put(&event, told));
	}
	same();
	EQ(waiting.spool.header->unkept, 0);
	close_both();
}
