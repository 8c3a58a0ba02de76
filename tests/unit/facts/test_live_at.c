/*
 * The census against the ledger: at random moments of a random recording what was live is written
 * down from the ledger itself, and afterwards the events must tell the same, whatever was dropped
 * or not recorded of them.
 */
#include "check.h"

#include <stdlib.h>

#include "facts/live_at.h"
#include "unit/chance.h"
#include "unit/recorder.h"

enum { MOMENTS = 12, STEPS = 4000 };

static struct recorder recorder;
static uint64_t chance;

struct was {
	uint64_t ptr, size;
	uint32_t stack, pool;
	int16_t device;
	uint8_t space;
	bool segment;
};

static struct {
	uint64_t seqs[MOMENTS];
	struct was *live[MOMENTS];
	size_t count[MOMENTS];
	size_t n;
	/* found out */
	size_t seen, holes, unknown, known, events, missing, wrong;
	bool pauses;
} moments;

static void write_down(void)
{
	uint64_t nodes = spool_count(&recorder.spool, SPOOL_NODE);
	size_t count = 0;
	struct was *live = calloc(nodes + 1, sizeof(*live));

	OK(live != NULL);
	for (uint64_t i = 0; i < nodes; i++) {
		const struct spool_node *node = spool_at(&recorder.spool, SPOOL_NODE, i);

		if (node->kind != NODE_FREE)
			live[count++] = (struct was){ node->address,
						      node->size,
						      node->stack,
						      node->pool,
						      node->device,
						      node->space,
						      node->flags & NODE_SEGMENT };
	}
	moments.live[moments.n] = live;
	moments.count[moments.n] = count;
	moments.seqs[moments.n++] = recorder.spool.header->seq;
}

static bool same(const struct block *block, const struct was *was)
{
	return block->ptr == was->ptr && block->size == was->size && block->pool == was->pool &&
	       block->device == was->device && block->space == was->space &&
	       (block->kind == BLOCK_SEGMENT) == was->segment;
}

static int compare(void *context, const struct census *census, uint64_t seq)
{
	size_t at = 0;
	size_t live = 0;

	(void)context;
	while (at < moments.n && moments.seqs[at] != seq)
		at++;
	if (at == moments.n)
		return 0;
	moments.seen++;
	for (uint32_t i = 0; i < census->lives.blocks.used; i++)
		live += census->lives.blocks.list[i].state == BLOCK_LIVE;
	if (!moments.pauses)
		EQ(live, moments.count[at]);
	moments.wrong += live;
	for (size_t k = 0; k < moments.count[at]; k++) {
		const struct was *was = &moments.live[at][k];
		const struct block *found = NULL;

		for (uint32_t i = 0; i < census->lives.blocks.used; i++) {
			const struct block *block = &census->lives.blocks.list[i];

			if (block->state == BLOCK_LIVE && same(block, was))
				found = block;
		}
		if (!found && moments.pauses) {
			moments.missing++;
			continue;
		}
		OK(found != NULL);
		moments.wrong--;
		if (found->stack == UINT32_MAX) {
			moments.unknown++;
			continue;
		}
		moments.known++;
		EQ(found->stack, was->stack);
	}
	return 0;
}

static void count_event(void *context, const struct event *event)
{
	(void)context;
	(void)event;
	moments.events++;
}

/* `pauses`: events are off now and then. */
static void run(uint64_t max_events, bool pauses, uint64_t seed)
{
	const struct live_at_visitor visitor = { NULL, compare, count_event };
	unsigned paused = 0;

	memset(&moments, 0, sizeof(moments));
	moments.pauses = pauses;
	chance = seed;
	EQ(recorder_open(&recorder, NULL, max_events, seed), 0);
	recorder.calm = true;
	for (unsigned i = 0; i < STEPS; i++) {
		recorder_step(&recorder);
		if (pauses && !paused && chance_below(&chance, 500) == 0) {
			recorder.ledger.quiet = true;
			paused = 1 + (unsigned)chance_below(&chance, 60);
		} else if (paused && !--paused) {
			recorder.ledger.quiet = false;
			journal_resync(&recorder.ledger.journal);
		}
		if (!paused && i % (STEPS / MOMENTS) == STEPS / MOMENTS - 1 &&
		    moments.n < MOMENTS &&
		    (!moments.n || moments.seqs[moments.n - 1] < recorder.spool.header->seq))
			write_down();
	}
	EQ(live_at_take(&recorder.spool, &visitor), 0);
	moments.holes = moments.n - moments.seen;
	for (size_t i = 0; i < moments.n; i++)
		free(moments.live[i]);
	recorder_close(&recorder);
}

TEST(with_every_event_all_is_known)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		run(1000000, false, seed);
		EQ(moments.holes, 0);
		EQ(moments.unknown, 0);
		OK(moments.known > 1000);
	}
}

TEST(behind_dropped_events_too)
{
	size_t known = 0;
	size_t unknown = 0;
	size_t holes = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		run(200 + seed * 20, false, seed);
		known += moments.known;
		unknown += moments.unknown;
		holes += moments.holes;
		OK(moments.holes < moments.n);
	}
	/* Something was dropped, and much is known all the same. */
	OK(holes > 100);
	OK(unknown > 100);
	OK(known > unknown);
}

/* What came and went unseen cannot be known; what came unseen and is still there, or went later,
 * is.
 */
TEST(and_behind_what_was_not_recorded)
{
	size_t known = 0;
	size_t missing = 0;
	size_t wrong = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		run(1000000, true, seed);
		EQ(moments.holes, 0);
		known += moments.known + moments.unknown;
		missing += moments.missing;
		wrong += moments.wrong;
	}
	OK(known > 10000);
	OK(missing * 20 < known);
	OK(wrong * 100 < known);
}
