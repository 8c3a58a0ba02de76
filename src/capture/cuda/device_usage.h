/*
 * The memory that is occupied according to the driver: when it is asked, and which calls changed
 * the answer.
 *
 * After most calls it may be asked, at most every 10 ms and less often where the driver answers
 * slowly (cuda_call_sample_used(), cuda_call_parts.h). Around calls that are known to take memory
 * without handing any out (device_usage.def) it is asked before and after: the part of the
 * difference that is not reserved is a step, and gets the name of the call. Launches are such calls
 * the first time that a function is launched, for then it may be loaded.
 *
 * A figure counts only if no memory was being taken or given back while it was asked for: calls
 * that do so are counted while they run. It is never asked at blocks of PyTorch, and no CUDA call
 * is made with a lock of ours held.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct cuda_call;

enum usage_kind {
#define USED(id, name, what) USED_##id,
#include "capture/cuda/device_usage.def"
#undef USED
	USED_KINDS
};

/* --- around steps: the words of hooks.def --- */

/* Does nothing if `used` is not wanted. */
void usage_begin(struct cuda_call *span, enum usage_kind kind, int device);
/* Called after the call's change of the ledger; does nothing if usage_begin() did nothing. */
void usage_end(struct cuda_call *span);

/* The kind of cuCtxSetLimit's argument. */
enum usage_kind usage_kind_of_limit(int limit);

/* Functions that were launched (or looked at) once need not be looked at again. One set serves for
 * all: a handle is an address, and its low bits are free to mark what is known of it. */
#define USED_LOOKED_AT(handle) ((handle) | 1)
#define USED_HANDLE_FUNCTION(handle) ((handle) | 2)
#define USED_HANDLE_KERNEL(handle) ((handle) | 3)
enum { USED_SEEN = 1 << 14, USED_SEEN_NEAR = 4 };
extern _Atomic uint64_t usage_seen[USED_SEEN];

static inline uint64_t usage_seen_at(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15u >> 50;
}

static inline bool usage_is_seen(uint64_t key)
{
	uint64_t at = usage_seen_at(key);

	for (unsigned i = 0; i < USED_SEEN_NEAR; i++) {
		if (atomic_load_explicit(&usage_seen[(at + i) % USED_SEEN], memory_order_relaxed) ==
		    key)
			return true;
	}
	return false;
}

void usage_see(uint64_t key);

/* After code was unloaded: other functions may get the same handles. */
void usage_forget_seen(void);

/* Begins a step if the key is not in the set; usage_end() puts it there. A launch may make the
 * stacks of the device's threads grow as well. */
void usage_begin_new(struct cuda_call *span, enum usage_kind kind, uint64_t key, bool launch);

static inline void usage_begin_first(struct cuda_call *span, enum usage_kind kind, uint64_t key,
				     bool launch)
{
	if (__builtin_expect(!usage_is_seen(key), 0))
		usage_begin_new(span, kind, key, launch);
}

/* --- for spans: a call takes or gives memory --- */

/* Calls that take or give memory: low half those under way, high half all that ever were. */
extern _Atomic uint64_t usage_moving;

/* This thread's part of the calls and steps under way. */
struct usage_thread {
	uint32_t moving, stepping;
};
extern _Thread_local struct usage_thread usage_thread;

static inline void usage_move(void)
{
	usage_thread.moving++;
	atomic_fetch_add_explicit(&usage_moving, (1ull << 32) + 1, memory_order_acq_rel);
}

static inline void usage_moved(void)
{
	if (!usage_thread.moving) /* a longjmp beneath has ended it: usage_unwound() */
		return;
	usage_thread.moving--;
	atomic_fetch_sub_explicit(&usage_moving, 1, memory_order_release);
}

/* A step ended without usage_end(): by an exception. */
void usage_abandon(void);

/* After a longjmp out of spans: no counted call of this thread is under way any more. */
void usage_unwound(void);

/* --- of the recorder --- */

/* Writes the steps from before the spool into it. With the recorder's lock held. */
void usage_settle(void);

/* In a forked child: forgets the parent's figures. */
void usage_clear(void);
