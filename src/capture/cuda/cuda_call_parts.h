/*
 * What the parts of a span share: who called, was it counted beneath, what failed.
 */
#ifndef CAPTURE_CUDA_CUDA_CALL_PARTS_H
#define CAPTURE_CUDA_CUDA_CALL_PARTS_H

#include "capture/cuda/cuda_call.h"

/* Does this row record, or one above or beneath it? `status` is the real call's answer. */
bool span_counts(const struct span *span, int status);

/* This call has recorded: those around it need not. */
void span_moved(struct span *span);

/*
 * An event with all that the span knows; takes the stack, unless events are off: then only who
 * asked for the memory is found out, which tells a pool's segment from other memory.
 */
void span_describe(const struct span *span, struct event *event);

/* With the lock held: the name of the call that the program made. */
uint32_t span_api(const struct span *span);

/*
 * Is it for this row to enter the memory, and is there any? That there was no more is told here:
 * other failures are the program's own affair (span_no_event()).
 */
bool span_begins(struct span *span, int status, const struct span_memory *memory);
bool span_no_event(int status);

/* Out of memory is an event, or a retry if the asker is known to catch it. */
void span_failed(struct span *span, const struct span_memory *memory);

/* The event goes into the ledger as an allocation of who asked. */
void span_enter_memory(struct span *span, const struct span_memory *memory);

/* device_usage.c: samples what the device says is occupied, not more often than it is worth. */
void span_sample_used(const struct span *span, int device);

/* The outermost one: what the program called. */
const struct span *span_root(const struct span *span);

/* cuda_call_context.c: is the process ending? Contexts that end now tell nothing. */
bool span_exiting(void);

/* cuda_call_pool.c: the pool's name. With the lock held. */
uint32_t span_pool_text(uint64_t pool);

/* cuda_call_pool.c: the sums of a stream-ordered pool as they were asked for. With the lock held.
 */
void span_sample_pool(const struct event *like, uint64_t reserved);

/* cuda_call_pool.c: what the device's pools reserve by now, ahead of a sample; and in a forked
 * child. */
void span_refresh_pools(const struct span *span, int device);
void span_forget_pools(void);

/* cuda_call_pool.c: is nothing of the event's pool allocated? With the lock held. */
bool span_pool_is_empty(const struct event *event);

/* cuda_call_pool.c: after a free of what was never seen: false if no graph can have allocated it.
 */
bool span_sample_graphs(const struct span *span);

#endif
