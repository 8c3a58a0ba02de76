/*
 * How much of a memory call is told: all of it, or only what the sums need.
 *
 * The ledger takes every call in. While events are off (memtrace_stop) none is written; with
 * MEMTRACE_FILTER those that match, each block's beginning and end alike. What is not written needs
 * no stack, which is what costs: so the question comes before the stack is taken, with what is
 * known by then.
 *
 * With MEMTRACE_SAMPLE all events are written, but only the samples take a stack; what is left goes
 * under a pseudo-stack, so that every sum still has all its bytes. Frees take no stack then.
 */
#pragma once

#include <stdbool.h>

#include "capture/recorder/record.h"
#include "capture/stack/stacks.h"
#include "codec/event.h"
#include "spool/layout.h"

/* Reads the settings. */
void sampling_init(void);

extern uint64_t sampling_interval; /* bytes from sample to sample; 0: there is no sampling */

/* Why a stack is not taken; each has a pseudo-stack in its place. */
enum stacks_reason {
	STACKS_STOPPED,   /* memtrace_stop(): of a device, without an owner, it is stack 0 */
	STACKS_FILTERED,  /* MEMTRACE_FILTER */
	STACKS_NO_SAMPLE, /* MEMTRACE_SAMPLE */
	STACKS_REASONS
};

/*
 * That pseudo-stack, of memory of the space. With a caller it has the library that asked as its
 * owner, which its address tells; only beneath a runtime that is not hooked a walk is needed for
 * that.
 */
uint32_t stacks_none(enum stacks_reason reason, enum space space, void *caller, void *const *frame);

/* In a forked child, whose stacks are others. */
void sampling_forked(void);

/* Who makes the call, and what is known of it beside the event's size and device. */
struct sampling_call {
	void *caller;
	void *const *frame;  /* as for stacks_capture() */
	const char *pool;    /* its name, NULL while it is not known */
	bool may_load;       /* as for stacks_capture() */
	bool driver;         /* of the driver's memory: who asked must be known in any case */
	bool unknown_device; /* the event's device is not known yet */
};

/* Does something have to be asked, or is every call told with its stack? Set by sampling_init(). */
extern bool sampling_asks;

/* Is the stack to be taken? If not, event->stack is what stands for it. As below. */
bool sampling_wants_birth(struct event *event, const struct sampling_call *call);
bool sampling_wants_end(struct event *event, enum node_kind kind, const struct sampling_call *call);

/*
 * The stack of an allocation, of which size and space are filled in; `untold` and `sampled`, too.
 * Inlined, like the next: a frame more costs 100 instructions to unwind.
 */
static inline __attribute__((always_inline)) void sampling_birth(struct event *event,
								 const struct sampling_call *call)
{
	if ((!sampling_asks && !record_quiet()) || sampling_wants_birth(event, call))
		event->stack = stacks_capture(call->caller, call->frame, call->may_load);
}

/* The stack of a free: event->ptr is filled in; `call` has the name of a block's pool. */
static inline __attribute__((always_inline)) void
sampling_end(struct event *event, enum node_kind kind, const struct sampling_call *call)
{
	if ((!sampling_asks && !record_quiet()) || sampling_wants_end(event, kind, call))
		event->stack = stacks_capture(call->caller, call->frame, call->may_load);
}

/* With the lock held and the event complete, its pool included: is it told? To be asked before
 * ledger_enter(), and before what is adjusted because of it. */
void sampling_told(struct event *event);
