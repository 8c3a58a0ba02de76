/*
 * Walks this thread's call stack, from the hooked call outwards: native frames up to Python's
 * evaluation loop, then Python's frames. Each distinct stack has one number in the recording.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/guest/hot.h"
#include "capture/recorder/record.h"
#include "codec/event.h"
#include "spool/layout.h"

/*
 * Records this thread's stack from `caller` (a return address in the program, the innermost
 * recorded frame) outwards. Returns the stack's number in the spool (the recording's mapped file),
 * 0 if it could not be added. If `may_load` is false (while PyTorch reports an allocation), the
 * list of modules is read again only if it is too old for this stack. `frame` is the frame address
 * of our function that returns to `caller`, or NULL, which makes the walk slow (cfi_walk.h). With
 * MEMTRACE_STACKS=none the stack has only the caller's frame, whose library is the stack's owner.
 * Takes the recorder's lock.
 *
 * A thread's stack may be as small as PTHREAD_STACK_MIN or MINSIGSTKSZ, so large variables are not
 * placed on it. Measured by tests/e2e/stack/smallstack.sh (gcc 12, x86-64): a hooked call takes 1.2
 * KiB of stack more than the bare call, 6 KiB more if it walks native frames (libunwind takes 3 KiB
 * of that), and the process's first hooked call, which creates the files, 12 KiB in all.
 */
uint32_t stacks_capture(void *caller, void *const *frame, bool may_load);

/* In a forked child: frees the memory that walks of the parent's threads were using. */
void stacks_forked(void);

/* Copies to `name` the base name of the first library on the stack, from `caller` outwards, for
 * which modules_is_runtime() is false; "" if there is none. Works without a spool. Slow. */
void stacks_owner(char *name, size_t size, void *caller);

/* --- stacks of PyTorch's backward passes, whose threads run no Python: autograd.c --- */

/* Numbers of the two stacks that led to an allocation in a backward pass; 0 if unknown. */
struct autograd_via {
	uint32_t forward;  /* stack of the forward operator whose gradient is computed */
	uint32_t backward; /* stack of the call of backward() */
};

/* Looks up PyTorch's functions. Takes the loader's lock: not called while PyTorch reports an
 * allocation. */
void autograd_prepare(void);

/* Stores the Python stack of an allocation, for the backward pass of the running operator. */
void autograd_forward(uint32_t stack);

/* The two stacks that led to the current allocation on this thread, which runs no Python. */
struct autograd_via autograd_via(void);

/* Forgets all stack numbers, because a new recording with other numbers begins. */
void autograd_clear(void);

/*
 * --- which memory calls are written as events, and which take a stack: sampling.c ---
 *
 * Every call is added to the sums. While recording is stopped (memtrace_stop) no event is written;
 * with MEMTRACE_FILTER only matching allocations and their frees are written. An event that is not
 * written needs no stack, so none is taken if the filter can exclude the event without its stack.
 *
 * With MEMTRACE_SAMPLE all events are written, but only sampled allocations take a stack. Other
 * events get a pseudo-stack of one frame ("[not sampled]"), so that the sums by stack are complete.
 */

void sampling_init(void);

extern uint64_t sampling_interval; /* mean bytes between two sampled blocks; 0: no sampling */

/* Reasons for not taking a stack. For each reason there is a pseudo-stack, recorded instead. */
enum stacks_reason {
	STACKS_STOPPED,   /* recording is stopped; GPU memory without owner gets stack 0 instead */
	STACKS_FILTERED,  /* MEMTRACE_FILTER excludes the event */
	STACKS_NO_SAMPLE, /* MEMTRACE_SAMPLE did not choose the event */
	STACKS_REASONS
};

/*
 * The number of the pseudo-stack (a stack with one frame such as "[not sampled]") that replaces a
 * stack not taken for `reason`. If `caller` is not NULL, the pseudo-stack's owner is the library
 * that made the call: the one at `caller` or, if that is the CUDA runtime, the one a walk finds.
 */
uint32_t stacks_none(enum stacks_reason reason, enum space space, void *caller, void *const *frame);

/* In a forked child: forgets the pseudo-stacks' numbers, which differ in the child's spool. */
void sampling_forked(void);

/* Facts on a memory call before its stack is taken, in addition to the event's fields. */
struct sampling_call {
	void *caller;
	void *const *frame;  /* the hook's frame address, or NULL */
	const char *pool;    /* name of the memory's pool, NULL if unknown */
	bool may_load;       /* the list of modules may be read again */
	bool driver;         /* driver allocation: its owner is found even if no stack is taken */
	bool unknown_device; /* event->device is not set yet */
};

/* True if MEMTRACE_FILTER or MEMTRACE_SAMPLE is set. Set by sampling_init(). */
extern bool sampling_asks;

/* True if the stack of an allocation or a free must be taken. Otherwise sets event->stack. */
bool sampling_wants_birth(struct event *event, const struct sampling_call *call);
bool sampling_wants_end(struct event *event, enum node_kind kind, const struct sampling_call *call);

/* Sets an allocation's event->stack and its flags `untold` (not written) and `sampled`; event->size
 * and event->space must be set. Inlined: unwinding one more frame costs 100 instructions. */
static INLINED void sampling_birth(struct event *event, const struct sampling_call *call)
{
	if ((!sampling_asks && !record_quiet()) || sampling_wants_birth(event, call))
		event->stack = stacks_capture(call->caller, call->frame, call->may_load);
}

/* Sets event->stack of a free; event->ptr must be set, and call->pool for a block of a pool. */
static INLINED void sampling_end(struct event *event, enum node_kind kind,
				 const struct sampling_call *call)
{
	if ((!sampling_asks && !record_quiet()) || sampling_wants_end(event, kind, call))
		event->stack = stacks_capture(call->caller, call->frame, call->may_load);
}

/* Sets event->untold (not written) if MEMTRACE_FILTER excludes the event; all other fields must be
 * set. Called with the recorder's lock held, before ledger_enter() and any change of a sum. */
void sampling_told(struct event *event);
