/* Granules against a count by hand, and what the ledger keeps of samples and steps. */
#include "check.h"

#include <string.h>

#include "codec/event.h"
#include "ledger/device_used.h"
#include "unit/chance.h"
#include "unit/recorder.h"

enum { MIB = 1 << 20, NODES = 2000, PLACES = 400, GRANULES = 400000 };

static struct spool_node nodes[NODES];
static unsigned nodes_n;

/* What the driver would hold: every granule that anything touches. */
static int64_t by_hand(int device)
{
	static bool held[GRANULES];
	int64_t bytes = 0;

	memset(held, 0, sizeof(held));
	for (unsigned i = 0; i < nodes_n; i++) {
		const struct spool_node *node = &nodes[i];

		if (node->device != device)
			continue;
		bytes -= (int64_t)node->size;
		for (uint64_t at = node->address / GRANULE;
		     at <= (node->address + node->size - 1) / GRANULE; at++)
			held[at] = true;
	}
	for (unsigned i = 0; i < GRANULES; i++)
		bytes += held[i] ? GRANULE : 0;
	return bytes;
}

/* Large ones lie where none was before, small ones anywhere below, or behind the end of another. */
static struct spool_node random_node(uint64_t *chance)
{
	static uint64_t next = PLACES;
	const struct spool_node *other = nodes_n ? &nodes[chance_below(chance, nodes_n)] : NULL;
	struct spool_node node = {
		.kind = NODE_ADDRESS,
		.space = SPACE_DEVICE,
		.device = (int16_t)chance_below(chance, 3),
		.address =
			chance_below(chance, PLACES) * GRANULE + chance_below(chance, 4096) * 512,
		.size = 1 + chance_below(chance, MIB),
	};

	if (chance_below(chance, 4) == 0) {
		node.size = MIB + 1 + chance_below(chance, 64 * MIB);
		node.address = next * GRANULE;
		next += (node.size + GRANULE - 1) / GRANULE;
	} else if (other && chance_below(chance, 2)) {
		node.device = other->device;
		node.address = other->address + other->size;
	}
	return node;
}

TEST(rounding_equals_a_count_by_hand)
{
	struct granules granules = { .rounding = { 0 } };
	uint64_t chance = 7;

	for (unsigned i = 0; i < 20000; i++) {
		if (nodes_n == NODES || (nodes_n && chance_below(&chance, 2))) {
			unsigned at = (unsigned)chance_below(&chance, nodes_n);

			granules_count(&granules, &nodes[at], false);
			nodes[at] = nodes[--nodes_n];
		} else {
			nodes[nodes_n] = random_node(&chance);
			granules_count(&granules, &nodes[nodes_n++], true);
		}
		if (i % 500)
			continue;
		for (int device = 0; device < 3; device++)
			EQ(granules.rounding[device], by_hand(device));
	}
	while (nodes_n)
		granules_count(&granules, &nodes[--nodes_n], false);
	for (int device = 0; device < 3; device++)
		EQ(granules.rounding[device], 0);
	granules_clear(&granules);
}

TEST(what_takes_no_granule_is_not_rounded)
{
	static const struct spool_node others[] = {
		{ .kind = NODE_HANDLE, .space = SPACE_DEVICE, .size = 5 },
		{ .kind = NODE_BLOCK, .space = SPACE_DEVICE, .size = 5 },
		{ .kind = NODE_ADDRESS, .space = SPACE_PINNED, .size = 5, .device = NO_DEVICE },
		{ .kind = NODE_ADDRESS, .space = SPACE_MANAGED, .size = 5 },
		{ .kind = NODE_ADDRESS, .space = SPACE_DEVICE, .size = 5, .flags = NODE_FOREIGN },
		{ .kind = NODE_ADDRESS, .space = SPACE_DEVICE, .size = 5, .pool = 3 },
		{ .kind = NODE_ARRAY, .space = SPACE_ARRAY, .size = 5 },
	};
	struct granules granules = { .rounding = { 0 } };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		granules_count(&granules, &others[i], true);
	EQ(granules.rounding[0], 0);
	granules_clear(&granules);
}

/* --- the ledger ---------------------------------------------------------------------------- */

static struct recorder run;

static void allocate(uint64_t ptr, uint64_t size)
{
	struct event event = {
		.op = EVENT_ALLOC,
		.space = SPACE_DEVICE,
		.ptr = ptr,
		.size = size,
		.stack = run.stacks[0],
		.t = ++run.t,
	};

	ledger_enter(&run.ledger, &event, NODE_ADDRESS, run.owners[0], 0);
}

static void sample(uint64_t used, int64_t named, int64_t step, uint32_t name)
{
	const struct spool_used taken = {
		.t = ++run.t,
		.used = used,
		.named = named,
		.bytes = step,
		.name = name,
		.kind = name,
	};

	used_enter(&run.ledger, &taken, 0, name != 0);
}

static const struct spool_scope *scope_of(enum scope_kind kind, uint32_t name)
{
	for (uint32_t i = 0; i < spool_count(&run.spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = totals_scope(&run.spool, i);

		if (scope->kind == (uint32_t)kind && scope->name == name && !scope->device)
			return scope;
	}
	return NULL;
}

TEST(a_peak_keeps_what_it_was_made_of)
{
	const struct spool_scope *device;

	OK(!recorder_open(&run, NULL, 1000, 1));
	sample(500 * MIB, 500 * MIB, 500 * MIB, run.names[0]);
	allocate(64 * MIB, 3 * MIB);
	sample(510 * MIB, 504 * MIB, 4 * MIB, run.names[1]);
	device = scope_of(SCOPE_DEVICE, 0);
	EQ(device->residual, 2 * MIB);
	EQ(device->rounding, 1 * MIB);
	/* Until the next sample, `used` is what is certainly held. */
	allocate(128 * MIB, 10 * MIB);
	EQ(device->sums[METRIC_USED].now, 518 * MIB);
	sample(509 * MIB, 502 * MIB, -2 * MIB, run.names[1]);
	EQ(device->residual, -7 * MIB);
	EQ(device->residual_low, -7 * MIB);
	EQ(device->residual_high, 2 * MIB);
	EQ(device->sums[METRIC_USED].peak, 518 * MIB);
	EQ(device->sums[METRIC_USED].now, 509 * MIB);
	EQ(device->at_used[METRIC_RESERVED], 13 * MIB);
	EQ(device->named_at_used, 504 * MIB);
	EQ(device->rounding_at_used, 1 * MIB);
	EQ(device->residual_at_used, 0);
	EQ(scope_of(SCOPE_OWNER, run.owners[0])->at_used[METRIC_ALLOCATED], 13 * MIB);
	EQ(scope_of(SCOPE_NAMED, run.names[0])->at_used[METRIC_USED], 500 * MIB);
	EQ(scope_of(SCOPE_NAMED, run.names[1])->at_used[METRIC_USED], 4 * MIB);
	EQ(scope_of(SCOPE_NAMED, run.names[1])->sums[METRIC_USED].now, 2 * MIB);
	EQ(scope_of(SCOPE_NAMED, run.names[1])->used_samples, 2);
	recorder_close(&run);
}

TEST(rows_are_bounded_and_sums_are_not)
{
	OK(!recorder_open(&run, NULL, 1000, 1));
	for (int64_t i = 1; i <= USED_ROWS_MOST + 100; i++)
		sample((uint64_t)i, i, 1, run.names[0]);
	EQ(spool_count(&run.spool, SPOOL_USED), USED_ROWS_MOST);
	EQ(run.spool.header->used_dropped, 100);
	EQ(scope_of(SCOPE_NAMED, run.names[0])->sums[METRIC_USED].now, USED_ROWS_MOST + 100);
	EQ(scope_of(SCOPE_DEVICE, 0)->residual, 0);
	recorder_close(&run);
}
