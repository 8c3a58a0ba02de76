/*
 * Stream-ordered memory and memory of graphs: both come from pools of the driver's, whose reserved
 * bytes fall where no call is hooked, so they are sampled where calls are.
 */
#include <sched.h>
#include <string.h>

#include "base/text/text.h"
#include "capture/cuda/cuda_call_parts.h"
#include "capture/cuda/driver.h"
#include "capture/life/process_info.h"
#include "capture/stack/sampling.h"
#include "codec/pseudo_stacks.h"

enum { GRAPH_DEVICES = 64, POOLS = 64, PATIENCE = 10000 };

/* Pools that may be asked what they reserve, by device; of more than these some are not. */
static struct {
	_Atomic uint64_t pool; /* 0 for none */
	_Atomic int device;
} pools[POOLS];

static _Atomic uint32_t asking; /* threads that ask one of them */

/* Devices that a graph was told to allocate on, one bit each. */
static _Atomic uint64_t graph_devices;

void span_stream(struct span *span, uint64_t stream)
{
	span->stream = stream;
	/* In a capture the call makes a node of a graph: memory is taken when that is launched. */
	span->capturing = driver_capturing(stream);
}

/* The pool's name. With the lock held. */
static uint32_t pool_text(uint64_t pool)
{
	char name[40] = "async:";

	text_hex(name + strlen(name), pool);
	return intern_text(record_intern(), name);
}

static void adjust(const struct event *like, enum metric metric, uint64_t now, const char *stack)
{
	struct ledger *ledger = record_ledger();
	uint64_t known = ledger_pool_sum(ledger, like->device, like->pool, metric);
	bool more = now > known;
	uint32_t id = intern_pseudo_stack(record_intern(), stack);
	enum event_op op = metric == METRIC_RESERVED ? (more ? EVENT_RESERVE : EVENT_RELEASE)
						     : (more ? EVENT_ALLOC : EVENT_FREE);

	if (now != known)
		ledger_adjust(ledger, like, op, more ? now - known : known - now, id);
}

void span_sample_pool(const struct event *like, uint64_t reserved)
{
	/* What pools of host and of managed memory reserve is no device's. */
	if (like->space == SPACE_DEVICE)
		adjust(like, METRIC_RESERVED, reserved, "[stream-ordered pool]");
}

bool span_pool_is_empty(const struct event *event)
{
	return !ledger_pool_sum(record_ledger(), event->device, event->pool, METRIC_ALLOCATED);
}

static enum space space_of(const struct driver_block *block)
{
	if (block->managed)
		return SPACE_MANAGED;
	return block->host ? SPACE_PINNED : SPACE_DEVICE;
}

/* A node of a graph was made: its device is looked at from here on. */
static void graph_seen(int device)
{
	if (device >= 0 && device < GRAPH_DEVICES)
		atomic_fetch_or(&graph_devices, 1ull << device);
}

static void know_pool(uint64_t pool, int device)
{
	for (unsigned i = 0; pool && i < POOLS; i++) {
		uint64_t none = 0;

		if (atomic_load_explicit(&pools[i].pool, memory_order_relaxed) == pool)
			return;
		if (atomic_compare_exchange_strong(&pools[i].pool, &none, pool)) {
			atomic_store(&pools[i].device, device);
			return;
		}
	}
}

/* Ahead of its end: nobody may be asking it, nor begin to. */
void span_pool_ending(uint64_t pool)
{
	for (unsigned i = 0; i < POOLS; i++) {
		uint64_t found = pool;

		if (pool)
			atomic_compare_exchange_strong(&pools[i].pool, &found, 0);
	}
	for (unsigned i = 0; i < PATIENCE && atomic_load(&asking); i++)
		sched_yield();
}

static void refresh_pool(const struct span *span, uint64_t pool, int device)
{
	uint64_t reserved = driver_pool_reserved(pool);
	struct event event;
	bool changed;

	record_lock();
	event.pool = pool_text(pool);
	changed = ledger_pool_sum(record_ledger(), device, event.pool, METRIC_RESERVED) != reserved;
	record_unlock();
	if (!changed)
		return;
	span_describe(span, &event);
	event.space = SPACE_DEVICE;
	event.device = (int16_t)device;
	record_lock();
	event.api = span_api(span);
	event.pool = pool_text(pool);
	span_sample_pool(&event, reserved);
	record_done();
}

void span_refresh_pools(const struct span *span, int device)
{
	for (unsigned i = 0; i < POOLS; i++) {
		uint64_t pool;

		if (!atomic_load_explicit(&pools[i].pool, memory_order_relaxed))
			continue;
		atomic_fetch_add(&asking, 1);
		pool = atomic_load(&pools[i].pool);
		if (pool && atomic_load(&pools[i].device) == device)
			refresh_pool(span, pool, device);
		atomic_fetch_sub(&asking, 1);
	}
}

void span_forget_pools(void)
{
	for (unsigned i = 0; i < POOLS; i++)
		atomic_store(&pools[i].pool, 0);
	atomic_store(&asking, 0);
}

void span_alloc_async(struct span *span, int status, uint64_t ptr, uint64_t size)
{
	struct driver_block block;
	struct event event;
	uint64_t reserved;

	if (span->capturing) {
		if (!status)
			graph_seen(driver_device());
		return;
	}
	if (span_no_event(status) || span_is_told(span) || !record_begin(true))
		return;
	if (status) {
		span_failed(span, status, SPACE_DEVICE, size, driver_device(), true);
		return;
	}
	if (!ptr || !span_counts(span, status))
		return;
	span_moved(span);
	record_note("reserved bytes of stream-ordered pools are sampled at pool calls, not exact "
		    "in between");
	driver_block(ptr, &block);
	reserved = block.pool ? driver_pool_reserved(block.pool) : 0;
	span_describe_bare(span, &event);
	event.op = EVENT_ALLOC;
	event.space = space_of(&block);
	event.ptr = ptr;
	event.size = size;
	event.device = (int16_t)(event.space == SPACE_PINNED ? NO_DEVICE : block.device);
	facts_device(event.device);
	if (event.space == SPACE_DEVICE)
		know_pool(block.pool, event.device);
	span_choose_birth(span, &event);
	record_lock();
	event.api = span_api(span);
	event.pool = pool_text(block.pool);
	choose_told(&event);
	span_sample_pool(&event, reserved);
	span_enter_memory(&event, NODE_ADDRESS, block.pool);
	record_done();
	span_sample_used(span, event.device);
}

void span_free_async(struct span *span, uint64_t stream, uint64_t ptr)
{
	span->stream = stream;
	span_free(span, NODE_ADDRESS, ptr);
}

void span_import_block(struct span *span, int status, uint64_t ptr, uint64_t pool)
{
	struct driver_block block;
	struct event event;

	if (status || !ptr || span_is_told(span) || !record_begin(true) ||
	    !span_counts(span, status))
		return;
	span_moved(span);
	driver_block(ptr, &block);
	span_describe_bare(span, &event);
	event.op = EVENT_ALLOC;
	event.space = space_of(&block);
	event.flags = EVENT_FOREIGN;
	event.ptr = ptr;
	event.size = driver_range(ptr);
	event.device = (int16_t)(event.space == SPACE_PINNED ? NO_DEVICE : block.device);
	facts_device(event.device);
	span_choose_birth(span, &event);
	record_lock();
	event.api = span_api(span);
	event.pool = pool_text(pool);
	span_enter_memory(&event, NODE_ADDRESS, 0);
	record_done();
}

/* Is it for this row to look at the pool? Fills what an adjusting event needs. */
static bool sampling(struct span *span, int status, struct event *event)
{
	if (status || span->moved || !record_continue())
		return false;
	span_describe(span, event);
	event->space = SPACE_DEVICE;
	return true;
}

void span_pool_sampled(struct span *span, int status, uint64_t pool)
{
	struct event event;
	uint64_t reserved;
	int device;

	if (!sampling(span, status, &event))
		return;
	reserved = driver_pool_reserved(pool);
	record_lock();
	event.api = span_api(span);
	event.pool = pool_text(pool);
	if (ledger_pool_device(record_ledger(), event.pool, &device)) {
		event.device = (int16_t)device;
		span_sample_pool(&event, reserved);
	}
	record_done();
	span_moved(span);
	span_sample_used(span, driver_device());
}

/* It lives on until its last block is freed, but must not be asked: its number may be another's. */
void span_pool_destroyed(struct span *span, int status, uint64_t pool)
{
	struct event event;
	int device;

	if (!sampling(span, status, &event))
		return;
	record_lock();
	event.api = span_api(span);
	event.pool = pool_text(pool);
	ledger_orphan_pool(record_ledger(), pool);
	if (ledger_pool_device(record_ledger(), event.pool, &device)) {
		event.device = (int16_t)device;
		if (span_pool_is_empty(&event))
			span_sample_pool(&event, 0);
	}
	record_done();
	span_moved(span);
	span_sample_used(span, driver_device());
}

/* --- graphs -------------------------------------------------------------------------------- */

void span_graph_node(struct span *span, int status, int device, uint64_t size)
{

	if (!span_no_event(status) && record_begin(true)) {
		if (status)
			span_failed(span, status, SPACE_DEVICE, size, device, false);
		else
			graph_seen(device);
	}
}

struct graph_memory {
	uint64_t reserved, used;
};

/* Does a device hold more or less for graphs than the ledger knows? Most launches change nothing.
 */
static bool has_changed(int device, struct graph_memory *memory)
{
	struct ledger *ledger = record_ledger();
	uint32_t pool;
	bool changed;

	memory->reserved = driver_graph_memory(device, &memory->used);
	record_lock();
	pool = intern_text(record_intern(), "graph");
	changed = ledger_pool_sum(ledger, device, pool, METRIC_RESERVED) != memory->reserved ||
		  ledger_pool_sum(ledger, device, pool, METRIC_ALLOCATED) != memory->used;
	record_unlock();
	return changed;
}

/* Growing the one first and shrinking the other, so that no more is allocated than reserved. */
static void sample_device(struct span *span, int device, const struct graph_memory *memory)
{
	static const char stack[] = PSEUDO_GRAPH_MEMORY;
	struct event event;

	record_note("memory of graphs is sampled when one is launched, uploaded or trimmed");
	facts_device(device);
	span_describe(span, &event);
	event.space = SPACE_DEVICE;
	event.device = (int16_t)device;
	record_lock();
	event.api = span_api(span);
	event.pool = intern_text(record_intern(), "graph");
	if (memory->reserved >=
	    ledger_pool_sum(record_ledger(), device, event.pool, METRIC_RESERVED)) {
		adjust(&event, METRIC_RESERVED, memory->reserved, stack);
		adjust(&event, METRIC_ALLOCATED, memory->used, stack);
	} else {
		adjust(&event, METRIC_ALLOCATED, memory->used, stack);
		adjust(&event, METRIC_RESERVED, memory->reserved, stack);
	}
	record_done();
}

bool span_sample_graphs(struct span *span)
{
	uint64_t devices = atomic_load_explicit(&graph_devices, memory_order_relaxed);
	struct graph_memory memory;

	for (int device = 0; device < GRAPH_DEVICES; device++) {
		if ((devices >> device & 1) && has_changed(device, &memory))
			sample_device(span, device, &memory);
	}
	return devices != 0;
}

void span_graph_sampled(struct span *span, int status)
{

	if (!status && !span->moved && atomic_load_explicit(&graph_devices, memory_order_relaxed) &&
	    record_begin(true)) {
		span_sample_graphs(span);
		span_moved(span);
		span_sample_used(span, driver_device());
	}
}
