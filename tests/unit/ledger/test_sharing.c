/*
 * What the ledger keeps beside sums: how often foreign memory is open, what ends with a context,
 * which pool can still be asked, and what a mapping alone holds.
 */
#include "check.h"
#include "ledger/intern.h"
#include "ledger/vmm.h"
#include "unit/memory_spool.h"

enum { CONTEXT = 0x5500, OTHER_CONTEXT = 0x6600, POOL = 0x7700 };

static struct {
	struct spool spool;
	struct intern intern;
	struct ledger ledger;
	uint32_t pool;
} run;

static void start(void)
{
	EQ(memory_spool(&run.spool), 0);
	EQ(intern_init(&run.intern, &run.spool), 0);
	EQ(ledger_init(&run.ledger, &run.spool, 1000), 0);
	run.pool = intern_text(&run.intern, "async:0x7700");
}

static void finish(void)
{
	EQ(run.ledger.error, 0);
	ledger_clear(&run.ledger);
	intern_clear(&run.intern);
	spool_close(&run.spool);
}

static struct event event_at(uint64_t ptr, uint64_t size)
{
	return (struct event){ .op = EVENT_ALLOC, .t = 1, .ptr = ptr, .size = size };
}

static uint32_t enter(enum node_kind kind, uint64_t ptr, uint64_t size, uint64_t link)
{
	struct event event = event_at(ptr, size);

	ledger_enter(&run.ledger, &event, kind, 0, link);
	return live_find(&run.spool, kind, 0, ptr);
}

static uint64_t held(enum metric metric)
{
	return totals_scope(&run.spool, 0)->sums[metric].now;
}

TEST(foreign_memory_ends_with_its_last_close)
{
	struct event event = event_at(0x1000, 512);
	struct spool_node was;

	start();
	OK(!vmm_retain(&run.ledger, NODE_ADDRESS, 0x1000));
	event.flags = EVENT_FOREIGN;
	ledger_enter(&run.ledger, &event, NODE_ADDRESS, 0, CONTEXT);
	EQ(held(METRIC_ALLOCATED), 0);
	OK(vmm_retain(&run.ledger, NODE_ADDRESS, 0x1000));
	event = event_at(0x1000, 0);
	OK(vmm_release(&run.ledger, NODE_ADDRESS, &event, &was));
	EQ(was.references, 2);
	vmm_unrelease(&run.ledger, &event, &was); /* it failed after all: open twice again */
	OK(vmm_release(&run.ledger, NODE_ADDRESS, &event, &was));
	OK(live_find(&run.spool, NODE_ADDRESS, 0, 0x1000));
	OK(vmm_release(&run.ledger, NODE_ADDRESS, &event, &was));
	EQ(event.op, EVENT_FREE);
	EQ(event.flags, EVENT_FOREIGN);
	EQ(event.size, 512);
	OK(!live_find(&run.spool, NODE_ADDRESS, 0, 0x1000));
	vmm_unrelease(&run.ledger, &event, &was);
	OK(live_find(&run.spool, NODE_ADDRESS, 0, 0x1000));
	OK(vmm_release(&run.ledger, NODE_ADDRESS, &event, &was));
	OK(!vmm_release(&run.ledger, NODE_ADDRESS, &event, &was));
	finish();
}

TEST(ones_own_memory_is_not_for_closing)
{
	struct event event = event_at(0x1000, 0);
	struct spool_node was;

	start();
	enter(NODE_ADDRESS, 0x1000, 512, CONTEXT);
	OK(!vmm_retain(&run.ledger, NODE_ADDRESS, 0x1000));
	OK(!vmm_release(&run.ledger, NODE_ADDRESS, &event, &was));
	EQ(held(METRIC_ALLOCATED), 512);
	finish();
}

TEST(a_context_takes_its_own_along)
{
	struct event block = event_at(0x4000, 512);
	uint32_t plain, array, external;

	start();
	plain = enter(NODE_ADDRESS, 0x1000, 512, CONTEXT);
	enter(NODE_ADDRESS, 0x2000, 512, OTHER_CONTEXT);
	array = enter(NODE_ARRAY, 0x1000, 512, CONTEXT);
	external = enter(NODE_EXTERNAL, 0x1000, 512, CONTEXT);
	enter(NODE_HANDLE, 0x3000, 512, 0);
	block.pool = run.pool; /* survives, even if its pool had the context's number */
	ledger_enter(&run.ledger, &block, NODE_ADDRESS, 0, CONTEXT);
	EQ(ledger_next_of_context(&run.ledger, 0, CONTEXT), plain);
	EQ(ledger_next_of_context(&run.ledger, plain, CONTEXT), array);
	EQ(ledger_next_of_context(&run.ledger, array, CONTEXT), external);
	EQ(ledger_next_of_context(&run.ledger, external, CONTEXT), 0);
	finish();
}

TEST(blocks_outlive_their_pool)
{
	struct event event = event_at(0x1000, 512);
	int device = 77;
	uint32_t id;

	start();
	OK(!ledger_pool_device(&run.ledger, run.pool, &device));
	event.pool = run.pool;
	event.device = 3;
	ledger_enter(&run.ledger, &event, NODE_ADDRESS, 0, POOL);
	id = live_find(&run.spool, NODE_ADDRESS, 0, 0x1000);
	OK(live_is_ordered(live_node(&run.spool, id)));
	OK(ledger_pool_device(&run.ledger, run.pool, &device));
	EQ(device, 3);
	enter(NODE_ADDRESS, 0x2000, 512, POOL); /* a context of the same number is no pool */
	ledger_orphan_pool(&run.ledger, POOL);
	EQ(live_node(&run.spool, id)->link, 0);
	OK(live_is_ordered(live_node(&run.spool, id)));
	id = live_find(&run.spool, NODE_ADDRESS, 0, 0x2000);
	EQ(live_node(&run.spool, id)->link, POOL);
	finish();
}

static void map(uint64_t ptr, uint64_t handle)
{
	struct event event = event_at(ptr, 2 << 20);

	vmm_map(&run.ledger, &event, handle);
}

TEST(what_was_released_is_retained_through_its_mapping)
{
	struct event event = event_at(0x5, 0);
	struct spool_node was;

	start();
	enter(NODE_HANDLE, 0x5, 2 << 20, 0);
	map(0x40000000, 0x5);
	OK(vmm_release(&run.ledger, NODE_HANDLE, &event, &was));
	OK(!vmm_retain(&run.ledger, NODE_HANDLE, 0x5)); /* by its number it cannot be found */
	OK(vmm_retain_mapped(&run.ledger, 0x40000000 + 4096, 0x5));
	event = event_at(0x40000000, 2 << 20);
	vmm_unmap(&run.ledger, &event);
	EQ(held(METRIC_RESERVED), 2 << 20);
	event = event_at(0x5, 0);
	OK(vmm_release(&run.ledger, NODE_HANDLE, &event, &was));
	EQ(held(METRIC_RESERVED), 0);
	finish();
}

TEST(a_number_given_again_does_not_confuse_retaining)
{
	struct event event = event_at(0x5, 0);
	struct spool_node was;

	start();
	enter(NODE_HANDLE, 0x5, 2 << 20, 0);
	map(0x40000000, 0x5);
	OK(vmm_release(&run.ledger, NODE_HANDLE, &event, &was));
	enter(NODE_HANDLE, 0x6, 4 << 20, 0);
	OK(vmm_retain_mapped(&run.ledger, 0x12345000, 0x6)); /* nothing is mapped there */
	OK(!vmm_retain_mapped(&run.ledger, 0x12345000, 0x5));
	event = event_at(0x6, 0);
	OK(vmm_release(&run.ledger, NODE_HANDLE, &event, &was));
	OK(vmm_release(&run.ledger, NODE_HANDLE, &event, &was));
	EQ(held(METRIC_RESERVED), 2 << 20);
	finish();
}
