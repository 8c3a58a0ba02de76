/* Functions that the files cuda_call*.c and device_usage*.c share. */
#pragma once

#include "capture/cuda/cuda_call.h"

/* Marks this call and its outer calls as recorded, so that none records the same memory again. */
void cuda_call_moved(struct cuda_call *span);

/* Fills in an event's time, thread, stream and stack. While events are off (memtrace_stop()), the
 * stack is a placeholder that only names the calling library (stacks_none()). */
void cuda_call_describe(const struct cuda_call *span, struct event *event);

/* Takes the stack of the outermost call, which the program made; returns the stack's number. */
uint32_t cuda_call_stack(const struct cuda_call *span);

/* The name (a text id) of the outermost call. Called with the recorder's lock held. */
uint32_t cuda_call_api(const struct cuda_call *span);

/*
 * True if the call succeeded, returned memory, and must record that memory itself, as no nested
 * call did. If the call failed for lack of memory (and was not an import), this is recorded: as a
 * retry if the calling framework is known to catch the failure, else as an out-of-memory event.
 */
bool cuda_call_begins(struct cuda_call *span, int status, const struct cuda_call_memory *memory);

/* Adds the memory to the ledger as an allocation by the calling library. */
void cuda_call_enter_memory(struct cuda_call *span, const struct cuda_call_memory *memory);

/* Samples the occupied bytes of the device if a sample is due (device_usage.c). */
void cuda_call_sample_used(const struct cuda_call *span, int device);

/* Samples the device's occupied bytes and its pools' reserved bytes, even if no sample is due. */
void cuda_call_sample_now(const struct cuda_call *span, int device);

/* The outermost call, which the program made. */
const struct cuda_call *cuda_call_root(const struct cuda_call *span);

/* True once exit() has begun: ends of contexts are no longer recorded, and no samples taken. */
extern atomic_bool cuda_call_exiting;

/* The name (a text id) of a stream-ordered pool. Called with the recorder's lock held. */
uint32_t cuda_call_pool_text(uint64_t pool);

/* Records the reserved bytes of the stream-ordered pool like->pool. The recorder's lock is held. */
void cuda_call_sample_pool(const struct event *like, uint64_t reserved);

/* cuda_call_refresh_pools() queries the driver for the reserved bytes of the device's
 * stream-ordered pools and records them. A forked child forgets all pools. */
void cuda_call_refresh_pools(const struct cuda_call *span, int device);
void cuda_call_forget_pools(void);

/* True if event->pool has no allocated bytes. Called with the recorder's lock held. */
bool cuda_call_pool_is_empty(const struct event *event);

/* Samples the memory of CUDA graphs. False if no graph allocates memory. */
bool cuda_call_sample_graphs(const struct cuda_call *span);
