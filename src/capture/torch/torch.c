/*
 * Replaces PyTorch's functions that report allocations, and records the reports.
 *
 * ABI: c10::Device is { int8_t type, index }, passed in one register whose upper bits are garbage.
 */
#include "capture/torch/torch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/guest/debug_checks.h"
#include "base/guest/hot.h"
#include "base/settings/opt.h"
#include "base/text/text.h"
#include "capture/loader/loader.h"
#include "capture/recorder/record.h"
#include "capture/stack/stacks.h"
#include "ledger/pending.h"

enum { DEVICE_CPU = 0, DEVICE_CUDA = 1 };

/* Text ids of this recording, 0 until first used; and whether PyTorch's cache is off. */
static HOT_DATA struct {
	uint32_t pool, c10_cuda, api;
	uint32_t before; /* placeholder stack of bytes from before the recording */
	bool uncached, asked;
} torch;

/* This thread's last segment, until PyTorch reports a block in that segment; else `ptr` is 0. */
static HOT_THREAD _Thread_local struct {
	uint64_t ptr, size;
} provisional;

/* This thread's last driver allocation for PyTorch that failed, until a block is allocated. If
 * PyTorch reports that it cannot allocate a block, and this is empty, PyTorch's own limit was
 * reached (set_per_process_memory_fraction). */
static HOT_THREAD _Thread_local struct spool_oom refused; /* no failure if .refused is 0 */

static uint32_t text_once(uint32_t *text, const char *name)
{
	if (!*text)
		*text = record_text(name);
	return *text;
}

uint32_t torch_pool(void)
{
	return text_once(&torch.pool, "torch");
}

bool torch_owns(uint32_t owner)
{
	if (!torch.asked) {
		/* Read once, at the first allocation, as PyTorch does. */
		torch.uncached = getenv("PYTORCH_NO_CUDA_MEMORY_CACHING") != NULL;
		torch.asked = true;
	}
	return owner && owner == text_once(&torch.c10_cuda, "libc10_cuda.so") && !torch.uncached;
}

bool torch_segment(uint32_t owner, uint64_t ptr, uint64_t size)
{
	if (!torch_owns(owner))
		return false;
	provisional.ptr = ptr;
	provisional.size = size;
	return true;
}

void torch_settle(const struct event *like)
{
	uint32_t id;

	if (!provisional.ptr)
		return;
	id = live_find(record_spool(), NODE_ADDRESS, 0, provisional.ptr);
	provisional.ptr = 0;
	if (id && live_node(record_spool(), id)->pool == torch_pool())
		ledger_retag(record_ledger(), id, 0, like);
}

/* True if PyTorch's allocator is on the stack, even if another library calls the driver. */
static bool beneath_c10(uint32_t stack)
{
	const struct spool *spool = record_spool();
	const struct spool_stack *row = record_stack(stack);

	for (uint32_t i = 0; i < row->native; i++) {
		const uint32_t *step = spool_at(spool, SPOOL_STEP, row->step + i);
		const struct spool_frame *frame = spool_at(spool, SPOOL_FRAME, *step - 1);
		const struct spool_module *module;
		const char *path;

		if (!frame->module)
			continue;
		module = spool_at(spool, SPOOL_MODULE, frame->module - 1);
		path = spool_text(spool, module->path);
		if (path && !strcmp(text_base(path), "libc10_cuda.so"))
			return true;
	}
	return false;
}

bool torch_catches(uint32_t stack, bool ordered, const struct spool_oom *known)
{
	const struct spool_stack *row = record_stack(stack);
	const char *name = spool_text(record_spool(), row->owner);

	if (torch_owns(row->owner) || beneath_c10(stack)) {
		/* For a stream-ordered pool, or without a cache, PyTorch does not try again. */
		if (ordered || torch.uncached)
			return false;
		refused = *known;
		return true;
	}
	return name && (strstr(name, "xla_cuda") || strstr(name, "_pywrap_tensorflow") ||
			strstr(name, "libtensorflow"));
}

void torch_clear(void)
{
	memset(&torch, 0, sizeof(torch));
	provisional.ptr = 0;
	refused.refused = 0;
}

void torch_restart(void)
{
	struct event event = { .t = record_now(), .thread = record_thread() };

	event.api = record_text("memtrace_enable");
	ledger_empty_pool(record_ledger(), torch_pool(), &event);
}

static uint32_t from_before(void)
{
	if (!torch.before) {
		torch.before = intern_pseudo_stack(record_intern(), "[from before the recording]",
						   0, SPACE_DEVICE);
		pending_before(record_ledger(), torch.before);
	}
	return torch.before;
}

static void correct(const struct event *event, enum metric metric, uint64_t told)
{
	if (told != ledger_pool_sum(record_ledger(), event->device, event->pool, metric))
		ledger_adjust_to(record_ledger(), event, metric, told, from_before());
}

/* Corrects the pool's sums to PyTorch's totals: the difference is from before the recording. */
static void agree(const struct event *event, const struct pending_told *told)
{
	struct ledger *ledger = record_ledger();
	uint32_t around;

	if (ledger_pool_agrees(ledger, event, told->allocated, told->reserved))
		return;
	correct(event, METRIC_ALLOCATED, told->allocated);
	if (told->reserved > ledger_pool_sum(ledger, event->device, event->pool, METRIC_RESERVED)) {
		/* Perhaps a MemPool's own allocator made the segment, which then was
		 * recorded as a plain allocation. */
		around = ledger_around(ledger, event->ptr);
		if (around && !live_node(record_spool(), around)->pool)
			ledger_retag(ledger, around, event->pool, event);
	}
	correct(event, METRIC_RESERVED, told->reserved);
}

static void enter_usage(struct event *event, enum node_kind kind)
{
	if (event->op == EVENT_ALLOC) {
		sampling_told(event);
		ledger_enter(record_ledger(), event, kind, 0, 0);
	} else if (!ledger_leave(record_ledger(), event, kind, NULL)) {
		/* A block from before the recording: only the report's totals correct the sums. */
		record_unmatched();
	}
}

/* Records an allocation (`size` > 0) or a free of a GPU block or of a CPU tensor (NO_DEVICE). */
static void record_usage(uint64_t ptr, int64_t size, const struct pending_told *told, bool cuda,
			 int device, void **frame)
{
	enum node_kind kind = cuda ? NODE_BLOCK : NODE_CPU;
	struct event event = {
		.op = size > 0 ? EVENT_ALLOC : EVENT_FREE,
		.space = cuda ? SPACE_DEVICE : SPACE_CPU,
		.ptr = ptr,
		.size = (uint64_t)(size > 0 ? size : -size),
		.device = (int16_t)device,
	};
	const struct sampling_call call = { .caller = __builtin_extract_return_addr(frame[1]),
					    .frame = frame,
					    .pool = cuda ? "torch" : "",
					    .may_load = !cuda };
	struct ledger *ledger;

	/* A CPU tensor is reported without PyTorch's lock, so slow first-time work is allowed. */
	overhead_enter(true);
	if (!record_begin(!cuda))
		return;
	event.t = record_now();
	event.thread = record_thread();
	if (event.op == EVENT_ALLOC) {
		sampling_birth(&event, &call);
		autograd_forward(event.stack);
	} else {
		sampling_end(&event, kind, &call);
	}
	record_lock_only();
	ledger = record_ledger();
	if (!ledger->error) /* a plain addition under the lock: door_uses[] needs an atomic one */
		record_spool()->header->doors[DOOR_TORCH]++;
	event.pool = cuda ? torch_pool() : 0;
	event.api = text_once(&torch.api, "torch");
	if (ptr - provisional.ptr < provisional.size)
		provisional.ptr = 0;
	if (size > 0)
		refused.refused = 0;
	if (sampling_asks || !told || !pending_put(ledger, &event, told)) {
		pending_settle(ledger);
		enter_usage(&event, kind);
		event.ptr = ptr;
		if (told)
			agree(&event, told);
	}
	record_done();
	overhead_leave(SPOOL_COST_BLOCK, true, true);
}

/*
 * Between this library's answer that profiling is enabled and PyTorch's report, PyTorch's CPU
 * allocator takes a lock (ProfiledCPUMemoryReporter) that it would not take otherwise. A child
 * forked in between might inherit that lock locked for ever. So a fork waits until no thread is in
 * between. If that takes too long, the child leaves the answer to PyTorch.
 */
static struct crowd reporters;
static _Thread_local struct crowd_self reporter;
atomic_bool torch_cpu_lost;

static bool nobody_reports(void)
{
	return crowd_is_empty(&reporters, &reporter);
}

static HOT_CODE void begin_report(void)
{
	crowd_count(&reporters, &reporter);
	if (__builtin_expect(loader_nobody_forks(), 1))
		return;
	crowd_discount(&reporters, &reporter);
	crowd_await(loader_nobody_forks, LOADER_PATIENCE_MS);
	crowd_count(&reporters, &reporter);
}

void torch_hold(void)
{
	if (atomic_load(&reporters.threads))
		crowd_await(nobody_reports, LOADER_PATIENCE_MS);
}

void torch_forked(void)
{
	if (!nobody_reports())
		atomic_store(&torch_cpu_lost, true);
	crowd_forked(&reporters, &reporter);
}

static HOT_CODE void usage(uint64_t ptr, int64_t size, const struct pending_told *told,
			   uint64_t device, void **frame)
{
	int8_t type = (int8_t)device;
	int saved = errno;

	if (type == DEVICE_CPU)
		crowd_discount(&reporters, &reporter);
	if (!record_on() || !size)
		return;
	if (type == DEVICE_CUDA)
		record_usage(ptr, size, told, true, (int8_t)(device >> 8), frame);
	else if (type == DEVICE_CPU && opt_flag(OPT_ID_cpu))
		record_usage(ptr, size, NULL, false, NO_DEVICE, frame);
	errno = saved;
}

static void out_of_memory(int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device,
			  void **frame)
{
	int saved = errno;
	struct spool_oom known = { 0 };
	struct event event = {
		.op = EVENT_OOM,
		.space = SPACE_DEVICE,
		.size = (uint64_t)size,
		.device = (int8_t)(device >> 8),
	};

	if (!record_on() || (int8_t)device != DEVICE_CUDA || !record_begin(false))
		return;
	event.t = record_now();
	event.thread = record_thread();
	/* The stack of a failure is taken even while events are off. */
	event.stack = stacks_capture(__builtin_extract_return_addr(frame[1]), frame, false);
	if (refused.refused)
		known = refused;
	refused.refused = 0;
	known.pool_allocated = allocated;
	known.pool_reserved = reserved;
	record_lock();
	event.pool = torch_pool();
	event.api = text_once(&torch.api, "torch");
	event.error = record_text("out of memory");
	ledger_oom(record_ledger(), &event, &known);
	record_done();
	errno = saved;
}

#define FRAME __builtin_frame_address(0)

/* The handling of each form of report. The oldest (BARE) has no address and is not recorded. */
#define TELL_BARE (void)0
#define TELL_PLAIN usage((uint64_t)ptr, size, NULL, device, FRAME)
#define TELL_TOTALS \
	usage((uint64_t)ptr, size, &(struct pending_told){ allocated, reserved }, device, FRAME)
#define TELL_OOM out_of_memory(size, allocated, reserved, device, FRAME)

#define PARAMS_BARE (uint64_t device, int64_t size)
#define PARAMS_PLAIN (void *ptr, int64_t size, uint64_t device)
#define PARAMS_TOTALS \
	(void *ptr, int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device)
#define PARAMS_OOM (int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device)

#define ARGS_BARE (device, size)
#define ARGS_PLAIN (ptr, size, device)
#define ARGS_TOTALS (ptr, size, allocated, reserved, device)
#define ARGS_OOM (size, allocated, reserved, device)

#define REPORT(form, name)                                                       \
	EXPORT HOT_CODE void name PARAMS_##form;                                 \
	void name PARAMS_##form                                                  \
	{                                                                        \
		void(*real) PARAMS_##form =                                      \
			(void(*) PARAMS_##form)torch_real(TORCH_##name, CALLER); \
                                                                                 \
		const char *path = watch_path(#name);                            \
                                                                                 \
		TELL_##form;                                                     \
		watch_path(path);                                                \
		watch_host(#name);                                               \
		if (real)                                                        \
			real ARGS_##form;                                        \
	}
#define ASKED(name)
#include "capture/torch/torch.def"

EXPORT HOT_CODE bool _ZN3c1022memoryProfilingEnabledEv(void);

/* PyTorch calls this before it reports a CPU tensor. With MEMTRACE_CPU the result is true. */
bool _ZN3c1022memoryProfilingEnabledEv(void)
{
	bool (*real)(void) =
		(bool (*)(void))torch_real(TORCH__ZN3c1022memoryProfilingEnabledEv, CALLER);

	if (!opt_flag(OPT_ID_cpu) || !record_on() ||
	    atomic_load_explicit(&torch_cpu_lost, memory_order_relaxed))
		return real && real();
	begin_report();
	return true;
}
