/*
 * PyTorch's caching allocator: its own report of every block (door 4), and the driver calls that it
 * makes.
 *
 * c10::reportMemoryUsageToProfiler is called through the PLT on every block allocation and free,
 * with the rounded size and running totals, under the allocator's per-device lock. So: no CUDA
 * call, no GIL, nothing that waits. The report is always forwarded, for torch.profiler depends on
 * it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/event.h"

struct spool_oom;

/* Finds PyTorch's real functions that ours replace, if it is loaded. Takes the loader's lock. */
void torch_prepare(void);

/* "2.11.0+cu130", NULL when unknown; no lock needed. */
const char *torch_version(void);

/* The text of the pool's name. With the recorder's lock held, like all of the following. */
uint32_t torch_pool(void);

/* True if the library with this name (a text) belongs to the allocator, and asks for a pool. */
bool torch_owns(uint32_t owner);

/*
 * True if this driver allocation of the owner is a segment of the pool. It is provisional on this
 * thread until a block is reported in it; torch_settle() makes it a plain allocation if none was.
 */
bool torch_segment(uint32_t owner, uint64_t ptr, uint64_t size);
void torch_settle(const struct event *like);

/*
 * An allocation of the driver with this stack failed: true if a framework catches that and tries
 * again in another way (PyTorch, XLA). Unless a try succeeds PyTorch then reports the failure
 * itself, on this thread, and `known` is recorded with it. `ordered`: of a stream-ordered pool,
 * where PyTorch does not try again.
 */
bool torch_catches(uint32_t stack, bool ordered, const struct spool_oom *known);

/* Before a fork, and in the child: for PyTorch's lock on CPU tensors, which a thread may have. If
 * the fork waited in vain, the child's CPU tensors are no events: `torch_cpu_lost`. */
void torch_hold(void);
void torch_forked(void);
extern atomic_bool torch_cpu_lost;

/* Forgets texts and provisional segments (after fork); takes all blocks out (a new start). */
void torch_clear(void);
void torch_restart(void);

/* --- the functions of PyTorch that ours replace (torch_find.c) --- */

enum torch_function {
#define REPORT(form, name) TORCH_##name,
#define ASKED(name) TORCH_##name,
#include "capture/torch/torch.def"
#undef REPORT
#undef ASKED
	TORCH_FUNCTIONS
};

extern _Atomic(void *) torch_reals[TORCH_FUNCTIONS];

void *torch_ask_real(enum torch_function function, void *caller);

/* NULL if the caller's PyTorch has no such function. */
static inline void *torch_real(enum torch_function function, void *caller)
{
	void *real = atomic_load_explicit(&torch_reals[function], memory_order_relaxed);

	return __builtin_expect(real != NULL, 1) ? real : torch_ask_real(function, caller);
}
