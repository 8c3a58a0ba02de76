/*
 * Records one hooked CUDA call of this thread, from its entry to its return.
 *
 * Calls nest: the runtime's cudaMalloc calls the driver's cuMemAlloc. The driver call changes the
 * ledger's sums; the outermost call gives the event its API name and its stack. A runtime call
 * changes sums only where its driver calls are not seen (runtime_counts in cuda_call.c).
 */
#pragma once

#include "base/guest/debug_checks.h"
#include "base/guest/hot.h"
#include "capture/loader/hooks.h"
#include "capture/recorder/record.h"

/* A thread's innermost hooked call. Its frame may be on another stack (a coroutine's), suspended or
 * abandoned, so cuda_call_nest.c checks that `span` still exists before reading `span`. */
struct cuda_call_top {
	struct cuda_call *span; /* NULL if there is no call; other members are then undefined */
	void **frame;           /* the wrapper's frame; while it exists, frame[1] is `caller` */
	void *caller;           /* return address of the wrapper */
	enum hook_id hook;
};

/* How a call gives up memory: a free, cuMemRelease or cuIpcCloseMemHandle. */
enum cuda_call_end { SPAN_FREE, SPAN_RELEASE, SPAN_CLOSE };

struct cuda_call {
	struct cuda_call *outer;     /* the hooked call that makes this call, NULL for none */
	struct cuda_call_top before; /* the thread's innermost call when this call began */
	void *caller;
	void **frame;
	uint64_t ticks; /* clock ticks when the real call began; 0 if nested or not timed */
	uint64_t stream;
	uint64_t context; /* the current context; set only by calls that may destroy it */
	int16_t device;   /* device of `context` */
	uint16_t hook;
	bool driver_seen; /* a hooked driver call was made inside this call */
	bool moved;       /* this call, or a call nested in it, was recorded */
	bool capturing;   /* the stream is being captured: the call only adds a node to a graph */
	bool ended;       /* the memory left the ledger; `event` and `was` can restore it */
	bool unknown;     /* the memory being freed is not in the ledger */
	uint8_t end;      /* a value of enum cuda_call_end */
	bool moving;      /* this call is counted in usage_moving (device_usage.h) */
	bool stepping;    /* usage_begin() was called, usage_end() not yet */
	uint8_t kind;     /* kind of the memory that the call may occupy: enum usage_kind */
	int16_t step_device;
	uint64_t first;       /* the key that usage_end() adds to usage_seen, 0 for none */
	uint64_t stack_limit; /* stack bytes per GPU thread before a launch; UINT64_MAX: unknown */
	uint64_t ended_context; /* context that the call destroyed, 0 for none */
	struct event event;     /* event of a call that frees memory (enum cuda_call_end) */
	struct spool_node was;  /* the freed memory's entry in the ledger before the call */
};

/* Begin and end a span, the record of one hooked call (cuda_call_nest.c). */
void cuda_call_enter(struct cuda_call *span, enum hook_id hook, void *caller, void **frame);
void cuda_call_leave(struct cuda_call *span);

/* In a forked child: calls under way on this thread record nothing, as the parent records them. */
void cuda_call_forked(void);

/* True if calls are being recorded. While recording is off, this costs only three comparisons. */
static INLINED bool cuda_call_wanted(void)
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

/* Declares a span that ends when the wrapper returns or is left by an exception, pthread_exit or a
 * cancellation (for which the library is compiled with -fexceptions). */
#define SPAN(span, hook, caller)                                         \
	__attribute__((cleanup(cuda_call_leave))) struct cuda_call span; \
	cuda_call_enter(&span, hook, caller, __builtin_frame_address(0))

#pragma GCC visibility push(hidden)
extern _Thread_local struct cuda_call_top cuda_call_top;
extern atomic_bool cuda_call_apart; /* set once an outer call may have been on another stack */
extern _Thread_local const char *cuda_call_growing; /* name of the pool that memtrace_pool_grow()
						       set for this thread, or NULL */
#pragma GCC visibility pop

/* cuda_call_time() and cuda_call_timed() are called right before and right after the real function,
 * so that its time does not count as this library's overhead. */
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

/* Functions for the macros in the columns `before` and `after` of hooks.def. `status` is the real
 * call's result, 0 for success. After a failed call, the address or handle passed is 0. */

struct cuda_call_memory {
	enum node_kind kind; /* whether `key` is an address, a handle or an array */
	enum space space;
	uint8_t flags; /* bits of enum event_flags */
	bool ordered;  /* the memory is from the stream-ordered `pool` */
	bool placed;   /* on `device`; otherwise in the current context, and freed with it */
	int device;
	uint64_t key, size, pool;
};

/* Allocations and frees of all kinds, and calls that do neither (cuda_call.c). */
void cuda_call_take(struct cuda_call *span, int status, const struct cuda_call_memory *memory);
void cuda_call_end(struct cuda_call *span, enum cuda_call_end end, enum node_kind kind,
		   uint64_t key);
void cuda_call_ended(struct cuda_call *span, int status);
void cuda_call_sampled(struct cuda_call *span, int status);

/* Stream-ordered memory, and memory that CUDA graphs allocate (cuda_call_async_pool.c). */
void cuda_call_alloc_async(struct cuda_call *span, int status, uint64_t ptr, uint64_t size);
void cuda_call_import_block(struct cuda_call *span, int status, uint64_t ptr, uint64_t pool);
void cuda_call_pool_ending(uint64_t pool);
/* Records the bytes that the pool reserves. A destroyed pool exists until its last block is freed,
 * but must not be queried: its handle may already belong to another pool. */
void cuda_call_pool_sampled(struct cuda_call *span, int status, uint64_t pool, bool destroyed);
void cuda_call_graph_node(struct cuda_call *span, int status, int device, uint64_t size);
void cuda_call_graph_sampled(struct cuda_call *span, int status);

/* Virtual memory management, and memory imported by IPC (cuda_call_async_pool.c). */
void cuda_call_create(struct cuda_call *span, int status, uint64_t handle, uint64_t size,
		      int device);
void cuda_call_multicast(struct cuda_call *span, int status, uint64_t handle);
void cuda_call_retain(struct cuda_call *span, int status, uint64_t handle, uint64_t ptr);
void cuda_call_import(struct cuda_call *span, int status, enum node_kind kind, uint64_t key);
void cuda_call_map(struct cuda_call *span, int status, uint64_t ptr, uint64_t size,
		   uint64_t handle); /* handle 0: the range was unmapped */

/* Contexts, and the memory that is freed with them (cuda_call_context.c). */
void cuda_call_context_made(struct cuda_call *span, int status);
void cuda_call_context_ended(struct cuda_call *span, int status, uint64_t context);
void cuda_call_primary_retained(struct cuda_call *span, int status, uint64_t context, int device);
void cuda_call_primary_released(struct cuda_call *span, int status, int device);
void cuda_call_primary_ended(struct cuda_call *span, int status, int device);
void cuda_call_reset_done(struct cuda_call *span, int status);

/* --- sizes of arrays in bytes (array.c) --- */

/* The bytes that the format and the extent need. 0 for NULL, for an unknown format, and for sparse
 * and deferred arrays, which have no memory of their own. The driver may add padding, but
 * reports how much only for deferred arrays (cuArrayGetMemoryRequirements, CUDA 13.0). */
uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned int levels);
uint64_t array_flat_bytes(const CUDA_ARRAY_DESCRIPTOR *shape);

/* array_bytes() for an array that the runtime API describes. */
uint64_t array_runtime_bytes(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
			     unsigned int flags, unsigned int levels);
