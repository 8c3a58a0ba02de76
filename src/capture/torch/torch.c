/*
 * PyTorch's report: every mangled signature in one table, one body.
 *
 * Signatures, finding the real functions and what a report means stay together: they change
 * together, with PyTorch's releases. A note on the ABI: c10::Device is { int8_t type, index },
 * passed in one register whose upper bits are garbage; int64_t and size_t forms differ in name
 * only. Before 1.10 there are no totals.
 */
#include "capture/torch/torch.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/guest/hot.h"
#include "base/guest/table_rows.h"
#include "base/guest/watch.h"
#include "base/settings/opt.h"
#include "base/text/fd.h"
#include "base/text/text.h"
#include "capture/exports/exports.h"
#include "capture/loader/crowd.h"
#include "capture/loader/loader.h"
#include "capture/loader/resolve.h"
#include "capture/recorder/overhead.h"
#include "capture/recorder/record.h"
#include "capture/stack/autograd.h"
#include "capture/stack/sampling.h"
#include "capture/stack/stacks.h"
#include "ledger/pending.h"

#define EXPORT __attribute__((visibility("default")))

enum { DEVICE_CPU = 0, DEVICE_CUDA = 1 };

/*     id       name after c10::                                       parameters / arguments */
#define REPORTS(X)                                                                                \
	X(V5, _ZN3c1027reportMemoryUsageToProfilerENS_6DeviceEl, (uint64_t device, int64_t size), \
	  (device, size))                                                                         \
	X(V6, _ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE,                                \
	  (void *ptr, int64_t size, uint64_t device), (ptr, size, device))                        \
	X(V10, _ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE,                             \
	  (void *ptr, int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device),      \
	  (ptr, size, allocated, reserved, device))                                               \
	X(V22, _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE,                             \
	  (void *ptr, int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device),      \
	  (ptr, size, allocated, reserved, device))                                               \
	X(OOM13, _ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE,                             \
	  (int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device),                 \
	  (size, allocated, reserved, device))                                                    \
	X(OOM22, _ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE,                             \
	  (int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device),                 \
	  (size, allocated, reserved, device))                                                    \
	X(OOMX, _ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE,                              \
	  (int64_t size, uint64_t allocated, uint64_t reserved, uint64_t device),                 \
	  (size, allocated, reserved, device))

enum report {
#define X(id, name, params, args) REPORT_##id,
	REPORTS(X)
#undef X
		REPORT_PROFILING, /* c10::memoryProfilingEnabled() */
	REPORT_COUNT
};

static const char report_names[REPORT_COUNT][64] = {
#define X(id, name, params, args) WHOLE(#name),
	REPORTS(X)
#undef X
		"_ZN3c1022memoryProfilingEnabledEv",
};

static void *ours(enum report report);

static HOT_DATA _Atomic(void *) report_real[REPORT_COUNT];
static atomic_bool asked_caller[REPORT_COUNT];
static atomic_bool version_read;
static _Atomic(const char *) version; /* complete once it is there */

/* Texts of this recording, 0 before the first use. */
static HOT_DATA struct {
	uint32_t pool, c10_cuda, api;
	uint32_t before; /* the stack of bytes from before the recording */
	bool uncached, asked;
} torch;

/* Is each CPU tensor an event (MEMTRACE_CPU)? PyTorch asks before each. */
static bool wants_cpu(void)
{
	enum { NOT_ASKED, NO, YES };
	static HOT_DATA _Atomic uint8_t answer;
	uint8_t known = atomic_load_explicit(&answer, memory_order_relaxed);

	if (__builtin_expect(known == NOT_ASKED, 0)) {
		known = opt_flag(OPT_ID_cpu) ? YES : NO;
		/* The settings may not have been read yet. */
		if (atomic_load_explicit(&record_state, memory_order_relaxed) != RECORD_INERT)
			atomic_store_explicit(&answer, known, memory_order_relaxed);
	}
	return known == YES;
}

/* The segment that this thread's last driver call made, until a block is reported in it. */
static HOT_THREAD _Thread_local struct {
	uint64_t ptr, size;
} provisional;

/*
 * The driver's last refusal to this thread's allocation of a block, until one is handed out. An
 * allocation that fails without one met a limit of PyTorch's own (set_per_process_memory_fraction).
 */
static _Thread_local struct spool_oom refused;
static HOT_THREAD _Thread_local bool is_refused; /* is there one? */

/* libc10 is loaded RTLD_LOCAL: by its name, else (Debian: libc10.so.1.13) as the file that calls.
 */
static __attribute__((noinline)) void *c10_of(void *caller)
{
	char path[4096];
	Dl_info info;
	void *handle;
	char *end;

	if (!dladdr(caller, &info) || !info.dli_fname)
		return NULL;
	text_copy(path, sizeof(path), info.dli_fname);
	end = strrchr(path, '/');
	if (end)
		text_copy(end + 1, sizeof(path) - (size_t)(end + 1 - path), "libc10.so");
	handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
	return handle ? handle : dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
}

static void *c10_handle(void *caller)
{
	void *handle = dlopen("libc10.so", RTLD_NOLOAD | RTLD_LAZY);

	return handle || !caller ? handle : c10_of(caller);
}

static void find_real(void *caller)
{
	void *handle = c10_handle(caller);

	for (unsigned i = 0; handle && i < REPORT_COUNT; i++) {
		void *real = resolve_dlsym(handle, report_names[i]);

		if (real && real != ours((enum report)i))
			atomic_store(&report_real[i], real);
	}
	if (handle)
		resolve_dlclose(handle);
}

/* torch/lib/libc10.so has torch/version.py beside its folder; Debian's keeps it elsewhere: unknown.
 */
static __attribute__((noinline)) void read_version(const void *address)
{
	static const char key[] = "__version__ = '";
	static char known[64];
	char path[4096];
	char text[1024];
	Dl_info info;
	char *end;

	if (atomic_exchange(&version_read, true) || !dladdr(address, &info) || !info.dli_fname)
		return;
	text_copy(path, sizeof(path), info.dli_fname);
	end = strrchr(path, '/');
	if (!end)
		return;
	*end = '\0';
	text_append(path, sizeof(path), "/../version.py");
	if (fd_read_file(path, text, sizeof(text)) <= 0)
		return;
	end = strstr(text, key);
	if (!end)
		return;
	end += sizeof(key) - 1;
	text_copy_n(known, sizeof(known), end, strcspn(end, "'"));
	atomic_store_explicit(&version, known, memory_order_release);
}

const char *torch_version(void)
{
	return atomic_load_explicit(&version, memory_order_acquire);
}

/* Debian gives libc10 a version in its soname: find it among what is loaded. */
static int note_c10(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (strncmp(text_base(info->dlpi_name), "libc10.so", 9))
		return 0;
	*(const char **)path = info->dlpi_name; /* stays: nobody unloads PyTorch */
	return 1;
}

void torch_prepare(void)
{
	const char *path = NULL;
	void *handle;

	if (atomic_load_explicit(&report_real[REPORT_PROFILING], memory_order_relaxed))
		return;
	find_real(NULL);
	if (!atomic_load(&report_real[REPORT_PROFILING]) && dl_iterate_phdr(note_c10, &path)) {
		handle = dlopen(path, RTLD_NOLOAD | RTLD_LAZY);
		for (unsigned i = 0; handle && i < REPORT_COUNT; i++)
			atomic_store(&report_real[i], resolve_dlsym(handle, report_names[i]));
		if (handle)
			resolve_dlclose(handle);
	}
	if (atomic_load(&report_real[REPORT_PROFILING]))
		read_version(atomic_load(&report_real[REPORT_PROFILING]));
}

/* Asked once, then only when something was loaded (torch_prepare): it costs microseconds. */
static __attribute__((noinline, cold)) void *ask_real(enum report report, void *caller)
{
	struct signals_deferred deferred;

	if (!atomic_load_explicit(&asked_caller[report], memory_order_relaxed) &&
	    !atomic_exchange(&asked_caller[report], true)) {
		loader_begin(&deferred);
		find_real(caller);
		loader_end(&deferred);
	}
	return atomic_load_explicit(&report_real[report], memory_order_relaxed);
}

static inline void *real_of(enum report report, void *caller)
{
	void *real = atomic_load_explicit(&report_real[report], memory_order_relaxed);

	return __builtin_expect(real != NULL, 1) ? real : ask_real(report, caller);
}

static uint32_t text_once(uint32_t *text, const char *name)
{
	if (!*text)
		*text = intern_text(record_intern(), name);
	return *text;
}

uint32_t torch_pool(void)
{
	return text_once(&torch.pool, "torch");
}

bool torch_owns(uint32_t owner)
{
	if (!torch.asked) {
		/* As PyTorch reads it: once, at the first allocation. */
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

/* Was the driver asked from inside PyTorch's allocator, be it through somebody's raw_alloc? */
static bool beneath_c10(uint32_t stack)
{
	const struct spool *spool = record_spool();
	const struct spool_stack *row = spool_at(spool, SPOOL_STACK, stack);

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
	const struct spool_stack *row = spool_at(record_spool(), SPOOL_STACK, stack);
	const char *name = spool_text(record_spool(), row->owner);

	if (torch_owns(row->owner) || beneath_c10(stack)) {
		/* Without its cache PyTorch has nothing to give back, and does not report. */
		if (ordered || torch.uncached)
			return false;
		refused = *known;
		is_refused = known->refused;
		return true;
	}
	return name && (strstr(name, "xla_cuda") || strstr(name, "_pywrap_tensorflow") ||
			strstr(name, "libtensorflow"));
}

void torch_clear(void)
{
	memset(&torch, 0, sizeof(torch));
	provisional.ptr = 0;
	is_refused = false;
}

void torch_restart(void)
{
	struct event event = { .t = record_now(), .thread = record_thread() };

	event.api = intern_text(record_intern(), "memtrace_enable");
	ledger_empty_pool(record_ledger(), torch_pool(), &event);
}

static uint32_t from_before(void)
{
	if (!torch.before) {
		torch.before = intern_pseudo_stack(record_intern(), "[from before the recording]");
		backlog_before(record_ledger(), torch.before);
	}
	return torch.before;
}

/* The pool's sums are what PyTorch says they are; what is missing came from before the recording.
 */
static void agree(const struct event *event, uint64_t allocated, uint64_t reserved)
{
	struct ledger *ledger = record_ledger();
	uint64_t ours;

	if (ledger_pool_agrees(ledger, event, allocated, reserved))
		return;
	ours = ledger_pool_sum(ledger, event->device, event->pool, METRIC_ALLOCATED);
	if (allocated != ours) {
		bool more = allocated > ours;

		ledger_adjust(ledger, event, more ? EVENT_ALLOC : EVENT_FREE,
			      more ? allocated - ours : ours - allocated, from_before());
	}
	ours = ledger_pool_sum(ledger, event->device, event->pool, METRIC_RESERVED);
	if (reserved == ours)
		return;
	if (reserved > ours) {
		/* A block inside somebody's plain allocation: a MemPool of another allocator's
		 * memory. */
		uint32_t around = ledger_around(ledger, event->ptr);

		if (around && !live_node(record_spool(), around)->pool) {
			ledger_retag(ledger, around, event->pool, event);
			ours = ledger_pool_sum(ledger, event->device, event->pool, METRIC_RESERVED);
		}
	}
	if (reserved == ours)
		return;
	ledger_adjust(ledger, event, reserved > ours ? EVENT_RESERVE : EVENT_RELEASE,
		      reserved > ours ? reserved - ours : ours - reserved, from_before());
}

struct usage {
	uint64_t ptr;
	int64_t size;
	struct backlog_told totals;
	bool has_totals;
	int type, index;
};

static void enter_usage(struct event *event, enum node_kind kind)
{
	if (event->op == EVENT_ALLOC) {
		choose_told(event);
		ledger_enter(record_ledger(), event, kind, 0, 0);
	} else if (!ledger_leave(record_ledger(), event, kind, NULL)) {
		/* Born before the recording: its bytes are booked there, or nowhere. */
		record_unmatched();
	}
}

static void *caller_of(void **frame)
{
	return __builtin_extract_return_addr(frame[1]);
}

static void record_usage(const struct usage *usage, void **frame)
{
	bool cuda = usage->type == DEVICE_CUDA;
	enum node_kind kind = cuda ? NODE_BLOCK : NODE_CPU;
	const struct backlog_told *told = cuda && usage->has_totals ? &usage->totals : NULL;
	struct event event = {
		.op = usage->size > 0 ? EVENT_ALLOC : EVENT_FREE,
		.space = cuda ? SPACE_DEVICE : SPACE_CPU,
		.ptr = usage->ptr,
		.size = (uint64_t)(usage->size > 0 ? usage->size : -usage->size),
		.device = (int16_t)(cuda ? usage->index : NO_DEVICE),
	};
	const struct choose_call call = { .caller = caller_of(frame),
					  .frame = frame,
					  .pool = cuda ? "torch" : "",
					  .may_load = !cuda };
	struct ledger *ledger;

	/* No lock is held where a CPU tensor is made: it may be the first thing that ever happens.
	 */
	cost_enter(true);
	if (!record_begin(!cuda))
		return;
	event.t = record_now();
	event.thread = record_thread();
	if (event.op == EVENT_ALLOC) {
		choose_birth(&event, &call);
		autograd_forward(event.stack);
	} else {
		choose_end(&event, kind, &call);
	}
	record_lock_only();
	ledger = record_ledger();
	if (!ledger->error) /* each event: not worth an atomic addition */
		record_spool()->header->doors[DOOR_TORCH]++;
	event.pool = cuda ? torch_pool() : 0;
	event.api = text_once(&torch.api, "torch");
	if (usage->ptr - provisional.ptr < provisional.size)
		provisional.ptr = 0;
	if (usage->size > 0)
		is_refused = false;
	if (choose_asks || !told || !backlog_put(ledger, &event, told)) {
		backlog_settle(ledger);
		enter_usage(&event, kind);
		event.ptr = usage->ptr;
		if (told)
			agree(&event, told->allocated, told->reserved);
	}
	record_done();
	cost_leave(SPOOL_COST_BLOCK, true, true);
}

/*
 * From our yes to its report PyTorch's CPU allocator takes a lock (ProfiledCPUMemoryReporter) that
 * it would not take without us. A child that is born meanwhile would find it held for ever, so a
 * fork waits until nobody is there; a child that cannot know hears no yes.
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

static HOT_CODE void usage(uint64_t ptr, int64_t size, const uint64_t *totals, uint64_t device,
			   void **frame)
{
	struct usage told = {
		.ptr = ptr,
		.size = size,
		.totals = { totals ? totals[0] : 0, totals ? totals[1] : 0 },
		.has_totals = totals != NULL,
		.type = (int8_t)device,
		.index = (int8_t)(device >> 8),
	};
	int saved = errno;

	if (told.type == DEVICE_CPU)
		crowd_discount(&reporters, &reporter);
	if (!record_on() || !size)
		return;
	if (told.type == DEVICE_CUDA || (told.type == DEVICE_CPU && wants_cpu()))
		record_usage(&told, frame);
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
	/* Of a failure also when events are off. */
	event.stack = stacks_capture(caller_of(frame), frame, false);
	if (is_refused)
		known = refused;
	is_refused = false;
	known.pool_allocated = allocated;
	known.pool_reserved = reserved;
	record_lock();
	event.pool = torch_pool();
	event.api = text_once(&torch.api, "torch");
	event.error = intern_text(record_intern(), "out of memory");
	ledger_oom(record_ledger(), &event, &known);
	record_done();
	errno = saved;
}

#define FRAME __builtin_frame_address(0)
#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))

/* What each signature tells. The oldest has no address: there is nothing to tell it by. */
#define TELL_V5 (void)0
#define TELL_V6 usage((uint64_t)ptr, size, NULL, device, FRAME)
#define TELL_V10 usage((uint64_t)ptr, size, (uint64_t[]){ allocated, reserved }, device, FRAME)
#define TELL_V22 TELL_V10
#define TELL_OOM13 out_of_memory((int64_t)size, allocated, reserved, device, FRAME)
#define TELL_OOM22 TELL_OOM13
#define TELL_OOMX TELL_OOM13

#define X(id, name, params, args)                                                  \
	EXPORT HOT_CODE void name params;                                          \
	void name params                                                           \
	{                                                                          \
		void(*real) params = (void(*) params)real_of(REPORT_##id, CALLER); \
                                                                                   \
		const char *path = watch_path(#name);                              \
                                                                                   \
		TELL_##id;                                                         \
		watch_path(path);                                                  \
		watch_host(#name);                                                 \
		if (real)                                                          \
			real args;                                                 \
	}
REPORTS(X)
#undef X

EXPORT HOT_CODE bool _ZN3c1022memoryProfilingEnabledEv(void);

/* PyTorch asks before it reports a CPU tensor. */
bool _ZN3c1022memoryProfilingEnabledEv(void)
{
	bool (*real)(void) = (bool (*)(void))real_of(REPORT_PROFILING, CALLER);

	if (!wants_cpu() || !record_on())
		return real && real();
	if (atomic_load_explicit(&torch_cpu_lost, memory_order_relaxed))
		return real && real();
	begin_report();
	return true;
}

static void *ours(enum report report)
{
	switch (report) {
#define X(id, name, params, args) \
	case REPORT_##id:         \
		return (void *)name;
		REPORTS(X)
#undef X
	case REPORT_PROFILING:
		return (void *)_ZN3c1022memoryProfilingEnabledEv;
	case REPORT_COUNT:
		break;
	}
	return NULL;
}
