/*
 * One hooked call: what it did becomes an event.
 *
 * One file for all words of hooks.def: each is a few lines over the same helpers (who called, was
 * it counted beneath, which device), and apart they would have to be shared.
 */
#include "capture/span.h"

#include <errno.h>
#include <string.h>

#include "base/opt.h"
#include "base/text.h"
#include "capture/doors.h"
#include "capture/driver.h"
#include "capture/facts.h"
#include "capture/stacks.h"
#include "capture/torch.h"
#include "ledger/vmm.h"

enum {
	OUT_OF_MEMORY = CUDA_ERROR_OUT_OF_MEMORY,
	USED_EVERY_NS = 10 * 1000 * 1000,
	USED_DEVICES = 64
};

static _Thread_local struct span *top;

/* Runtime calls count by themselves: set once a runtime call succeeded with no driver call beneath.
 */
static atomic_bool runtime_counts;

/*
 * Does the call that entered `outer` still run? A longjmp past a wrapper leaves its span behind on
 * a part of the stack that may be somebody else's now: it lies beneath us, or its frame no longer
 * holds the return address. It must not be written to then.
 */
static bool lives(const struct span *outer, const struct span *span)
{
	return (uintptr_t)outer > (uintptr_t)span && outer->frame > (void **)outer &&
	       outer->frame[1] == outer->caller;
}

void span_enter(struct span *span, enum hook_id hook, void *caller, void **frame)
{
	struct span *outer = top;

	if (outer && !lives(outer, span))
		outer = NULL;
	span->outer = outer;
	span->caller = caller;
	span->frame = frame;
	span->stream = 0;
	span->pool = 0;
	span->hook = (uint16_t)hook;
	span->driver_seen = span->moved = span->capturing = span->ended = false;
	if (hooks[hook].api == DRV) {
		for (; outer; outer = outer->outer)
			outer->driver_seen = true;
	}
	top = span;
}

void span_leave(struct span *span)
{
	top = span->outer;
}

static const struct span *root_of(const struct span *span)
{
	while (span->outer)
		span = span->outer;
	return span;
}

/* Does this row record, or one above or beneath it? */
static bool counts(const struct span *span, int status)
{
	if (span->moved)
		return false;
	if (hooks[span->hook].api == DRV)
		return true;
	if (span->driver_seen)
		return false;
	if (!status && !atomic_exchange(&runtime_counts, true))
		record_note("runtime calls were counted: no driver call was seen beneath them");
	doors_count(DOOR_RUNTIME);
	return true;
}

static void mark_moved(struct span *span)
{
	for (; span; span = span->outer)
		span->moved = true;
}

/* An event with all that the span knows; takes the stack. */
static void describe(const struct span *span, struct event *event)
{
	const struct span *root = root_of(span);

	*event = (struct event){
		.t = record_now(),
		.stack = record_quiet() ? 0 : stacks_capture(root->caller, true),
		.thread = record_thread(),
		.stream = span->stream,
		.device = NO_DEVICE,
	};
}

/* What follows from the stack, with the lock held: api, and whose segment it is. */
static uint32_t owner_of(const struct event *event)
{
	const struct spool_stack *row = spool_at(record_spool(), SPOOL_STACK, event->stack);

	return row->owner;
}

/* Sampled where the driver is called anyway, not more often than it is worth. */
static void sample_used(int device)
{
	static _Atomic uint64_t last[USED_DEVICES];
	uint64_t now = record_now();
	uint64_t before;
	uint64_t bytes;

	if (device < 0 || device >= USED_DEVICES || !opt_flag(OPT_ID_used))
		return;
	before = atomic_load_explicit(&last[device], memory_order_relaxed);
	if (before && now - before < USED_EVERY_NS)
		return;
	atomic_store_explicit(&last[device], now ? now : 1, memory_order_relaxed);
	bytes = driver_used();
	if (!bytes)
		return;
	record_lock();
	ledger_used(record_ledger(), device, bytes, now);
	record_unlock();
}

/* Failures other than for want of memory are the program's own affair. */
static bool no_event(int status)
{
	return status && status != OUT_OF_MEMORY;
}

/* Failures: out of memory is an event, or a retry if the asker is known to catch it. */
static void failed(struct span *span, int status, enum space space, uint64_t size, int device)
{
	struct event event;

	if (status != OUT_OF_MEMORY || !counts(span, status))
		return;
	mark_moved(span);
	describe(span, &event);
	event.op = EVENT_OOM;
	event.space = space;
	event.size = size;
	event.device = (int16_t)(space == SPACE_PINNED ? NO_DEVICE : device);
	record_lock();
	event.api = record_hook_text(root_of(span)->hook);
	event.error = intern_text(record_intern(), "out of memory");
	if (torch_catches(owner_of(&event))) {
		event.op = EVENT_MARK;
		event.name = intern_text(record_intern(), "allocation retry");
		ledger_retry(record_ledger(), event.device);
	}
	ledger_note(record_ledger(), &event);
	record_done(event.t);
}

void span_alloc(struct span *span, int status, enum space space, uint64_t ptr, uint64_t size)
{
	int saved = errno;
	struct event event;
	bool pooled;

	if (no_event(status) || !record_begin(true))
		goto out;
	if (status) {
		failed(span, status, space, size, driver_device());
		goto out;
	}
	if (!ptr || !counts(span, status))
		goto out;
	mark_moved(span);
	describe(span, &event);
	event.space = space;
	event.ptr = ptr;
	event.size = size;
	event.device = (int16_t)(space == SPACE_PINNED ? NO_DEVICE : driver_device());
	facts_device(event.device);
	record_lock();
	event.api = record_hook_text(root_of(span)->hook);
	pooled = space == SPACE_DEVICE && torch_segment(owner_of(&event), ptr, size);
	event.op = pooled ? EVENT_RESERVE : EVENT_ALLOC;
	event.pool = pooled ? torch_pool() : 0;
	ledger_enter(record_ledger(), &event, NODE_ADDRESS, owner_of(&event), 0);
	record_done(event.t);
	sample_used(event.device);
out:
	errno = saved;
}

void span_stream(struct span *span, uint64_t stream)
{
	span->stream = stream;
	/* In a capture the call makes a node of a graph: memory is taken when that is launched. */
	span->capturing = driver_capturing(stream);
}

/* The pool's name, and its reserved bytes as sampled. With the lock held. */
static uint32_t pool_text(uint64_t pool)
{
	char name[40] = "async:";

	text_hex(name + strlen(name), pool);
	return intern_text(record_intern(), name);
}

static void sample_pool(const struct event *like, uint64_t reserved)
{
	struct ledger *ledger = record_ledger();
	uint64_t known = ledger_pool_sum(ledger, like->device, like->pool, METRIC_RESERVED);
	uint32_t stack = intern_pseudo_stack(record_intern(), "[stream-ordered pool]");

	if (reserved > known)
		ledger_adjust(ledger, like, EVENT_RESERVE, reserved - known, stack);
	else
		ledger_adjust(ledger, like, EVENT_RELEASE, known - reserved, stack);
}

void span_alloc_async(struct span *span, int status, uint64_t ptr, uint64_t size)
{
	int saved = errno;
	struct event event;
	uint64_t reserved;
	uint64_t pool;

	if (span->capturing || no_event(status) || !record_begin(true))
		goto out;
	if (status) {
		failed(span, status, SPACE_DEVICE, size, driver_device());
		goto out;
	}
	if (!ptr || !counts(span, status))
		goto out;
	mark_moved(span);
	record_note("reserved bytes of stream-ordered pools are sampled at pool calls, not exact "
		    "in between");
	pool = driver_pool_of(ptr);
	reserved = pool ? driver_pool_reserved(pool) : 0;
	describe(span, &event);
	event.op = EVENT_ALLOC;
	event.space = SPACE_DEVICE;
	event.ptr = ptr;
	event.size = size;
	event.device = (int16_t)driver_device_of(ptr);
	facts_device(event.device);
	record_lock();
	event.api = record_hook_text(root_of(span)->hook);
	event.pool = pool_text(pool);
	sample_pool(&event, reserved);
	ledger_enter(record_ledger(), &event, NODE_ADDRESS, owner_of(&event), pool);
	record_done(event.t);
	sample_used(event.device);
out:
	errno = saved;
}

/* Before the real call: another thread may be given the address as soon as that returns. */
static void end(struct span *span, uint64_t ptr)
{
	int saved = errno;

	if (!ptr || !record_continue())
		goto out;
	describe(span, &span->event);
	span->event.ptr = ptr;
	record_lock();
	span->event.api = record_hook_text(root_of(span)->hook);
	torch_settle(&span->event);
	span->event.ptr = ptr;
	span->ended = ledger_leave(record_ledger(), &span->event, NODE_ADDRESS, &span->was);
	if (span->ended) {
		span->pool = span->was.link;
		mark_moved(span);
	} else if (hooks[span->hook].api == DRV) {
		record_spool()->header->unmatched++;
	}
	record_done(span->event.t);
out:
	errno = saved;
}

void span_free(struct span *span, uint64_t ptr)
{
	/* A runtime row leaves it to the driver row beneath, unless none was ever seen there. */
	if (hooks[span->hook].api == DRV ||
	    atomic_load_explicit(&runtime_counts, memory_order_relaxed))
		end(span, ptr);
}

void span_free_async(struct span *span, uint64_t stream, uint64_t ptr)
{
	span->stream = stream;
	span_free(span, ptr);
}

void span_freed(struct span *span, int status)
{
	int saved = errno;
	uint64_t reserved;

	if (!span->ended || !record_continue())
		goto out;
	if (status) {
		record_lock();
		span->event.t = record_now();
		span->event.error = intern_text(record_intern(), "the free failed");
		ledger_undo(record_ledger(), &span->event, &span->was);
		record_done(span->event.t);
	} else if (span->pool) {
		reserved = driver_pool_reserved(span->pool);
		record_lock();
		span->event.t = record_now();
		sample_pool(&span->event, reserved);
		record_done(span->event.t);
	}
	if (!status)
		sample_used(span->event.device);
out:
	errno = saved;
}

void span_create(struct span *span, int status, uint64_t handle, uint64_t size, int device)
{
	int saved = errno;
	enum space space = device >= 0 ? SPACE_DEVICE : SPACE_PINNED;
	struct event event;
	bool pooled;

	if (no_event(status) || !record_begin(true))
		goto out;
	if (status) {
		failed(span, status, space, size, device);
		goto out;
	}
	if (!counts(span, status))
		goto out;
	mark_moved(span);
	describe(span, &event);
	event.space = space;
	event.ptr = handle;
	event.size = size;
	event.device = (int16_t)device;
	facts_device(device);
	record_lock();
	event.api = record_hook_text(root_of(span)->hook);
	pooled = device >= 0 && torch_owns(owner_of(&event));
	event.op = pooled ? EVENT_RESERVE : EVENT_ALLOC;
	event.pool = pooled ? torch_pool() : 0;
	ledger_enter(record_ledger(), &event, NODE_HANDLE, owner_of(&event), 0);
	record_done(event.t);
	sample_used(device);
out:
	errno = saved;
}

void span_retain(struct span *span, int status, uint64_t handle)
{
	if (status || span->moved || !record_continue())
		return;
	record_lock();
	vmm_retain(record_ledger(), handle);
	record_unlock();
}

void span_release(struct span *span, uint64_t handle)
{
	int saved = errno;

	if (!record_continue())
		goto out;
	describe(span, &span->event);
	span->event.ptr = handle;
	record_lock();
	span->event.api = record_hook_text(root_of(span)->hook);
	vmm_release(record_ledger(), &span->event, &span->was);
	span->ended = span->was.kind != NODE_FREE;
	record_done(span->event.t);
	mark_moved(span);
out:
	errno = saved;
}

void span_released(struct span *span, int status)
{
	int saved = errno;

	if (!span->ended || !status || !record_continue())
		goto out;
	record_lock();
	span->event.t = record_now();
	span->event.error = intern_text(record_intern(), "the release failed");
	vmm_unrelease(record_ledger(), &span->event, &span->was);
	record_done(span->event.t);
out:
	errno = saved;
}

void span_map(struct span *span, int status, uint64_t ptr, uint64_t size, uint64_t handle)
{
	int saved = errno;
	struct event event;

	if (status || !record_continue())
		goto out;
	describe(span, &event);
	event.ptr = ptr;
	event.size = size;
	record_lock();
	event.api = record_hook_text(root_of(span)->hook);
	vmm_map(record_ledger(), &event, handle);
	record_done(event.t);
	mark_moved(span);
out:
	errno = saved;
}

void span_unmap(struct span *span, int status, uint64_t ptr, uint64_t size)
{
	int saved = errno;
	struct event event;

	/*
	 * After the real call, unlike a free: addresses are the program's to choose, so nobody maps
	 * here again before this wrapper has returned; and a failed unmap needs no undoing.
	 */
	if (status || !record_continue())
		goto out;
	describe(span, &event);
	event.ptr = ptr;
	event.size = size;
	record_lock();
	event.api = record_hook_text(root_of(span)->hook);
	vmm_unmap(record_ledger(), &event);
	record_done(event.t);
	mark_moved(span);
out:
	errno = saved;
}
