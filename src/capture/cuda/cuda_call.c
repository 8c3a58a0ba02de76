/*
 * One hooked call: the words for memory that has an address or a handle.
 *
 * What each allocation and each free passes through stays together, for the compiler to see all of
 * it.
 */
#include "capture/cuda/cuda_call.h"

#include <string.h>

#include "base/guest/hot.h"
#include "base/settings/opt.h"
#include "capture/cuda/cuda_call_parts.h"
#include "capture/cuda/device_usage.h"
#include "capture/cuda/driver.h"
#include "capture/life/life.h"
#include "capture/stack/sampling.h"
#include "capture/stack/stacks.h"
#include "capture/torch/torch.h"
#include "ledger/used.h"
#include "ledger/vmm.h"

enum { OUT_OF_MEMORY = CUDA_ERROR_OUT_OF_MEMORY };

/* Runtime calls count by themselves: set once a runtime call succeeded with no driver call beneath.
 */
static atomic_bool runtime_counts;

const struct span *span_root(const struct span *span)
{
	while (span->outer)
		span = span->outer;
	return span;
}

uint32_t span_api(const struct span *span)
{
	return record_hook_text(span_root(span)->hook);
}

bool span_counts(const struct span *span, int status)
{
	if (span->moved)
		return false;
	if (hooks[span->hook].api == DRV)
		return true;
	if (span->driver_seen)
		return false;
	if (!atomic_load_explicit(&runtime_counts, memory_order_relaxed)) {
		/* It may have been there, but not known to be this one's. */
		if (span_top.span != span || atomic_load(&span_apart))
			return false;
		if (!status && !atomic_exchange(&runtime_counts, true))
			record_note("runtime calls were counted: no driver call was seen beneath "
				    "them");
	}
	doors_count(DOOR_RUNTIME);
	return true;
}

/* Does a runtime row act by itself? Only once it was seen that no driver row is beneath. */
static bool acts(const struct span *span)
{
	return hooks[span->hook].api == DRV ||
	       atomic_load_explicit(&runtime_counts, memory_order_relaxed);
}

/* Has it been recorded beneath already? Asked before record_begin(), which counts what it refuses.
 */
static bool is_told(const struct span *span)
{
	return span->moved || (hooks[span->hook].api == RT && span->driver_seen);
}

void span_moved(struct span *span)
{
	for (; span; span = span->outer)
		span->moved = true;
}

/* All but the stack. */
static void describe_bare(const struct span *span, struct event *event)
{
	*event = (struct event){
		.t = record_now(),
		.thread = record_thread(),
		.stream = span->stream,
		.device = NO_DEVICE,
	};
}

void span_describe(const struct span *span, struct event *event)
{
	const struct span *root = span_root(span);

	describe_bare(span, event);
	event->stack = record_quiet() ? stacks_none(STACKS_STOPPED, SPACE_DEVICE, root->caller,
						    root->frame)
				      : stacks_capture(root->caller, root->frame, true);
}

/* `driver`: what begins here is the driver's memory, whose asker must be known. */
static struct choose_call call_of(const struct span *span, bool driver)
{
	const struct span *root = span_root(span);

	return (struct choose_call){
		.caller = root->caller, .frame = root->frame, .may_load = true, .driver = driver
	};
}

static uint32_t owner_of(const struct event *event)
{
	const struct spool_stack *row = spool_at(record_spool(), SPOOL_STACK, event->stack);

	return row->owner;
}

bool span_no_event(int status)
{
	return status && status != OUT_OF_MEMORY;
}

/* What the driver has left is asked at once: a moment later PyTorch has emptied its cache. */
static void ask_driver(struct spool_oom *known, const struct event *event)
{
	known->refused = event->size;
	if (event->device < 0 || event->space == SPACE_PINNED || !opt_flag(OPT_ID_used))
		return;
	facts_device(event->device);
	/* The driver tells of the current context's device alone. */
	if (event->device == driver_device())
		driver_memory(&known->left, &known->total);
}

void span_failed(struct span *span, const struct span_memory *memory)
{
	int device = memory->placed ? memory->device : driver_device();
	struct spool_oom known = { 0 };
	struct event event;

	if (!span_counts(span, OUT_OF_MEMORY))
		return;
	span_moved(span);
	/* Its stack tells whether a framework catches the failure, and is kept with it in any case.
	 */
	describe_bare(span, &event);
	event.stack = stacks_capture(span_root(span)->caller, span_root(span)->frame, true);
	event.op = EVENT_OOM;
	event.space = memory->space;
	event.size = memory->size;
	event.device = (int16_t)(memory->space == SPACE_PINNED ? NO_DEVICE : device);
	ask_driver(&known, &event);
	record_lock();
	if (event.device >= 0)
		known.reserved = used_reserved(record_ledger(), event.device);
	event.api = span_api(span);
	event.error = intern_text(record_intern(), "out of memory");
	if (torch_catches(event.stack, memory->ordered, &known)) {
		event.op = EVENT_MARK;
		event.name = intern_text(record_intern(), "allocation retry");
		ledger_retry(record_ledger(), event.device);
		ledger_note(record_ledger(), &event);
	} else {
		ledger_oom(record_ledger(), &event, &known);
	}
	record_done();
}

HOT_CODE bool span_begins(struct span *span, int status, const struct span_memory *memory)
{
	if (span_no_event(status) || is_told(span) || !record_begin(true))
		return false;
	if (status && !memory->flags)
		span_failed(span, memory);
	return !status && memory->key && span_counts(span, status);
}

/* With the lock held: the pool that grows by it, 0 for none. */
static inline uint32_t grown_pool(const struct event *event, const struct span_memory *memory)
{
	uint32_t owner = owner_of(event);
	uint32_t pool;
	bool torch;

	if (memory->flags || !memory->size ||
	    (memory->kind != NODE_ADDRESS && memory->kind != NODE_HANDLE))
		return 0;
	pool = api_growing();
	if (pool || memory->space != SPACE_DEVICE)
		return pool;
	torch = memory->kind == NODE_HANDLE ? torch_owns(owner)
					    : torch_segment(owner, memory->key, memory->size);
	return torch ? torch_pool() : 0;
}

HOT_CODE void span_enter_memory(struct span *span, const struct span_memory *memory)
{
	const struct choose_call call = call_of(span, true);
	uint64_t link = memory->ordered && !memory->flags ? memory->pool : 0;
	uint64_t reserved = memory->ordered && link ? driver_pool_reserved(link) : 0;
	int device = memory->placed ? memory->device : driver_context(&link);
	struct event event;

	span_moved(span);
	describe_bare(span, &event);
	event.space = memory->space;
	event.flags = memory->flags;
	event.ptr = memory->key;
	event.size = memory->size;
	event.device = (int16_t)(memory->space == SPACE_PINNED ? NO_DEVICE : device);
	facts_device(event.device);
	choose_birth(&event, &call);
	record_lock();
	event.api = span_api(span);
	event.pool = memory->ordered ? span_pool_text(memory->pool) : grown_pool(&event, memory);
	event.op = event.pool && !memory->ordered ? EVENT_RESERVE : EVENT_ALLOC;
	choose_told(&event);
	if (memory->ordered && !memory->flags)
		span_sample_pool(&event, reserved);
	ledger_enter(record_ledger(), &event, memory->kind, owner_of(&event), link);
	record_done();
	span_sample_used(span, event.device);
}

HOT_CODE void span_take(struct span *span, int status, const struct span_memory *memory)
{
	if (span_begins(span, status, memory))
		span_enter_memory(span, memory);
}

/* With the lock held. */
static void leave(struct span *span, enum node_kind kind)
{
	struct ledger *ledger = record_ledger();

	if (span->end == SPAN_FREE) {
		torch_settle(&span->event);
		span->ended = ledger_leave(ledger, &span->event, kind, &span->was);
		span->unknown = !span->ended;
		return;
	}
	span->ended = vmm_release(ledger, kind, &span->event, &span->was);
}

/*
 * Takes what lives there out of the ledger, before the real call: another thread may be given the
 * address as soon as that returns. A runtime row leaves it to the driver row beneath, unless none
 * was ever seen there.
 */
HOT_CODE void span_end(struct span *span, enum span_end end, enum node_kind kind, uint64_t key)
{
	const struct choose_call call = call_of(span, false);

	if (!acts(span) || !key || !record_continue())
		return;
	describe_bare(span, &span->event);
	span->event.ptr = key;
	span->end = (uint8_t)end;
	choose_end(&span->event, kind, &call);
	record_lock();
	span->event.api = span_api(span);
	leave(span, kind);
	if (span->ended)
		span_moved(span);
	record_done();
}

/* A pool that was destroyed cannot be asked: it ends with its last block. */
static void sample_after(struct span *span)
{
	uint64_t pool = span->was.link;
	uint64_t reserved = pool ? driver_pool_reserved(pool) : 0;

	record_lock();
	span->event.t = record_now();
	if (pool || span_pool_is_empty(&span->event))
		span_sample_pool(&span->event, reserved);
	record_done();
}

static void freed_unknown(struct span *span)
{
	if (span->moved || span_sample_graphs(span))
		return;
	record_lock();
	record_unmatched();
	record_unlock();
}

/* The call has failed: what it was to end lives on. */
static void take_back(struct span *span)
{
	static const char errors[][24] = { [SPAN_FREE] = "the free failed",
					   [SPAN_RELEASE] = "the release failed",
					   [SPAN_CLOSE] = "the close failed" };
	struct ledger *ledger = record_ledger();

	record_lock();
	span->event.t = record_now();
	span->event.error = intern_text(record_intern(), errors[span->end]);
	if (span->end == SPAN_FREE)
		ledger_undo(ledger, &span->event, &span->was);
	else
		vmm_unrelease(ledger, &span->event, &span->was);
	record_done();
}

HOT_CODE void span_ended(struct span *span, int status)
{
	if ((!span->ended && !span->unknown) || !record_continue())
		return;
	if (span->unknown) {
		if (!status && hooks[span->hook].api == DRV)
			freed_unknown(span);
	} else if (status) {
		take_back(span);
	} else if (span->end == SPAN_FREE) {
		if (live_is_ordered(&span->was) && !(span->was.flags & NODE_FOREIGN))
			sample_after(span);
		span_sample_used(span, span->event.device);
	}
}

void span_sampled(struct span *span, int status)
{
	if (!status && !span->moved && record_continue())
		span_sample_used(span, driver_device());
}
