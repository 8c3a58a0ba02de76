/* The C API by which a program describes its own memory (include/memtrace/memtrace.h). */
#include "capture/life/life.h"

#include <errno.h>
#include <string.h>

#include "base/guest/signals.h"
#include "base/mem/sort.h"
#include "base/text/text.h"
#include "capture/cuda/cuda_call.h"
#include "capture/recorder/record_parts.h"
#include "capture/stack/stacks.h"
#include "capture/torch/torch.h"
#include "memtrace/memtrace.h"

enum { POOLS = 64, POOL_NAME = 64, SEGMENTS = 4096 };

/* The names of the pools. They are not text ids of the recording: a forked child keeps its pools
 * but begins a new recording. */
static struct {
	_Atomic uint32_t count;
	char names[POOLS][POOL_NAME];
} pools;

/* The pools' segments, sorted by address, so that a block's segment is found quickly. CUDA may have
 * freed a segment meanwhile: still_there() checks the segment's node in the ledger. */
static struct {
	uint32_t count;
	struct pool_segment {
		uint64_t start, end;
		uint64_t address; /* address of the driver's allocation that contains the segment */
		uint32_t id;      /* number of that allocation's node in the ledger */
	} list[SEGMENTS];
} segments;

EXPORT void memtrace_start(void)
{
	record_events(true);
}

EXPORT void memtrace_stop(void)
{
	record_events(false);
}

EXPORT void memtrace_enable(int on)
{
	int from = on ? RECORD_INERT : RECORD_ON;
	int to = on ? RECORD_ASLEEP : RECORD_INERT; /* the next call runs record_wake() */

	if (!record_process.start_monotonic || (!on && !record_on()) ||
	    !atomic_compare_exchange_strong(&record_state, &from, to))
		return;
	if (on && atomic_load(&record_process.open)) {
		record_thread(); /* precedes record_lock(), as record_thread() may take that lock */
		record_lock();
		torch_restart();
		record_unlock();
	}
}

static void mark_named(enum event_op op, const char *name)
{
	struct record_mark mark = { .op = (uint8_t)op };

	text_copy(mark.name, sizeof(mark.name), name ? name : "");
	record_mark(&mark);
}

EXPORT void memtrace_mark(const char *name)
{
	mark_named(EVENT_MARK, name);
}

EXPORT int memtrace_dump(const char *path)
{
	/* If a signal handler interrupted an update, a dump would wait for its own thread. */
	return record_inside() ? -EBUSY : finalize_dump(path);
}

EXPORT void memtrace_push(const char *name)
{
	mark_named(EVENT_PUSH, name);
}

EXPORT void memtrace_pop(void)
{
	mark_named(EVENT_POP, NULL);
}

EXPORT void memtrace_label(const void *ptr, const char *name)
{
	uint32_t id;

	if (!ptr || !name || !record_begin(true))
		return;
	record_lock();
	id = live_find(record_spool(), NODE_ADDRESS, 0, (uint64_t)ptr);
	if (id)
		live_node(record_spool(), id)->label = record_text(name);
	record_unlock();
}

EXPORT memtrace_pool memtrace_pool_create(const char *name)
{
	uint32_t index;

	if (!name || !*name)
		return 0;
	for (uint32_t i = 0; i < atomic_load(&pools.count) && i < POOLS; i++) {
		if (!strncmp(pools.names[i], name, POOL_NAME - 1))
			return i + 1;
	}
	index = atomic_fetch_add(&pools.count, 1);
	if (index >= POOLS)
		return 0;
	text_copy(pools.names[index], POOL_NAME, name);
	return index + 1;
}

EXPORT memtrace_pool memtrace_pool_grow(memtrace_pool pool)
{
	static _Thread_local memtrace_pool growing;
	memtrace_pool before = growing;

	growing = pool <= POOLS ? pool : 0;
	cuda_call_growing = growing ? pools.names[growing - 1] : NULL;
	return before;
}

/* The index of the first segment that ends after the address. The recorder's lock must be held, as
 * for all functions from here to give_back(). */
static uint32_t find_segment(uint64_t address)
{
	return (uint32_t)sort_until(segments.list, segments.count, sizeof(*segments.list),
				    offsetof(struct pool_segment, end), address);
}

/* Removes the segments that overlap [start, end), and returns the position where they were. */
static uint32_t drop_segments(uint64_t start, uint64_t end)
{
	uint32_t at = find_segment(start);
	uint32_t to = at;

	while (to < segments.count && segments.list[to].start < end)
		to++;
	memmove(segments.list + at, segments.list + to,
		(segments.count - to) * sizeof(*segments.list));
	segments.count -= to - at;
	return at;
}

/* Adds a segment, and removes those that it overlaps: they were freed, for allocations never
 * overlap. A full list is emptied: place_block() then searches the ledger for segments. */
static void add_segment(const struct pool_segment *segment)
{
	SIGNALS_DEFERRED(); /* no signal handler may jump out while the list is changed */
	uint32_t at;

	at = drop_segments(segment->start, segment->end);
	if (segments.count == SEGMENTS)
		at = segments.count = 0;
	memmove(segments.list + at + 1, segments.list + at,
		(segments.count - at) * sizeof(*segments.list));
	segments.list[at] = *segment;
	segments.count++;
}

/* Number of the ledger's node that contains the address, 0 for none. May search all nodes. */
static uint32_t memory_at(uint64_t address)
{
	uint32_t id = live_find(record_spool(), NODE_ADDRESS, 0, address);

	return id ? id : ledger_around(record_ledger(), address);
}

static const struct spool_node *still_there(const struct pool_segment *segment)
{
	const struct spool_node *node;

	/* segment->id may be from before a fork: a forked child has a new spool. */
	if (segment->id > spool_count(record_spool(), SPOOL_NODE))
		return NULL;
	node = live_node(record_spool(), segment->id);
	return node->kind != NODE_FREE && node->pool && node->address == segment->address ? node
											  : NULL;
}

/* Adds a segment of the allocation `id`. An allocation without a pool is added to like->pool. */
static void take_segment(uint32_t id, uint64_t start, uint64_t size, const struct event *like)
{
	const struct spool_node *node = live_node(record_spool(), id);
	const struct pool_segment segment = { start, start + size, node->address, id };

	if (!node->pool)
		ledger_retag(record_ledger(), id, like->pool, like);
	add_segment(&segment);
}

/* Gives a block the device and memory kind of its segment. If no segment is known, the driver's
 * allocation around the block becomes one, so that the block's bytes do not count twice. */
static void place_block(struct event *event)
{
	uint32_t at = find_segment(event->ptr);
	const struct spool_node *node = NULL;
	uint32_t id;

	if (at < segments.count && segments.list[at].start <= event->ptr)
		node = still_there(&segments.list[at]);
	if (!node && (id = memory_at(event->ptr))) {
		node = live_node(record_spool(), id);
		if (node->kind == NODE_ADDRESS)
			take_segment(id, node->address, node->size, event);
		else /* memory with a handle, not an address: the segment is the block alone */
			take_segment(id, event->ptr, event->size, event);
	}
	event->device = 0;
	event->space = SPACE_DEVICE;
	if (node) {
		event->device = node->device;
		event->space = node->space;
	}
}

static void reserve(struct event *event)
{
	uint32_t id = memory_at(event->ptr);

	if (!id) { /* memory that no hooked call allocated: recorded now */
		event->op = EVENT_RESERVE;
		event->space = SPACE_DEVICE;
		sampling_told(event);
		ledger_enter(record_ledger(), event, NODE_ADDRESS, 0, 0);
		id = live_find(record_spool(), NODE_ADDRESS, 0, event->ptr);
	}
	if (id)
		take_segment(id, event->ptr, event->size, event);
}

/* Records the end of a segment only if no hooked call allocated its memory. Otherwise a hooked call
 * will free the memory and record the end: if the memory counted as a plain allocation until then,
 * that might raise the peak of allocated bytes. */
static void release(struct event *event)
{
	struct signals_deferred deferred;
	uint32_t id;

	deferred = signals_defer();
	drop_segments(event->ptr, event->ptr + 1);
	signals_deliver(&deferred);
	id = live_find(record_spool(), NODE_ADDRESS, 0, event->ptr);
	if (id && live_node(record_spool(), id)->pool == event->pool &&
	    !live_node(record_spool(), id)->owner)
		ledger_leave_node(record_ledger(), event, id);
}

static void alloc(struct event *event)
{
	event->op = EVENT_ALLOC;
	place_block(event);
	sampling_told(event);
	ledger_enter(record_ledger(), event, NODE_BLOCK, 0, 0);
}

static void give_back(struct event *event)
{
	ledger_leave(record_ledger(), event, NODE_BLOCK, NULL);
}

/* Makes an event of the pool, and passes the event to `enter`, with the recorder's lock held. */
static INLINED void tell(memtrace_pool pool, const void *ptr, uint64_t size, void *caller,
			 const char *api, void (*enter)(struct event *event))
{
	const char *name = pool && pool <= POOLS ? pools.names[pool - 1] : NULL;
	const struct sampling_call call = {
		.caller = caller,
		.pool = name,
		.may_load = true,
		.unknown_device = true,
	};
	struct event event;
	int saved = errno;

	if (name && ptr && record_begin(true)) {
		event = (struct event){
			.t = record_now(),
			.ptr = (uint64_t)ptr,
			.size = size,
			.thread = record_thread(),
		};
		if (size)
			sampling_birth(&event, &call);
		else
			sampling_end(&event, NODE_BLOCK, &call);
		record_lock();
		event.pool = record_text(name);
		event.api = record_text(api);
		enter(&event);
		record_done();
	}
	errno = saved;
}

EXPORT void memtrace_pool_reserve(memtrace_pool pool, const void *ptr, size_t size)
{
	tell(pool, ptr, size, CALLER, "memtrace_pool_reserve", reserve);
}

EXPORT void memtrace_pool_release(memtrace_pool pool, const void *ptr)
{
	tell(pool, ptr, 0, CALLER, "memtrace_pool_release", release);
}

EXPORT void memtrace_pool_alloc(memtrace_pool pool, const void *ptr, size_t size)
{
	tell(pool, ptr, size, CALLER, "memtrace_pool_alloc", alloc);
}

EXPORT void memtrace_pool_free(memtrace_pool pool, const void *ptr)
{
	tell(pool, ptr, 0, CALLER, "memtrace_pool_free", give_back);
}
