/*
 * Samples the memory that the driver reports as occupied, and finds the calls that changed it.
 *
 * A sample may be taken after most hooked calls: at most every 10 ms (1 ms after large allocations
 * and frees), and less often where the driver answers slowly (rest_from(), device_usage.c). Calls
 * that may occupy memory without returning any are sampled before and after: the difference, minus
 * the bytes reserved meanwhile, is a step, which has a kind (device_usage.def). The first launch of
 * a function is such a call, because the function may be loaded then.
 *
 * A sample counts only if no other call was allocating or freeing memory meanwhile: usage_moving
 * counts the calls that do. No sample is taken when PyTorch hands out a block, and no CUDA call is
 * made while this library holds a lock.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct cuda_call;

enum usage_kind {
#define USED(id, name, what) USED_##id,
#include "capture/cuda/device_usage.def"
	USED_KINDS
};

/* --- steps: calls that may change the occupied bytes without an allocation --- */

/* Begins a step, a possible change of the occupied bytes, before the real call. Does nothing where
 * no samples are taken, for example with MEMTRACE_USED=0. */
void usage_begin(struct cuda_call *span, enum usage_kind kind, int device);
/* Called when the call's own allocations are recorded: ends the step that usage_begin() began. */
void usage_end(struct cuda_call *span);

/* The kind of memory that a limit of cuCtxSetLimit() (a CUlimit) controls. */
enum usage_kind usage_kind_of_limit(int limit);

/* The set of functions and graphs that were used before: using them again occupies no more memory.
 * A key is a handle (an address) with a mark in its two low bits. 0: was launched; 1: was queried;
 * 2: the handle is a CUfunction; 3: the handle is a CUkernel (FOUND in exports/hooks.c). */
#define USED_LOOKED_AT(handle) ((handle) | 1)
#define USED_HANDLE_FUNCTION(handle) ((handle) | 2)
#define USED_HANDLE_KERNEL(handle) ((handle) | 3)
enum { USED_SEEN = 1 << 14, USED_SEEN_NEAR = 4 }; /* slots in all; slots where one key can be */
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

/* Empties the set after code was unloaded: other functions may get the same handles. */
void usage_forget_seen(void);

/* Begins a step for a function that is not in usage_seen; usage_end() adds the function's `key`.
 * `launch`: the call is a kernel launch, which may also enlarge the stacks of the GPU's threads. */
void usage_begin_new(struct cuda_call *span, enum usage_kind kind, uint64_t key, bool launch);

static inline void usage_begin_first(struct cuda_call *span, enum usage_kind kind, uint64_t key,
				     bool launch)
{
	if (__builtin_expect(!usage_is_seen(key), 0))
		usage_begin_new(span, kind, key, launch);
}

/* --- counts of the calls that allocate or free memory --- */

/* Counts calls that allocate or free memory: in the low 32 bits those under way in all threads, in
 * the high 32 bits all calls so far. */
extern _Atomic uint64_t usage_moving;

/* How many calls that allocate or free memory, and how many steps, are under way on this thread. */
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
	if (!usage_thread.moving) /* usage_unwound() has reset the count after a longjmp */
		return;
	usage_thread.moving--;
	atomic_fetch_sub_explicit(&usage_moving, 1, memory_order_release);
}

/* Ends a step of this thread (it is no longer counted as under way) without a sample. */
void usage_abandon(void);

/* Sets both counts of this thread to 0, because a longjmp left the calls that they count, or
 * because these calls are suspended on another stack. */
void usage_unwound(void);

/* --- called by capture/life --- */

/* Writes to the spool (the recording's file) how the occupied memory changed before the spool was
 * opened. Called with the recorder's lock held. */
void usage_settle(void);

/* In a forked child: forgets the parent's samples and steps. */
void usage_clear(void);
