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
#include "capture/exports/exports.h"
#include "capture/life/api.h"
#include "capture/life/process_info.h"
#include "capture/stack/sampling.h"
#include "capture/stack/stacks.h"
#include "capture/torch/torch.h"
#include "ledger/used.h"

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

bool span_acts(const struct span *span)
{
	return hooks[span->hook].api == DRV ||
	       atomic_load_explicit(&runtime_counts, memory_order_relaxed);
}

void span_moved(struct span *span)
{
	for (; span; span = span->outer)
		span->moved = true;
}

void span_describe_bare(const struct span *span, struct event *event)
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

	span_describe_bare(span, event);
	event->stack = record_quiet() ? stacks_none(STACKS_STOPPED, SPACE_DEVICE, root->caller,
						    root->frame)
				      : stacks_capture(root->caller, root->frame, true);
}

HOT_CODE void span_choose_birth(const struct span *span, struct event *event)
{
	const struct choose_call call = { .caller = span_root(span)->caller,
					  .frame = span_root(span)->frame,
					  .may_load = true,
					  .driver = true };

	choose_birth(event, &call);
}

HOT_CODE void span_choose_end(const struct span *span, struct event *event, enum node_kind kind)
{
	const struct choose_call call = { .caller = span_root(span)->caller,
					  .frame = span_root(span)->frame,
					  .may_load = true };

	choose_end(event, kind, &call);
}

void span_enter_memory(struct event *event, enum node_kind kind, uint64_t link)
{
	choose_told(event);
	ledger_enter(record_ledger(), event, kind, span_owner(event), link);
}

HOT_CODE uint32_t span_owner(const struct event *event)
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

void span_failed(struct span *span, int status, enum space space, uint64_t size, int device,
		 bool ordered)
{
	struct spool_oom known = { 0 };
	struct event event;

	if (status != OUT_OF_MEMORY || !span_counts(span, status))
		return;
	span_moved(span);
	/* Its stack tells whether a framework catches the failure, and is kept with it in any case.
	 */
	span_describe_bare(span, &event);
	event.stack = stacks_capture(span_root(span)->caller, span_root(span)->frame, true);
	event.op = EVENT_OOM;
	event.space = space;
	event.size = size;
	event.device = (int16_t)(space == SPACE_PINNED ? NO_DEVICE : device);
	ask_driver(&known, &event);
	record_lock();
	if (event.device >= 0)
		known.reserved = used_reserved(record_ledger(), event.device);
	event.api = span_api(span);
	event.error = intern_text(record_intern(), "out of memory");
	if (torch_catches(event.stack, ordered, &known)) {
		event.op = EVENT_MARK;
		event.name = intern_text(record_intern(), "allocation retry");
		ledger_retry(record_ledger(), event.device);
		ledger_note(record_ledger(), &event);
	} else {
		ledger_oom(record_ledger(), &event, &known);
	}
	record_done();
}

/* Inlined into the words below, of which one is the hottest of all. */
static inline __attribute__((always_inline)) void take(struct span *span, int status,
						       const struct span_memory *memory)
{
	struct event event;
	uint64_t context;
	int device;

	if (span_no_event(status) || span_is_told(span) || !record_begin(true))
		return;
	if (status) {
		span_failed(span, status, memory->space, memory->size, driver_device(), false);
		return;
	}
	if (!memory->key || !span_counts(span, status))
		return;
	span_moved(span);
	device = driver_context(&context);
	span_describe_bare(span, &event);
	event.space = memory->space;
	event.flags = memory->flags;
	event.ptr = memory->key;
	event.size = memory->size;
	event.device = (int16_t)(memory->space == SPACE_PINNED ? NO_DEVICE : device);
	facts_device(event.device);
	span_choose_birth(span, &event);
	record_lock();
	event.api = span_api(span);
	event.pool = memory->kind == NODE_ADDRESS && !memory->flags ? api_growing() : 0;
	if (!event.pool && memory->kind == NODE_ADDRESS && memory->space == SPACE_DEVICE &&
	    !memory->flags && torch_segment(span_owner(&event), memory->key, memory->size))
		event.pool = torch_pool();
	event.op = event.pool ? EVENT_RESERVE : EVENT_ALLOC;
	span_enter_memory(&event, memory->kind, context);
	record_done();
	span_sample_used(span, event.device);
}

void span_take(struct span *span, int status, const struct span_memory *memory)
{
	take(span, status, memory);
}

HOT_CODE void span_alloc(struct span *span, int status, enum space space, uint64_t ptr,
			 uint64_t size)
{
	take(span, status,
	     &(struct span_memory){
		     .kind = NODE_ADDRESS, .space = space, .key = ptr, .size = size });
}

void span_array(struct span *span, int status, uint64_t array, uint64_t size)
{
	take(span, status,
	     &(struct span_memory){
		     .kind = NODE_ARRAY, .space = SPACE_ARRAY, .key = array, .size = size });
}

/*
 * Takes what lives there out of the ledger, before the real call: another thread may be given the
 * address as soon as that returns.
 */
static void end(struct span *span, enum node_kind kind, uint64_t key)
{

	if (!key || !record_continue())
		return;
	span_describe_bare(span, &span->event);
	span->event.ptr = key;
	span_choose_end(span, &span->event, kind);
	record_lock();
	span->event.api = span_api(span);
	torch_settle(&span->event);
	span->event.ptr = key;
	span->ended = ledger_leave(record_ledger(), &span->event, kind, &span->was);
	span->unknown = !span->ended;
	if (span->ended) {
		if (live_is_ordered(&span->was) && !(span->was.flags & NODE_FOREIGN))
			span->pool = span->was.link;
		span_moved(span);
	}
	record_done();
}

HOT_CODE void span_free(struct span *span, enum node_kind kind, uint64_t key)
{
	/* A runtime row leaves it to the driver row beneath, unless none was ever seen there. */
	if (span_acts(span))
		end(span, kind, key);
}

/* A pool that was destroyed cannot be asked: it ends with its last block. */
static void sample_after(struct span *span)
{
	uint64_t reserved = span->pool ? driver_pool_reserved(span->pool) : 0;

	record_lock();
	span->event.t = record_now();
	if (span->pool || span_pool_is_empty(&span->event))
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

HOT_CODE void span_freed(struct span *span, int status)
{

	if ((!span->ended && !span->unknown) || !record_continue())
		return;
	if (span->unknown) {
		if (!status && hooks[span->hook].api == DRV)
			freed_unknown(span);
		return;
	}
	if (status) {
		record_lock();
		span->event.t = record_now();
		span->event.error = intern_text(record_intern(), "the free failed");
		ledger_undo(record_ledger(), &span->event, &span->was);
		record_done();
		return;
	}
	if (live_is_ordered(&span->was) && !(span->was.flags & NODE_FOREIGN))
		sample_after(span);
	span_sample_used(span, span->event.device);
}

void span_sampled(struct span *span, int status)
{

	if (!status && !span->moved && record_continue())
		span_sample_used(span, driver_device());
}
