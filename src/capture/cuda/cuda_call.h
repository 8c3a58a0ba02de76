/*
 * One hooked call on this thread, from entry to return.
 *
 * Calls nest: the runtime's cudaMalloc calls the driver's cuMemAlloc. The innermost driver call
 * changes sums, the outermost call gives the event its api and its stack; a runtime call counts by
 * itself only if no driver call was seen beneath it.
 */
#pragma once

#include "base/guest/watch.h"
#include "capture/loader/hooks.h"
#include "capture/recorder/record.h"

/* A thread's innermost call. It may be on another stack (coroutines, threads of the program's own
 * making), suspended or gone: cuda_call_nest.c decides that before the span is read. */
struct cuda_call_top {
	struct cuda_call *span; /* NULL: none, and the rest has no meaning */
	void **frame;           /* the wrapper's; its second word is `caller` while it lives */
	void *caller;           /* return address */
	enum hook_id hook;
};

/* Ways in which memory ends: a handle's last release, imported memory's last closing. */
enum cuda_call_end { SPAN_FREE, SPAN_RELEASE, SPAN_CLOSE };

struct cuda_call {
	struct cuda_call *outer; /* the call that makes this one */
	struct cuda_call_top
		before; /* `outer`, the call that a signal has interrupted, or another stack's */
	void *caller;
	void **frame;
	uint64_t ticks; /* when the real call began, if it is the outermost and counted */
	uint64_t stream;
	uint64_t context; /* the thread's own, before a call that may end it, and its device */
	int16_t device;
	uint16_t hook;
	bool driver_seen; /* a driver row was entered beneath */
	bool moved;       /* a row beneath has recorded */
	bool capturing;   /* the stream is captured: the call makes a node of a graph */
	bool ended;       /* `event` and `was` hold what a failed call must undo */
	bool unknown;     /* the memory being freed was never seen */
	uint8_t end;      /* enum cuda_call_end */
	bool moving;      /* counted in usage_moving */
	bool stepping;    /* between usage_begin() and usage_end(): */
	uint8_t kind;     /* enum usage_kind */
	int16_t step_device;
	uint64_t first; /* handle of a function looked at or launched for the first time; or 0 */
	uint64_t stack_limit;   /* of a launch: bytes a thread had before; UINT64_MAX: unknown */
	uint64_t ended_context; /* 0: none; memory that was named in it is no more */
	struct event event;
	struct spool_node was;
};

/* cuda_call_nest.c: how calls nest. */
void cuda_call_enter(struct cuda_call *span, enum hook_id hook, void *caller, void **frame);
void cuda_call_leave(struct cuda_call *span);

/* In a child: the calls under way on this thread are its parent's. */
void cuda_call_forked(void);

/* Costs no call and three comparisons where recording is off. */
static inline __attribute__((always_inline)) bool cuda_call_wanted(void)
{
	int state = atomic_load_explicit(&record_state, memory_order_acquire);

	if (__builtin_expect(state == RECORD_ON, 1))
		return true;
	if (state == RECORD_ASLEEP)
		return record_wake();
	if (state == RECORD_ENDED)
		record_missed();
	return false;
}

/* Left also by a C++ exception, pthread_exit or cancellation (-fexceptions). */
#define SPAN(span, hook, caller)                                         \
	__attribute__((cleanup(cuda_call_leave))) struct cuda_call span; \
	cuda_call_enter(&span, hook, caller, __builtin_frame_address(0))

#pragma GCC visibility push(hidden)
extern _Thread_local struct cuda_call_top cuda_call_top;
extern atomic_bool cuda_call_apart; /* a call was seen whose outer one may lie on another stack */
extern _Thread_local const char
	*cuda_call_growing; /* memtrace_pool_grow(): the pool's name, or NULL */
#pragma GCC visibility pop

/* Around the real call, which is the host's. */
static inline void cuda_call_time(struct cuda_call *span)
{
	watch_path(NULL);
	watch_host(hooks[span->hook].name);
	span->ticks = span->outer ? 0 : calls_begin();
	overhead_leave(SPOOL_COST_DRIVER, false, false);
}

static inline void cuda_call_timed(const struct cuda_call *span, int status)
{
	overhead_enter(false);
	watch_path(hooks[span->hook].name);
	if (span->ticks)
		calls_note((enum hook_id)span->hook, span->ticks, status);
}

/* The words of hooks.def; `status` is the real call's answer, 0 for success. The address or handle
 * that a failed call returned is 0. */

struct cuda_call_memory {
	enum node_kind kind; /* the key space */
	enum space space;
	uint8_t flags; /* enum event_flags */
	bool ordered;  /* of the stream-ordered `pool` */
	bool placed;   /* on `device`; else on the thread's, and ends with its context */
	int device;
	uint64_t key, size, pool;
};

/* cuda_call.c: memory by address, and arrays by handle. */
void cuda_call_take(struct cuda_call *span, int status, const struct cuda_call_memory *memory);
void cuda_call_end(struct cuda_call *span, enum cuda_call_end end, enum node_kind kind,
		   uint64_t key);
void cuda_call_ended(struct cuda_call *span, int status);
void cuda_call_sampled(struct cuda_call *span, int status);

/* cuda_call_pool.c: stream-ordered memory and graphs. */
void cuda_call_alloc_async(struct cuda_call *span, int status, uint64_t ptr, uint64_t size);
void cuda_call_import_block(struct cuda_call *span, int status, uint64_t ptr, uint64_t pool);
void cuda_call_pool_ending(uint64_t pool);
/* Samples the bytes that the pool reserves. A pool that is destroyed lives on until its last block
 * is freed, but must not be asked: its number may be another's. */
void cuda_call_pool_sampled(struct cuda_call *span, int status, uint64_t pool, bool destroyed);
void cuda_call_graph_node(struct cuda_call *span, int status, int device, uint64_t size);
void cuda_call_graph_sampled(struct cuda_call *span, int status);

/* Also in cuda_call_pool.c: virtual memory management, and imported memory (IPC). */
void cuda_call_create(struct cuda_call *span, int status, uint64_t handle, uint64_t size,
		      int device);
void cuda_call_multicast(struct cuda_call *span, int status, uint64_t handle);
void cuda_call_retain(struct cuda_call *span, int status, uint64_t handle, uint64_t ptr);
void cuda_call_import(struct cuda_call *span, int status, enum node_kind kind, uint64_t key);
void cuda_call_map(struct cuda_call *span, int status, uint64_t ptr, uint64_t size,
		   uint64_t handle); /* 0: unmapped */

/* cuda_call_context.c: contexts, and what ends with them. */
void cuda_call_context_made(struct cuda_call *span, int status);
void cuda_call_context_ended(struct cuda_call *span, int status, uint64_t context);
void cuda_call_primary_retained(struct cuda_call *span, int status, uint64_t context, int device);
void cuda_call_primary_released(struct cuda_call *span, int status, int device);
void cuda_call_primary_ended(struct cuda_call *span, int status, int device);
void cuda_call_reset_done(struct cuda_call *span, int status);

/* --- how large arrays are, in bytes: what their format and extent need (array.c) --- */

/*
 * No call tells how much the driver really takes (tiles, padding, granules) for an array that has
 * its own memory: cuArrayGetMemoryRequirements is for CUDA_ARRAY3D_DEFERRED_MAPPING alone (cuda.h,
 * CUDA 13.0). Sparse and deferred arrays have no memory of their own: 0. NULL gives 0.
 */
uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned int levels);
uint64_t array_flat_bytes(const CUDA_ARRAY_DESCRIPTOR *shape);

/* The same for an array as the runtime describes it. */
uint64_t array_runtime_bytes(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
			     unsigned int flags, unsigned int levels);
