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
 * Takes the stack from `caller` (a return address of the host, the innermost frame that counts)
 * outwards. Returns its position in the spool's stacks, 0 when there is no room. `may_load`: the
 * loader may be asked for new modules (false inside PyTorch's report, where it is asked only for an
 * unknown address). `frame` is the frame address of our function that returns to `caller`, or NULL
 * if it is not known; with it the walk is cheap (step.h). If no stacks are wanted, the result has
 * the caller's frame alone, which still gives the owner.
 *
 * The host's stack may be as small as PTHREAD_STACK_MIN or MINSIGSTKSZ, so large variables lie
 * elsewhere. Measured by tests/e2e/stack/smallstack.sh (gcc 12, x86-64): a hooked call takes 1.2
 * KiB of stack more than the call itself, 6 KiB with a native walk (3 KiB of it is libunwind's),
 * and the first of a process, which makes the files, 12 KiB in all.
 */
uint32_t stacks_capture(void *caller, void *const *frame, bool may_load);

/* In a forked child: rooms that other threads of the parent were using become free. */
void stacks_forked(void);

/* The base name of the library that asked, "" if it is not known. Needs no spool; slow. */
void stacks_owner(char *name, size_t size, void *caller);

/* --- blocks of a backward pass, whose threads run no Python: autograd.c --- */

/* Stacks, 0 for none. */
struct autograd_via {
	uint32_t forward;  /* of the operator whose node runs on this thread, as far as is known */
	uint32_t backward; /* of the caller of backward() */
};

/* Looks for PyTorch's functions; like torch_prepare(), never inside PyTorch's report. */
void autograd_prepare(void);

/* This thread allocates, and `stack` is its stack; does nothing if that has no Python frames. */
void autograd_forward(uint32_t stack);

/* The stacks behind an allocation on a thread without Python frames. */
struct autograd_via autograd_via(void);

/* A new recording begins: the numbers of the last one's stacks are forgotten. */
void autograd_clear(void);

/*
 * --- How much of a memory call is recorded: all of it, or only its part of the sums (sampling.c)
 * ---
 *
 * The ledger enters every call. While events are off (memtrace_stop) no event is written; with
 * MEMTRACE_FILTER only those that match, an allocation and its free alike. Taking the stack is what
 * costs, and an event that is not written needs none: so this is decided before, by the facts known
 * by then.
 *
 * With MEMTRACE_SAMPLE all events are written, but only the samples take a stack; the others go
 * under a pseudo-stack, so that every sum still has all its bytes. Frees take no stack then.
 */

/* Reads the settings. */
void sampling_init(void);

extern uint64_t sampling_interval; /* bytes from sample to sample; 0: there is no sampling */

/* Reasons for not taking a stack; each has a pseudo-stack. */
enum stacks_reason {
	STACKS_STOPPED,   /* memtrace_stop(): stack 0 for device memory without an owner */
	STACKS_FILTERED,  /* MEMTRACE_FILTER */
	STACKS_NO_SAMPLE, /* MEMTRACE_SAMPLE */
	STACKS_REASONS
};

/*
 * The pseudo-stack of that reason, for memory of the space. With a caller (not NULL) it has the
 * library that asked as its owner. The caller's address gives the library; only under a runtime
 * that is not hooked a walk is needed.
 */
uint32_t stacks_none(enum stacks_reason reason, enum space space, void *caller, void *const *frame);

/* In a forked child, where the numbers of pseudo-stacks are others. */
void sampling_forked(void);

/* The call's caller, and facts beside the event's size and device. */
struct sampling_call {
	void *caller;
	void *const *frame;  /* as for stacks_capture() */
	const char *pool;    /* its name, NULL while it is not known */
	bool may_load;       /* as for stacks_capture() */
	bool driver;         /* memory of the driver, whose owner must be known in any case */
	bool unknown_device; /* the event's device is not known yet */
};

/* False if every event is written with its stack. Set by sampling_init(). */
extern bool sampling_asks;

/* True if the stack is to be taken; if not, event->stack is set to its pseudo-stack. */
bool sampling_wants_birth(struct event *event, const struct sampling_call *call);
bool sampling_wants_end(struct event *event, enum node_kind kind, const struct sampling_call *call);

/* Sets the stack of an allocation, and `untold` and `sampled`; size and space must be set. Inlined,
 * like the next: one frame more costs 100 instructions to unwind. */
static inline __attribute__((always_inline)) void sampling_birth(struct event *event,
								 const struct sampling_call *call)
{
	if ((!sampling_asks && !record_quiet()) || sampling_wants_birth(event, call))
		event->stack = stacks_capture(call->caller, call->frame, call->may_load);
}

/* Sets the stack of a free; event->ptr must be set, and call->pool for a block of a pool. */
static inline __attribute__((always_inline)) void
sampling_end(struct event *event, enum node_kind kind, const struct sampling_call *call)
{
	if ((!sampling_asks && !record_quiet()) || sampling_wants_end(event, kind, call))
		event->stack = stacks_capture(call->caller, call->frame, call->may_load);
}

/* Sets event->untold if the complete event, its pool included, is not to be written. With the lock
 * held, before ledger_enter() and before sums are adjusted because of the event. */
void sampling_told(struct event *event);
