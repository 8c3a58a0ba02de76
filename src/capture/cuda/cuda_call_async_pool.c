/* Records memory of stream-ordered pools and of graphs, memory handles and mappings. Pools may
 * shrink outside of any hooked call, so their reserved bytes are sampled at hooked calls. */
#include <sched.h>
#include <string.h>

#include "base/text/text.h"
#include "capture/cuda/cuda_call_parts.h"
#include "capture/cuda/driver.h"
#include "capture/recorder/callbacks.h"
#include "codec/event.h"
#include "ledger/vmm.h"

enum { POOLS = 64, PATIENCE = 10000 };

/* The stream-ordered pools whose reserved bytes are sampled whenever their device is sampled. */
static struct {
	_Atomic uint64_t pool; /* handle of the pool, 0 if the entry is free */
	_Atomic int device;
} pools[POOLS];

static _Atomic uint32_t asking; /* number of threads that are querying a pool of this table */

/* Devices whose graph memory is sampled, because a graph allocates there; one bit each. */
static _Atomic uint64_t graph_devices;

uint32_t cuda_call_pool_text(uint64_t pool)
{
	char name[40] = "async:";

	text_hex(name + strlen(name), pool);
	return record_text(name);
}

static void adjust(const struct event *like, enum metric metric, uint64_t now, const char *stack)
{
	ledger_adjust_to(record_ledger(), like, metric, now,
			 intern_pseudo_stack(record_intern(), stack, 0, SPACE_DEVICE));
}

void cuda_call_sample_pool(const struct event *like, uint64_t reserved)
{
	/* Pools of host and of managed memory reserve nothing on a device. */
	if (like->space == SPACE_DEVICE)
		adjust(like, METRIC_RESERVED, reserved, "[stream-ordered pool]");
}

bool cuda_call_pool_is_empty(const struct event *event)
{
	return !ledger_pool_sum(record_ledger(), event->device, event->pool, METRIC_ALLOCATED);
}

static enum space space_of(const struct driver_block *block)
{
	if (block->managed)
		return SPACE_MANAGED;
	return block->host ? SPACE_PINNED : SPACE_DEVICE;
}

static void graph_seen(int device)
{
	if (device >= 0 && device < DRIVER_DEVICES)
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

/* Called before a pool is destroyed: removes its entry from pools[], and waits for a limited time
 * until no thread queries a pool of that table. */
void cuda_call_pool_ending(uint64_t pool)
{
	for (unsigned i = 0; i < POOLS; i++) {
		uint64_t found = pool;

		if (pool)
			atomic_compare_exchange_strong(&pools[i].pool, &found, 0);
	}
	for (unsigned i = 0; i < PATIENCE && atomic_load(&asking); i++)
		sched_yield();
}

/* Bytes of a pool as the driver reports them; `used` is set for the memory of graphs only. */
struct holding {
	uint64_t pool; /* handle of the pool, 0 for the memory of graphs */
	uint64_t reserved, used;
};

/* Sets reserved bytes first if they grow, else last, so that they are never below used bytes. */
static void adjust_graphs(const struct event *like, const struct holding *holding)
{
	static const char stack[] = PSEUDO_GRAPH_MEMORY;
	bool grows = holding->reserved >=
		     ledger_pool_sum(record_ledger(), like->device, like->pool, METRIC_RESERVED);

	if (grows)
		adjust(like, METRIC_RESERVED, holding->reserved, stack);
	adjust(like, METRIC_ALLOCATED, holding->used, stack);
	if (!grows)
		adjust(like, METRIC_RESERVED, holding->reserved, stack);
}

/* Records the driver's values for a pool if they have changed. Most graph launches change none. */
static void refresh(const struct cuda_call *span, int device, const struct holding *holding)
{
	struct event event;
	uint32_t pool;
	bool known;

	record_lock();
	pool = holding->pool ? cuda_call_pool_text(holding->pool) : record_text("graph");
	known = ledger_pool_sum(record_ledger(), device, pool, METRIC_RESERVED) ==
			holding->reserved &&
		(holding->pool ||
		 ledger_pool_sum(record_ledger(), device, pool, METRIC_ALLOCATED) == holding->used);
	record_unlock();
	if (known)
		return;
	if (!holding->pool) {
		record_note("memory of CUDA graphs is measured only when a graph is launched or "
			    "uploaded or graph memory is trimmed: changes in between are missing");
		guest_device(device);
	}
	cuda_call_describe(span, &event);
	event.space = SPACE_DEVICE;
	event.device = (int16_t)device;
	event.pool = pool;
	record_lock();
	event.api = cuda_call_api(span);
	if (holding->pool)
		cuda_call_sample_pool(&event, holding->reserved);
	else
		adjust_graphs(&event, holding);
	record_done();
}

void cuda_call_refresh_pools(const struct cuda_call *span, int device)
{
	for (unsigned i = 0; i < POOLS; i++) {
		struct holding holding = { .used = 0 };

		if (!atomic_load_explicit(&pools[i].pool, memory_order_relaxed))
			continue;
		atomic_fetch_add(&asking, 1);
		holding.pool = atomic_load(&pools[i].pool);
		if (holding.pool && atomic_load(&pools[i].device) == device) {
			holding.reserved = driver_pool_reserved(holding.pool);
			refresh(span, device, &holding);
		}
		atomic_fetch_sub(&asking, 1);
	}
}

void cuda_call_forget_pools(void)
{
	for (unsigned i = 0; i < POOLS; i++)
		atomic_store(&pools[i].pool, 0);
	atomic_store(&asking, 0);
}

static struct cuda_call_memory ordered(const struct driver_block *block, uint64_t ptr,
				       uint64_t size)
{
	return (struct cuda_call_memory){ .kind = NODE_ADDRESS,
					  .space = space_of(block),
					  .ordered = true,
					  .placed = true,
					  .device = block->device,
					  .key = ptr,
					  .size = size,
					  .pool = block->pool };
}

void cuda_call_alloc_async(struct cuda_call *span, int status, uint64_t ptr, uint64_t size)
{
	struct cuda_call_memory memory = {
		.space = SPACE_DEVICE, .ordered = true, .key = ptr, .size = size
	};
	struct driver_block block;

	if (span->capturing) {
		if (!status)
			graph_seen(driver_device());
		return;
	}
	if (!cuda_call_begins(span, status, &memory))
		return;
	record_note("reserved bytes of stream-ordered pools are measured at calls on the pool: "
		    "changes between these calls are recorded late");
	driver_block(ptr, &block);
	memory = ordered(&block, ptr, size);
	if (memory.space == SPACE_DEVICE)
		know_pool(block.pool, block.device);
	cuda_call_enter_memory(span, &memory);
}

void cuda_call_import_block(struct cuda_call *span, int status, uint64_t ptr, uint64_t pool)
{
	struct cuda_call_memory memory = { .flags = EVENT_FOREIGN, .key = ptr };
	struct driver_block block;

	if (!cuda_call_begins(span, status, &memory))
		return;
	driver_block(ptr, &block);
	block.pool = pool;
	memory = ordered(&block, ptr, driver_range(ptr));
	memory.flags = EVENT_FOREIGN;
	cuda_call_enter_memory(span, &memory);
}

void cuda_call_pool_sampled(struct cuda_call *span, int status, uint64_t pool, bool destroyed)
{
	struct event event;
	uint64_t reserved;
	int device;

	if (status || span->moved || !record_continue())
		return;
	cuda_call_describe(span, &event);
	event.space = SPACE_DEVICE;
	reserved = destroyed ? 0 : driver_pool_reserved(pool);
	record_lock();
	event.api = cuda_call_api(span);
	event.pool = cuda_call_pool_text(pool);
	if (destroyed)
		ledger_orphan_pool(record_ledger(), pool);
	if (ledger_pool_device(record_ledger(), event.pool, &device)) {
		event.device = (int16_t)device;
		if (!destroyed || cuda_call_pool_is_empty(&event))
			cuda_call_sample_pool(&event, reserved);
	}
	record_done();
	cuda_call_moved(span);
	cuda_call_sample_used(span, driver_device());
}

/* --- memory that CUDA graphs allocate --- */

void cuda_call_graph_node(struct cuda_call *span, int status, int device, uint64_t size)
{
	const struct cuda_call_memory memory = {
		.space = SPACE_DEVICE, .placed = true, .device = device, .size = size
	};

	if (status)
		cuda_call_begins(span, status, &memory);
	else if (record_begin(true))
		graph_seen(device);
}

bool cuda_call_sample_graphs(const struct cuda_call *span)
{
	uint64_t devices = atomic_load_explicit(&graph_devices, memory_order_relaxed);

	for (int device = 0; device < DRIVER_DEVICES; device++) {
		struct holding holding = { .pool = 0 };

		if (!(devices >> device & 1))
			continue;
		holding.reserved = driver_graph_memory(device, &holding.used);
		refresh(span, device, &holding);
	}
	return devices != 0;
}

void cuda_call_graph_sampled(struct cuda_call *span, int status)
{
	if (!status && !span->moved && atomic_load_explicit(&graph_devices, memory_order_relaxed) &&
	    record_begin(true)) {
		cuda_call_sample_graphs(span);
		cuda_call_moved(span);
		cuda_call_sample_used(span, driver_device());
	}
}

/* --- virtual memory management, and memory imported from other processes --- */

static struct cuda_call_memory handle_of(uint64_t handle, uint64_t size, int device)
{
	return (struct cuda_call_memory){ .kind = NODE_HANDLE,
					  .space = device >= 0 ? SPACE_DEVICE : SPACE_PINNED,
					  .placed = true,
					  .device = device,
					  .key = handle,
					  .size = size };
}

void cuda_call_create(struct cuda_call *span, int status, uint64_t handle, uint64_t size,
		      int device)
{
	const struct cuda_call_memory memory = handle_of(handle, size, device);

	cuda_call_take(span, status, &memory);
}

/* A multicast handle refers to memory of several devices and has none of its own: size 0. */
void cuda_call_multicast(struct cuda_call *span, int status, uint64_t handle)
{
	if (!status)
		cuda_call_create(span, status, handle, 0, driver_device());
}

/* If another process's memory is opened again, the driver returns the same handle or address, so
 * the ledger counts openings. The size of memory with a handle is unknown until it is mapped. */
void cuda_call_import(struct cuda_call *span, int status, enum node_kind kind, uint64_t key)
{
	struct cuda_call_memory memory = {
		.kind = kind, .space = SPACE_DEVICE, .flags = EVENT_FOREIGN, .key = key
	};
	bool again;

	if (!cuda_call_begins(span, status, &memory))
		return;
	record_lock();
	again = vmm_retain(record_ledger(), kind, key);
	record_unlock();
	cuda_call_moved(span);
	if (again)
		return;
	if (kind == NODE_ADDRESS)
		memory.size = driver_range(key);
	else
		memory = handle_of(key, 0, driver_device());
	memory.flags = EVENT_FOREIGN;
	cuda_call_enter_memory(span, &memory);
}

void cuda_call_retain(struct cuda_call *span, int status, uint64_t handle, uint64_t ptr)
{
	if (status || span->moved || !record_continue())
		return;
	record_lock();
	vmm_retain_mapped(record_ledger(), ptr, handle);
	record_unlock();
}

/* Records a map or, if `handle` is 0, an unmap. Unlike a free, an unmap is recorded after the real
 * call: the program chooses the addresses, so no other thread maps the range in between. */
void cuda_call_map(struct cuda_call *span, int status, uint64_t ptr, uint64_t size, uint64_t handle)
{
	struct event event;

	if (status || !record_continue())
		return;
	cuda_call_describe(span, &event);
	event.ptr = ptr;
	event.size = size;
	record_lock();
	event.api = cuda_call_api(span);
	if (handle)
		vmm_map(record_ledger(), &event, handle);
	else
		vmm_unmap(record_ledger(), &event);
	record_done();
	cuda_call_moved(span);
}
