/* Samples the occupied memory of devices, and attributes its changes (steps) to calls. */
#include "capture/cuda/device_usage.h"

#include <stdlib.h>

#include "base/guest/hot.h"
#include "base/settings/opt.h"
#include "capture/cuda/cuda_call_parts.h"
#include "capture/cuda/device_usage_parts.h"
#include "capture/cuda/driver.h"
#include "capture/loader/loader.h"
#include "capture/stack/stacks.h"
#include "ledger/device_used.h"

enum {
	EVERY_NS = 10 * 1000 * 1000,   /* shortest time between samples, unless MOVED applies */
	SELDOM_NS = 250 * 1000 * 1000, /* longest time until a sample is due, with a slow driver */
	REST = 400,             /* time until a sample is due, in multiples of a query's duration */
	FRESH_NS = 1000 * 1000, /* largest age of a sample that is_fresh() accepts */
	MOVED = 10, /* a sample is due this many times sooner after large changes or a failure */
	TRIES = 3,  /* attempts to take a sample while no call allocates or frees */
};

_Atomic uint32_t usage_stepping;
static _Atomic uint64_t turns;

_Atomic uint64_t usage_seen[USED_SEEN];
_Atomic uint64_t usage_moving;
_Thread_local struct usage_thread usage_thread;

/* --- functions that were launched before --- */

void usage_see(uint64_t key)
{
	uint64_t at = usage_seen_at(key);

	if (usage_is_seen(key))
		return;
	for (unsigned i = 0; i < USED_SEEN_NEAR; i++) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(&usage_seen[(at + i) % USED_SEEN], &none, key))
			return;
	}
	/* All slots for the key are full: drops another key, whose next use is sampled again. */
	atomic_store_explicit(&usage_seen[at % USED_SEEN], key, memory_order_relaxed);
}

void usage_forget_seen(void)
{
	for (unsigned i = 0; i < USED_SEEN; i++) {
		if (atomic_load_explicit(&usage_seen[i], memory_order_relaxed))
			atomic_store_explicit(&usage_seen[i], 0, memory_order_relaxed);
	}
}

/* --- queries of the occupied bytes --- */

static inline bool wanted(int device)
{
	return device >= 0 && device < DRIVER_DEVICES && opt_flag(OPT_ID_used) &&
	       !record_inside() && !atomic_load(&cuda_call_exiting);
}

/* *bytes gets the device's occupied bytes from NVML, which needs no context. False if unknown. */
static bool used_apart(int device, uint64_t *bytes)
{
	struct driver_facts facts;
	uint64_t left;

	if (!nvml_left(device, &left) || !driver_facts(device, &facts) || left > facts.total_bytes)
		return false;
	*bytes = facts.total_bytes - left;
	return true;
}

static bool device_used(int device, uint64_t *bytes)
{
	uint64_t total;
	uint64_t left;

	if (device != driver_device())
		return used_apart(device, bytes);
	if (!driver_memory(&left, &total) || left >= total)
		return false;
	*bytes = total - left;
	return true;
}

/* Decides, once per device, whether to query NVML or the driver. False if still undecided. */
static bool has_source(int device)
{
	_Atomic uint8_t *source = &usage_devices[device].source;
	uint64_t bytes;
	int found;

	if (atomic_load_explicit(source, memory_order_relaxed) == USED_UNKNOWN) {
		found = nvml_recognise(device);
		if (found < 0) /* another thread is using NVML: the next sample decides */
			return false;
		if (found && nvml_used(device, &bytes) && bytes)
			atomic_store(source, USED_NVML);
		else if (device == driver_device())
			atomic_store(source, USED_DEVICE);
	}
	return *source != USED_UNKNOWN;
}

/* Takes a sample while no other call is allocating or freeing memory. Runs in loader_call(), which
 * makes forks wait: a child forked meanwhile could find a lock of NVML locked for ever. */
static void look_at_device(void *argument)
{
	struct usage_look *look = argument;
	bool told;

	if (!has_source(look->device))
		return;
	if (record_is_open())
		cuda_call_refresh_pools(look->span, look->device);
	for (unsigned i = 0; i < TRIES && !look->seen; i++) {
		uint64_t before = atomic_load(&usage_moving);

		if ((uint32_t)before != usage_thread.moving)
			continue;
		look->t = record_now();
		look->turn = atomic_fetch_add(&turns, 1);
		told = usage_devices[look->device].source == USED_NVML
			       ? nvml_used(look->device, &look->used)
			       : device_used(look->device, &look->used);
		if (!told)
			return;
		look->moving = before;
		look->seen = atomic_load(&usage_moving) == before;
	}
}

static const int64_t MUCH = 16 << 20;

static bool much_moved(int device)
{
	int64_t moved = -(int64_t)usage_devices[device].reserved;

	record_lock();
	moved += (int64_t)used_reserved(record_ledger(), device);
	record_unlock();
	return llabs(moved) >= MUCH;
}

static bool due(int device, uint64_t now)
{
	uint64_t before = atomic_load_explicit(&usage_devices[device].last, memory_order_relaxed);
	uint64_t rest = atomic_load_explicit(&usage_devices[device].rest, memory_order_relaxed);

	return !before || now - before >= rest ||
	       (now - before >= rest / MOVED && record_is_open() && much_moved(device));
}

/*
 * Sets the time until the next sample in proportion to the duration of a query (25 us with some
 * drivers, a millisecond with others), so that samples take about the same share of the run time
 * with all drivers. The quicker of the last two queries counts: in the slower one the thread may
 * have been preempted. A sample that failed because memory was allocated or freed is repeated soon.
 */
static void rest_from(int device, uint64_t begin, bool accounted)
{
	uint64_t end = record_now();
	uint64_t took = end - begin;
	uint64_t before = atomic_exchange(&usage_devices[device].took, took);
	uint64_t rest = (took < before ? took : before) * REST;

	rest = rest < EVERY_NS ? EVERY_NS : rest > SELDOM_NS ? SELDOM_NS : rest;
	if (!accounted)
		end -= rest - rest / MOVED;
	atomic_store_explicit(&usage_devices[device].rest, rest, memory_order_relaxed);
	atomic_store_explicit(&usage_devices[device].last, end ? end : 1, memory_order_relaxed);
}

static void describe(const struct cuda_call *span, struct usage_culprit *culprit)
{
	const struct cuda_call *root = cuda_call_root(span);

	culprit->kind = (enum usage_kind)span->kind;
	culprit->hook = (enum hook_id)root->hook;
	driver_context(&culprit->context);
	culprit->ended = span->ended_context;
	if (culprit->kind == USED_CONTEXT)
		culprit->context = 0;
	if (record_continue()) {
		culprit->thread = record_thread();
		culprit->stack = cuda_call_stack(span);
	}
	if (culprit->kind == USED_MODULES)
		stacks_owner(culprit->of, sizeof(culprit->of), root->caller);
}

/* Takes a sample and accounts for it. `culprit`: the call to which a change is attributed, or NULL.
 * Records a change and ends the call's step under one lock: other samples see both or neither. */
static bool account(const struct cuda_call *span, int device, struct usage_culprit *culprit)
{
	struct usage_look look = { .span = span, .device = device };
	bool done;
	bool any;

	loader_call(look_at_device, &look);
	if (!look.seen)
		return false;
	record_lock();
	any = culprit && usage_left(&look) != usage_devices[device].residual;
	if (any && culprit->hook == HOOK_NAMES) {
		record_unlock(); /* because describe() queries the driver and walks the stack */
		describe(span, culprit);
		record_lock();
	}
	done = usage_account(&look, any ? culprit : NULL);
	if (done && culprit)
		usage_abandon();
	record_unlock();
	return done;
}

HOT_CODE void cuda_call_sample_used(const struct cuda_call *span, int device)
{
	uint64_t now;

	if (!wanted(device))
		return;
	now = record_now();
	if (due(device, now))
		rest_from(device, now, account(span, device, NULL));
}

void cuda_call_sample_now(const struct cuda_call *span, int device)
{
	if (!wanted(device) || !account(span, device, NULL))
		cuda_call_refresh_pools(span, device);
}

/* --- steps: calls that may change the occupied bytes without an allocation --- */

enum usage_kind usage_kind_of_limit(int limit)
{
	/* in the order of CUlimit: STACK_SIZE, PRINTF_FIFO_SIZE, MALLOC_HEAP_SIZE, DEV_RUNTIME_* */
	static const enum usage_kind by_limit[] = { USED_STACK, USED_PRINTF, USED_MALLOC,
						    USED_LAUNCHES, USED_LAUNCHES };

	return limit >= 0 && limit < 5 ? by_limit[limit] : USED_LIMITS;
}

static void before_context(void *argument)
{
	const int device = *(int *)argument;
	uint64_t before;

	nvml_prepare(device);
	if (!used_apart(device, &before))
		return;
	record_lock();
	usage_devices[device].before = before;
	record_unlock();
}

/* True if the last sample can also serve as the sample that must precede the next step. */
static bool is_fresh(int device)
{
	const struct usage_device *known = &usage_devices[device];

	return known->begun && !known->waiting && known->moving == atomic_load(&usage_moving) &&
	       record_now() - known->t < FRESH_NS;
}

void usage_begin(struct cuda_call *span, enum usage_kind kind, int device)
{
	if (!wanted(device))
		return;
	span->kind = (uint8_t)kind;
	span->step_device = (int16_t)device;
	span->ended_context = span->first = 0;
	span->stack_limit = UINT64_MAX;
	span->stepping = true;
	usage_thread.stepping++;
	if (kind == USED_CONTEXT && !usage_devices[device].source)
		loader_call(before_context, &device);
	else if (!atomic_load(&usage_stepping) && !is_fresh(device))
		account(span, device, NULL);
	atomic_fetch_add(&usage_stepping, 1);
}

void usage_begin_new(struct cuda_call *span, enum usage_kind kind, uint64_t key, bool launch)
{
	usage_begin(span, kind, driver_device());
	span->first = key;
	if (launch && span->stepping)
		span->stack_limit = driver_stack_limit();
}

void usage_abandon(void)
{
	if (!usage_thread.stepping)
		return;
	usage_thread.stepping--;
	atomic_fetch_sub(&usage_stepping, 1);
}

void usage_unwound(void)
{
	atomic_fetch_sub(&usage_moving, usage_thread.moving);
	atomic_fetch_sub(&usage_stepping, usage_thread.stepping);
	usage_thread = (struct usage_thread){ 0, 0 };
}

static void end_step(struct cuda_call *span)
{
	struct usage_culprit culprit = { .hook = HOOK_NAMES }; /* HOOK_NAMES: not yet described */

	for (unsigned i = 0; i < TRIES; i++) {
		if (account(span, span->step_device, &culprit))
			return;
	}
	if (culprit.hook == HOOK_NAMES)
		describe(span, &culprit);
	record_lock();
	usage_devices[span->step_device].culprit = culprit;
	usage_devices[span->step_device].waiting = true;
	usage_abandon();
	record_unlock();
}

static bool needs_stack(const struct cuda_call *span)
{
	bool kernel = usage_is_seen(USED_HANDLE_KERNEL(span->first));

	return span->stack_limit != UINT64_MAX &&
	       (kernel || usage_is_seen(USED_HANDLE_FUNCTION(span->first))) &&
	       driver_local_bytes(span->first, kernel, span->step_device) > span->stack_limit;
}

void usage_end(struct cuda_call *span)
{
	if (__builtin_expect(!span->stepping, 1))
		return;
	span->stepping = false;
	if (needs_stack(span))
		span->kind = USED_STACK;
	end_step(span);
	if (span->first)
		usage_see(span->first);
}
