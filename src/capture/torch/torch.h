/*
 * Records the blocks of PyTorch's caching allocator from the allocator's own reports, and
 * recognises its driver calls.
 *
 * PyTorch calls c10::reportMemoryUsageToProfiler through the PLT at every allocation and free of a
 * block, with the rounded size and (from 1.10 on) running totals, under the allocator's per-device
 * lock. So the function that replaces it makes no CUDA call, does not take the GIL, and avoids the
 * loader's lock (`may_load`, stacks.h). It forwards each report, for torch.profiler.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/event.h"

struct spool_oom;

/* Finds PyTorch's functions that this library replaces, if loaded. Takes the loader's lock. */
void torch_prepare(void);

/* PyTorch's version, such as "2.11.0+cu130"; NULL when unknown. Needs no lock. */
const char *torch_version(void);

/* The name (a text id) of PyTorch's pool. torch_pool(), torch_owns(), torch_segment(),
 * torch_settle() and torch_catches() are called with the recorder's lock held. */
uint32_t torch_pool(void);

/* True if the library with this name (a text id) is PyTorch's allocator and its cache is on. */
bool torch_owns(uint32_t owner);

/*
 * True if a driver allocation by the library `owner` is taken for a segment of PyTorch's pool. If
 * this thread reports no block in that segment before its next free of driver memory (the event
 * `like`), torch_settle() turns the segment into a plain allocation.
 */
bool torch_segment(uint32_t owner, uint64_t ptr, uint64_t size);
void torch_settle(const struct event *like);

/*
 * For a driver allocation with this stack that failed: true if a framework (PyTorch, TensorFlow,
 * XLA) catches the failure and tries again. If no retry succeeds, PyTorch reports the failure on
 * this thread, and `known`, the state when the driver refused, is recorded with it. `ordered`: the
 * allocation was from a stream-ordered pool, where PyTorch does not try again.
 */
bool torch_catches(uint32_t stack, bool ordered, const struct spool_oom *known);

/* torch_hold(), before a fork: waits until no other thread is reporting a CPU tensor. If that took
 * too long, torch_forked(), in the child, sets torch_cpu_lost: the child records no CPU tensors. */
void torch_hold(void);
void torch_forked(void);
extern atomic_bool torch_cpu_lost;

/* torch_clear(), in a forked child: forgets the parent's recording. torch_restart(), with the lock
 * held, when recording is switched on again: records all of PyTorch's blocks as freed, because
 * frees in the meantime were not seen. */
void torch_clear(void);
void torch_restart(void);

/* --- PyTorch's functions that this library replaces (torch_find.c) --- */

enum torch_function {
#define REPORT(form, name) TORCH_##name,
#define ASKED(name) TORCH_##name,
#include "capture/torch/torch.def"
	TORCH_FUNCTIONS
};

extern _Atomic(void *) torch_reals[TORCH_FUNCTIONS];

void *torch_ask_real(enum torch_function function, void *caller);

/* Returns PyTorch's real function, NULL if it was not found. */
static inline void *torch_real(enum torch_function function, void *caller)
{
	void *real = atomic_load_explicit(&torch_reals[function], memory_order_relaxed);

	return __builtin_expect(real != NULL, 1) ? real : torch_ask_real(function, caller);
}
