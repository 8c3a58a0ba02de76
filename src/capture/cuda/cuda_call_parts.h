/*
 * What the parts of a span share: who called, was it counted beneath, what failed.
 */
#ifndef CAPTURE_CUDA_CUDA_CALL_PARTS_H
#define CAPTURE_CUDA_CUDA_CALL_PARTS_H

#include "capture/cuda/cuda_call.h"

/* Does this row record, or one above or beneath it? `status` is the real call's answer. */
bool span_counts(const struct span *span, int status);

/* Has it been recorded beneath already? Asked before record_begin(), which counts what it refuses.
 */
static inline bool span_is_told(const struct span *span)
{
	return span->moved || (hooks[span->hook].api == RT && span->driver_seen);
}

/* This call has recorded: those around it need not. */
void span_moved(struct span *span);

/*
 * An event with all that the span knows; takes the stack, unless events are off: then only who
 * asked for the memory is found out, which tells a pool's segment from other memory.
 */
void span_describe(const struct span *span, struct event *event);

/*
 * The same in two steps for what begins or ends a block: all but the stack, then, with the event's
 * size and device filled in (its address, for an end), the stack, as far as it is wanted.
 */
void span_describe_bare(const struct span *span, struct event *event);
void span_choose_birth(const struct span *span, struct event *event);
void span_choose_end(const struct span *span, struct event *event, enum node_kind kind);

/* With the lock held: the event goes into the ledger as an allocation of who asked. */
void span_enter_memory(struct event *event, enum node_kind kind, uint64_t link);

/* With the lock held: the name of the call that the program made; the library that asked. */
uint32_t span_api(const struct span *span);
uint32_t span_owner(const struct event *event);

/* Failures other than for want of memory are the program's own affair. */
bool span_no_event(int status);

/*
 * Out of memory is an event, or a retry if the asker is known to catch it. `ordered`: of a
 * stream-ordered pool.
 */
void span_failed(struct span *span, int status, enum space space, uint64_t size, int device,
		 bool ordered);

/* used.c: samples what the device says is occupied, not more often than it is worth. */
void span_sample_used(const struct span *span, int device);

/* The outermost one: what the program called. */
const struct span *span_root(const struct span *span);

/* span_context.c: is the process ending? Contexts that end now tell nothing. */
bool span_exiting(void);

/* What is to be entered in the ledger. */
struct span_memory {
	enum node_kind kind;
	enum space space;
	uint64_t key, size;
	uint8_t flags; /* enum event_flags */
};

/* A plain allocation of the current context; `status` as everywhere. */
void span_take(struct span *span, int status, const struct span_memory *memory);

/* Does a runtime row act by itself? Only once it was seen that no driver row is beneath. */
bool span_acts(const struct span *span);

/* span_pool.c: the sums of a stream-ordered pool as they were asked for. With the lock held. */
void span_sample_pool(const struct event *like, uint64_t reserved);

/* span_pool.c: what the device's pools reserve by now, ahead of a sample; and in a forked child. */
void span_refresh_pools(const struct span *span, int device);
void span_forget_pools(void);

/* span_pool.c: is nothing of the event's pool allocated? With the lock held. */
bool span_pool_is_empty(const struct event *event);

/* span_pool.c: after a free of what was never seen: false if no graph can have allocated it. */
bool span_sample_graphs(struct span *span);

#endif
