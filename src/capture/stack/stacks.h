/*
 * This thread's stack as one number: native frames out to Python's evaluation loop, then Python's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/recorder/record.h"
#include "codec/event.h"
#include "spool/layout.h"

/*
 * The stack from `caller` (a return address of the host, the innermost frame that counts) outwards:
 * its position in the spool's stacks, 0 when there is no room. `may_load`: the loader may be asked
 * for new modules (not inside PyTorch's report, where only an unknown address makes it so). `frame`
 * is the frame address of our function that returns there, NULL if nobody knows: with it the walk
 * is cheap (step.h). Without stacks it is the caller's frame alone, which still tells the owner.
 *
 * The host's stack may be as small as PTHREAD_STACK_MIN or MINSIGSTKSZ, so what is large lies
 * elsewhere. Measured by tests/e2e/stack/smallstack.sh (gcc 12, x86-64): a hooked call takes 1.2
 * KiB of the stack more than the call itself, 6 KiB with a native walk (libunwind's part is 3 KiB
 * of it), and the first of a process, which makes the files, 12 KiB in all.
 */
uint32_t stacks_capture(void *caller, void *const *frame, bool may_load);

/* In a forked child: what other threads of the parent were using is free. */
void stacks_forked(void);

/* The base name of the library that asked, "" when nobody knows; needs no spool, and is slow. */
void stacks_owner(char *name, size_t size, void *caller);

/* --- blocks of a backward pass, whose threads run no Python: autograd.c --- */

/* Stacks, 0 for none. */
struct autograd_via {
	uint32_t forward;  /* of the operator whose node runs on this thread, as far as is known */
	uint32_t backward; /* of who called backward() */
};

/* Looks for what PyTorch offers; like torch_prepare(), never inside PyTorch's report. */
void autograd_prepare(void);

/* This thread allocates with this stack, which has Python frames. */
void autograd_forward(uint32_t stack);

/* For a thread without Python frames. */
struct autograd_via autograd_via(void);

/* The recording is another: stacks of the last one mean nothing. */
void autograd_clear(void);

/*
 * --- How much of a memory call is told: all of it, or only what the sums need (sampling.c) ---
 *
 * The ledger takes every call in. While events are off (memtrace_stop) none is written; with
 * MEMTRACE_FILTER those that match, each block's beginning and end alike. What is not written needs
 * no stack, which is what costs: so the question comes before the stack is taken, with what is
 * known by then.
 *
 * With MEMTRACE_SAMPLE all events are written, but only the samples take a stack; what is left goes
 * under a pseudo-stack, so that every sum still has all its bytes. Frees take no stack then.
 */

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
