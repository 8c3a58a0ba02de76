/* Records hooked calls that allocate or free memory that has an address or a handle. */
#include "capture/cuda/cuda_call.h"

#include "base/settings/opt.h"
#include "capture/cuda/cuda_call_parts.h"
#include "capture/cuda/device_usage.h"
#include "capture/cuda/driver.h"
#include "capture/recorder/callbacks.h"
#include "capture/stack/stacks.h"
#include "capture/torch/torch.h"
#include "ledger/device_used.h"
#include "ledger/vmm.h"

/* Set once a runtime call has allocated memory without a hooked driver call inside it. From then on
 * the wrappers of runtime calls record such allocations, and all frees, themselves. */
static atomic_bool runtime_counts;

const struct cuda_call *cuda_call_root(const struct cuda_call *span)
{
	while (span->outer)
		span = span->outer;
	return span;
}

uint32_t cuda_call_api(const struct cuda_call *span)
{
	return record_hook_text(cuda_call_root(span)->hook);
}

/* True if this call's memory is recorded at a call nested in it. Checked before record_begin(),
 * which counts each call for which record_begin() returns false as not recorded. */
static bool is_told(const struct cuda_call *span)
{
	return span->moved || (hooks[span->hook].api == RT && span->driver_seen);
}

static bool call_counts(const struct cuda_call *span, int status)
{
	if (is_told(span))
		return false;
	if (hooks[span->hook].api == DRV)
		return true;
	if (!atomic_load_explicit(&runtime_counts, memory_order_relaxed)) {
		/* Perhaps a nested driver call was not recognised as such and did the recording. */
		if (cuda_call_top.span != span || atomic_load(&cuda_call_apart))
			return false;
		if (!status && !atomic_exchange(&runtime_counts, true))
			record_note("memory was recorded at CUDA runtime calls such as cudaMalloc, "
				    "because the driver calls inside them were not seen");
	}
	door_uses[DOOR_RUNTIME]++;
	return true;
}

void cuda_call_moved(struct cuda_call *span)
{
	for (; span; span = span->outer)
		span->moved = true;
}

static void describe_bare(const struct cuda_call *span, struct event *event)
{
	*event = (struct event){
		.t = record_now(),
		.thread = record_thread(),
		.stream = span->stream,
		.device = NO_DEVICE,
	};
}

uint32_t cuda_call_stack(const struct cuda_call *span)
{
	const struct cuda_call *root = cuda_call_root(span);

	return stacks_capture(root->caller, root->frame, true);
}

void cuda_call_describe(const struct cuda_call *span, struct event *event)
{
	const struct cuda_call *root = cuda_call_root(span);

	describe_bare(span, event);
	event->stack = record_quiet() ? stacks_none(STACKS_STOPPED, SPACE_DEVICE, root->caller,
						    root->frame)
				      : cuda_call_stack(span);
}

/* Describes the call. `driver`: as in struct sampling_call, true for an allocation. */
static struct sampling_call call_of(const struct cuda_call *span, bool driver)
{
	const struct cuda_call *root = cuda_call_root(span);

	return (struct sampling_call){
		.caller = root->caller, .frame = root->frame, .may_load = true, .driver = driver
	};
}

/* Asks for the free bytes now, because PyTorch frees its cached memory soon after the failure. */
static void ask_driver(struct spool_oom *known, const struct event *event)
{
	known->refused = event->size;
	if (event->device < 0 || event->space == SPACE_PINNED || !opt_flag(OPT_ID_used))
		return;
	guest_device(event->device);
	/* cuMemGetInfo reports on the current context's device only. */
	if (event->device == driver_device())
		driver_memory(&known->left, &known->total);
}

static __attribute__((noinline, cold)) void enter_failure(struct cuda_call *span,
							  const struct cuda_call_memory *memory)
{
	int device = memory->placed ? memory->device : driver_device();
	struct spool_oom known = { 0 };
	struct event event;

	if (!call_counts(span, CUDA_ERROR_OUT_OF_MEMORY))
		return;
	cuda_call_moved(span);
	/* The stack is taken even with events off: it shows if a framework catches the failure. */
	describe_bare(span, &event);
	event.stack = cuda_call_stack(span);
	event.op = EVENT_OOM;
	event.space = memory->space;
	event.size = memory->size;
	event.device = (int16_t)(memory->space == SPACE_PINNED ? NO_DEVICE : device);
	if (event.device >= 0)
		cuda_call_sample_now(span, event.device);
	ask_driver(&known, &event);
	record_lock();
	if (event.device >= 0)
		known.reserved = used_reserved(record_ledger(), event.device);
	event.api = cuda_call_api(span);
	event.error = record_text("out of memory");
	if (torch_catches(event.stack, memory->ordered, &known)) {
		event.op = EVENT_MARK;
		event.name = record_text("allocation retry");
		ledger_retry(record_ledger(), event.device);
		ledger_note(record_ledger(), &event);
	} else {
		ledger_oom(record_ledger(), &event, &known);
	}
	record_done();
}

HOT_CODE bool cuda_call_begins(struct cuda_call *span, int status,
			       const struct cuda_call_memory *memory)
{
	if ((status && status != CUDA_ERROR_OUT_OF_MEMORY) || is_told(span) || !record_begin(true))
		return false;
	if (status && !memory->flags)
		enter_failure(span, memory);
	return !status && memory->key && call_counts(span, status);
}

_Thread_local const char *cuda_call_growing;

/* Returns the name (a text id) of the pool that gets this memory as a segment: PyTorch's or that of
 * memtrace_pool_grow(); 0 for none. Called with the recorder's lock held. */
static inline uint32_t grown_pool(const struct event *event, const struct cuda_call_memory *memory)
{
	uint32_t owner = record_stack(event->stack)->owner;
	uint32_t pool;
	bool torch;

	if (memory->flags || !memory->size ||
	    (memory->kind != NODE_ADDRESS && memory->kind != NODE_HANDLE))
		return 0;
	pool = cuda_call_growing ? record_text(cuda_call_growing) : 0;
	if (pool || memory->space != SPACE_DEVICE)
		return pool;
	torch = memory->kind == NODE_HANDLE ? torch_owns(owner)
					    : torch_segment(owner, memory->key, memory->size);
	return torch ? torch_pool() : 0;
}

HOT_CODE void cuda_call_enter_memory(struct cuda_call *span, const struct cuda_call_memory *memory)
{
	const struct sampling_call call = call_of(span, true);
	uint64_t link = memory->ordered && !memory->flags ? memory->pool : 0;
	uint64_t reserved = memory->ordered && link ? driver_pool_reserved(link) : 0;
	int device = memory->placed ? memory->device : driver_context(&link);
	struct event event;

	cuda_call_moved(span);
	describe_bare(span, &event);
	event.space = memory->space;
	event.flags = memory->flags;
	event.ptr = memory->key;
	event.size = memory->size;
	event.device = (int16_t)(memory->space == SPACE_PINNED ? NO_DEVICE : device);
	guest_device(event.device);
	sampling_birth(&event, &call);
	record_lock();
	event.api = cuda_call_api(span);
	event.pool =
		memory->ordered ? cuda_call_pool_text(memory->pool) : grown_pool(&event, memory);
	event.op = event.pool && !memory->ordered ? EVENT_RESERVE : EVENT_ALLOC;
	sampling_told(&event);
	if (memory->ordered && !memory->flags)
		cuda_call_sample_pool(&event, reserved);
	ledger_enter(record_ledger(), &event, memory->kind, record_stack(event.stack)->owner, link);
	record_done();
	cuda_call_sample_used(span, event.device);
}

HOT_CODE void cuda_call_take(struct cuda_call *span, int status,
			     const struct cuda_call_memory *memory)
{
	if (cuda_call_begins(span, status, memory))
		cuda_call_enter_memory(span, memory);
}

/* For SPAN_FREE, removes the memory at span->event.ptr from the ledger; for any other span->end,
 * removes one reference to it. The recorder's lock is held. */
static void leave(struct cuda_call *span, enum node_kind kind)
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

/* Takes the memory at `key` out of the ledger before the real call, because another thread may get
 * the same address as soon as that call has freed it. A runtime call leaves this to the driver call
 * nested in it, unless runtime_counts is set. */
HOT_CODE void cuda_call_end(struct cuda_call *span, enum cuda_call_end end, enum node_kind kind,
			    uint64_t key)
{
	const struct sampling_call call = call_of(span, false);

	if (hooks[span->hook].api != DRV &&
	    !atomic_load_explicit(&runtime_counts, memory_order_relaxed))
		return;
	if (!key || !record_continue())
		return;
	describe_bare(span, &span->event);
	span->event.ptr = key;
	span->end = (uint8_t)end;
	sampling_end(&span->event, kind, &call);
	record_lock();
	span->event.api = cuda_call_api(span);
	leave(span, kind);
	if (span->ended)
		cuda_call_moved(span);
	record_done();
}

/* Records the reserved bytes of the freed block's pool: 0 if a destroyed pool is now empty. */
static void sample_after(struct cuda_call *span)
{
	uint64_t pool = span->was.link;
	uint64_t reserved = pool ? driver_pool_reserved(pool) : 0;

	record_lock();
	span->event.t = record_now();
	if (pool || cuda_call_pool_is_empty(&span->event))
		cuda_call_sample_pool(&span->event, reserved);
	record_done();
}

static void freed_unknown(struct cuda_call *span)
{
	if (span->moved || cuda_call_sample_graphs(span))
		return;
	record_lock();
	record_unmatched();
	record_unlock();
}

static void take_back(struct cuda_call *span)
{
	static const char errors[][24] = { [SPAN_FREE] = "the free failed",
					   [SPAN_RELEASE] = "the release failed",
					   [SPAN_CLOSE] = "the close failed" };
	struct ledger *ledger = record_ledger();

	record_lock();
	span->event.t = record_now();
	span->event.error = record_text(errors[span->end]);
	if (span->end == SPAN_FREE)
		ledger_undo(ledger, &span->event, &span->was);
	else
		vmm_unrelease(ledger, &span->event, &span->was);
	record_done();
}

HOT_CODE void cuda_call_ended(struct cuda_call *span, int status)
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
		cuda_call_sample_used(span, span->event.device);
	}
}

void cuda_call_sampled(struct cuda_call *span, int status)
{
	if (!status && !span->moved && record_continue())
		cuda_call_sample_used(span, driver_device());
}
