/*
 * Shared by the parts of cuda_call.
 */
#pragma once

#include "capture/cuda/cuda_call.h"

/* Marks that this call has recorded: those around it need not. */
void cuda_call_moved(struct cuda_call *span);

/*
 * Fills in an event with all that the span has. Takes the stack, unless events are off: then it
 * only finds the library that asked for the memory, which tells a pool's segment from other memory.
 */
void cuda_call_describe(const struct cuda_call *span, struct event *event);

/* The stack of the call that the program made. */
uint32_t cuda_call_stack(const struct cuda_call *span);

/* With the lock held: the name of the call that the program made. */
uint32_t cuda_call_api(const struct cuda_call *span);

/*
 * True if this row is to enter the memory and there is some. A failure for want of memory is
 * recorded here: as an event, or as a retry if the asker is known to catch it. Other failures are
 * the program's own affair.
 */
bool cuda_call_begins(struct cuda_call *span, int status, const struct cuda_call_memory *memory);

/* Enters the event into the ledger as an allocation of the owner of its stack. */
void cuda_call_enter_memory(struct cuda_call *span, const struct cuda_call_memory *memory);

/* device_usage.c: samples the occupied memory, if a sample is due. */
void cuda_call_sample_used(const struct cuda_call *span, int device);

/* The outermost call, which the program made. */
const struct cuda_call *cuda_call_root(const struct cuda_call *span);

/* cuda_call_context.c: true while the process ends. Contexts that end now are not entered. */
extern atomic_bool cuda_call_exiting;

/* cuda_call_pool.c: the pool's name. With the lock held. */
uint32_t cuda_call_pool_text(uint64_t pool);

/* cuda_call_pool.c: enters the reserved bytes of a stream-ordered pool. With the lock held. */
void cuda_call_sample_pool(const struct event *like, uint64_t reserved);

/* cuda_call_pool.c: brings the reserved bytes of the device's pools up to date, before a sample;
 * and forgets the pools, in a forked child. */
void cuda_call_refresh_pools(const struct cuda_call *span, int device);
void cuda_call_forget_pools(void);

/* cuda_call_pool.c: true if nothing of the event's pool is allocated. With the lock held. */
bool cuda_call_pool_is_empty(const struct event *event);

/* cuda_call_pool.c: after a free of unknown memory: false if no graph can have allocated it. */
bool cuda_call_sample_graphs(const struct cuda_call *span);
