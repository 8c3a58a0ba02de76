/* The live table against a naive one: an array by kind, pool and place. */
#include "check.h"

#include "ledger/live.h"
#include "spool/txn.h"
#include "unit/chance.h"
#include "unit/memory_spool.h"

enum { STEPS = 200000, PLACES = 8192, POOLS = 3, KINDS = NODE_KINDS };

static struct spool spool;
static uint32_t naive[KINDS][POOLS][PLACES]; /* the node, 0 for none */
static uint64_t lives;
static uint64_t chance = 1;

/* Addresses as allocators give them, and some that differ only in high bits. */
static uint64_t address_of(size_t place)
{
	if (place % 4 == 0)
		return 0x7f0000000000u + place * 512;
	if (place % 4 == 1)
		return (uint64_t)place << 40;
	if (place % 4 == 2)
		return 0x7f0000000000u + ((uint64_t)place << 21);
	return place ? UINT64_MAX - place : 0;
}

static void insert(enum node_kind kind, uint32_t pool, size_t place)
{
	struct spool_node node = {
		.address = address_of(place),
		.size = place + 1,
		.pool = pool,
		.stack = (uint32_t)place,
		.kind = (uint8_t)kind,
		.device = (int16_t)(place % 5),
		.link = pool,
	};

	EQ(live_room(&spool), 0);
	txn_begin(&spool);
	naive[kind][pool][place] = live_insert(&spool, &node);
	txn_commit(&spool);
	lives++;
}

static void delete (enum node_kind kind, uint32_t pool, size_t place)
{
	txn_begin(&spool);
	live_remove(&spool, naive[kind][pool][place]);
	txn_commit(&spool);
	naive[kind][pool][place] = 0;
	lives--;
}

/* Kinds but a pool's block have one address space, whatever the pool. */
static bool taken(enum node_kind kind, uint32_t pool, size_t place)
{
	if (kind == NODE_BLOCK)
		return naive[kind][pool][place];
	for (unsigned i = 0; i < POOLS; i++) {
		if (naive[kind][i][place])
			return true;
	}
	return false;
}

static void compare_one(enum node_kind kind, uint32_t pool, size_t place)
{
	uint32_t id = live_find(&spool, kind, pool, address_of(place));
	uint32_t wanted = naive[kind][pool][place];
	const struct spool_node *node;

	for (unsigned i = 0; kind != NODE_BLOCK && !wanted && i < POOLS; i++)
		wanted = naive[kind][i][place];
	EQ(id, wanted);
	if (!id)
		return;
	node = live_node(&spool, id);
	EQ(node->size, place + 1);
	EQ(node->stack, place);
	EQ(node->device, place % 5);
}

/* Every chain ends, holds what belongs there, and all of them hold all. */
static void compare_all(void)
{
	uint64_t buckets = spool.header->live.buckets;
	uint64_t seen = 0;

	for (unsigned kind = 1; kind < KINDS; kind++) {
		for (uint32_t pool = 0; pool < POOLS; pool++) {
			for (size_t place = 0; place < PLACES; place++)
				compare_one(kind, pool, place);
		}
	}
	EQ(spool.header->live.count, lives);
	EQ(spool_count(&spool, SPOOL_BUCKET), buckets);
	for (uint64_t i = 0; i < buckets; i++) {
		const uint32_t *head = spool_at(&spool, SPOOL_BUCKET, i);

		for (uint32_t id = *head; id; id = live_node(&spool, id)->next)
			OK(++seen <= lives);
	}
	EQ(seen, lives);
	for (uint32_t id = (uint32_t)spool.header->live.free; id;
	     id = live_node(&spool, id)->next) {
		EQ(live_node(&spool, id)->kind, NODE_FREE);
		seen++;
	}
	EQ(seen, spool_count(&spool, SPOOL_NODE));
}

static void one_step(bool growing)
{
	enum node_kind kind = (enum node_kind)(1 + chance_below(&chance, KINDS - 1));
	uint32_t pool = (uint32_t)chance_below(&chance, POOLS);
	size_t place = chance_below(&chance, PLACES);

	compare_one(kind, pool, place);
	if (naive[kind][pool][place])
		delete (kind, pool, place);
	else if (!taken(kind, pool, place) && (growing || chance_one_in(&chance, 3)))
		insert(kind, pool, place);
}

TEST(random_steps_equal_the_naive_table)
{
	EQ(memory_spool(&spool), 0);
	EQ(live_find(&spool, NODE_ADDRESS, 0, 0), 0);
	for (unsigned i = 0; i < STEPS; i++) {
		one_step(i / 50000 % 2 == 0);
		if (i % 20000 == 0)
			compare_all();
	}
	compare_all();
	spool_close(&spool);
}

TEST(everything_in_and_everything_out)
{
	EQ(memory_spool(&spool), 0);
	for (unsigned kind = 1; kind < KINDS; kind++) {
		for (size_t place = 0; place < PLACES; place++)
			insert(kind, place % POOLS, place);
	}
	compare_all();
	/* Buckets keep step with nodes: chains stay short. */
	OK(spool.header->live.buckets >= lives);
	for (unsigned kind = 1; kind < KINDS; kind++) {
		for (size_t place = 0; place < PLACES; place++)
			delete (kind, place % POOLS, place);
	}
	EQ(lives, 0);
	compare_all();
	spool_close(&spool);
}

TEST(a_handle_without_references_changes_its_kind)
{
	EQ(memory_spool(&spool), 0);
	for (size_t place = 0; place < 1000; place++)
		insert(NODE_HANDLE, 0, place);
	for (size_t place = 0; place < 1000; place += 2) {
		uint32_t id = naive[NODE_HANDLE][0][place];

		txn_begin(&spool);
		live_recount(&spool, id, 0, 0);
		txn_commit(&spool);
		naive[NODE_HELD][0][place] = id;
		naive[NODE_HANDLE][0][place] = 0;
	}
	compare_all();
	spool_close(&spool);
}

/* A reverted insertion leaves the table as it was, splits and free nodes included. */
/* What does not fit is not written down, and that is known. */
TEST(a_transaction_of_too_many_words_is_counted)
{
	struct spool small;
	uint64_t *words;

	EQ(memory_spool(&small), 0);
	EQ(spool_need(&small, SPOOL_CELL, 0), 0);
	words = spool_at(&small, SPOOL_CELL, 0);
	txn_begin(&small);
	for (unsigned i = 0; i < SPOOL_UNDO; i++)
		txn_set64(&small, &words[i], i + 1);
	EQ(small.header->unkept, 0);
	EQ(small.header->undo_count, SPOOL_UNDO);
	txn_set64(&small, &words[SPOOL_UNDO], 7);
	EQ(small.header->unkept, 1);
	txn_keep_run(&small, &words[SPOOL_UNDO], 4);
	EQ(small.header->unkept, 5);
	EQ(small.header->undo_count, SPOOL_UNDO);
	txn_cancel(&small);
	for (unsigned i = 0; i < SPOOL_UNDO; i++)
		EQ(words[i], 0);
	EQ(words[SPOOL_UNDO], 7);
	spool_close(&small);
}

TEST(reverted_steps_leave_nothing)
{
	EQ(memory_spool(&spool), 0);
	for (unsigned i = 0; i < 20000; i++) {
		one_step(true);
		if (chance_one_in(&chance, 4)) {
			size_t place = chance_below(&chance, PLACES);
			uint32_t pool = (uint32_t)chance_below(&chance, POOLS);

			if (taken(NODE_BLOCK, pool, place))
				continue;
			insert(NODE_BLOCK, pool, place);
			OK(txn_begin_over(&spool));
			txn_commit(&spool);
			naive[NODE_BLOCK][pool][place] = 0;
			lives--;
		}
	}
	compare_all();
	spool_close(&spool);
}
