/*
 * The memory that the driver says is occupied: when it is asked, and what came to be occupied in
 * which call.
 *
 * Most calls are a moment to ask at most every 10 ms, more seldom where the driver is slow to
 * answer (cuda_call_sample_used(), cuda_call_parts.h). Around calls that are known to take memory
 * without handing any out (device_usage.def) it is asked before and after: the part of the
 * difference that is not reserved is a step, and gets the name of the call. Launches are such calls
 * the first time that a function is launched, for then it may be loaded.
 *
 * A figure counts only if no memory was being taken or given back while it was asked for: calls
 * that do so are counted while they run. Never at blocks of PyTorch's, and no CUDA call is made
 * with a lock of ours held.
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

/* Nothing while `used` is not asked for. */
void usage_begin(struct cuda_call *span, enum usage_kind kind, int device);
/* Behind what the call did to the ledger; does nothing if it did not begin. */
void usage_end(struct cuda_call *span);

/* The kind of cuCtxSetLimit's argument. */
enum usage_kind usage_kind_of_limit(int limit);

/*
 * Functions that were launched (or looked at) once need not be looked at again. One set for all: a
 * handle is an address, and its low bits are free to mark the kind of knowledge.
 */
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

/* Code was unloaded: handles may come back for something else. */
void usage_forget_seen(void);

/*
 * A step only where the key is not seen; usage_end() sees it. A launch may make the stacks of the
 * device's threads grow as well.
 */
void usage_begin_new(struct cuda_call *span, enum usage_kind kind, uint64_t key, bool launch);

static inline void usage_begin_first(struct cuda_call *span, enum usage_kind kind, uint64_t key,
				     bool launch)
{
	if (__builtin_expect(!usage_is_seen(key), 0))
		usage_begin_new(span, kind, key, launch);
}

/* --- of spans: a call takes or gives memory --- */

/* Calls that take or give memory: in the low half those under way, in the high half all that ever
 * were. */
extern _Atomic uint64_t usage_moving;

/* This thread's part of the calls under way, and of its steps. */
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

/* A step was left without usage_end(): by an exception. */
void usage_abandon(void);

/* A longjmp has left spans behind: this thread is in none of the counted calls any more. */
void usage_unwound(void);

/* --- of the recorder --- */

/* With the recorder's lock held, when the spool is there: what was seen before goes into it. */
void usage_settle(void);

/* In a forked child: what the parent saw is the parent's. */
void usage_clear(void);
