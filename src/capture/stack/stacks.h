/*
 * Walks this thread's call stack, from the hooked call outwards: native frames up to Python's
 * evaluation loop, then Python's frames. Each different stack has one number in the recording.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/recorder/record.h"
#include "codec/event.h"
#include "spool/layout.h"

/*
 * Takes this thread's stack from `caller` (a return address in the host program, the innermost
 * frame recorded) outwards. Returns its number in the spool (the mapped file of the recording), 0
 * if the spool is full. If `may_load` is false (inside PyTorch's report), the loader is asked for
 * new modules only if an address lies in no known one. `frame` is the frame address of our function
 * that returns to `caller`, or NULL; with it the walk is cheap (cfi_walk.h). With
 * MEMTRACE_STACKS=none the stack has the caller's frame alone, which gives the owner, its library.
 *
 * The host's stack may be as small as PTHREAD_STACK_MIN or MINSIGSTKSZ, so large variables are not
 * placed on it. Measured by tests/e2e/stack/smallstack.sh (gcc 12, x86-64): a hooked call takes 1.2
 * KiB of stack more than the call itself, 6 KiB more with a native walk (3 KiB of it is
 * libunwind's), and 12 KiB in all if it is the process's first, which creates the files.
 */
uint32_t stacks_capture(void *caller, void *const *frame, bool may_load);

/* In a forked child: makes walk memory usable again that the parent's other threads were using. */
void stacks_forked(void);

/* Finds the base name of the first library from `caller` outwards that is not the CUDA runtime or
 * driver; "" if unknown. Needs no spool; slow. */
void stacks_owner(char *name, size_t size, void *caller);

/* --- stacks of PyTorch's backward passes, whose threads run no Python: autograd.c --- */

/* Numbers of the two stacks that led to an allocation in a backward pass; 0 if unknown. */
struct autograd_via {
	uint32_t forward;  /* stack of the forward operator whose gradient is computed */
	uint32_t backward; /* stack of the call of backward() */
};

/* Looks up PyTorch's functions. Not inside PyTorch's report, as it may take the loader's lock. */
void autograd_prepare(void);

/* Notes that this thread, at this stack in Python, allocates: later backward passes refer to it. */
void autograd_forward(uint32_t stack);

/* The stacks that led to an allocation on this thread, which has no Python frames. */
struct autograd_via autograd_via(void);

/* Forgets all stack numbers, because a new recording with other numbers begins. */
void autograd_clear(void);

/*
 * --- which memory calls are written as events, and which take a stack: sampling.c ---
 *
 * Every call is added to the sums. While recording is stopped (memtrace_stop) no event is written;
 * with MEMTRACE_FILTER only those that match are, an allocation and its free alike. Taking a stack
 * is expensive, and an event that is not written needs none. So this is decided before the stack is
 * taken, by what is known of the event by then.
 *
 * With MEMTRACE_SAMPLE all events are written, but only sampled allocations take a stack. Other
 * events get a pseudo-stack with one frame such as "[not sampled]", so that the sums by stack have
 * all bytes.
 */

/* Reads MEMTRACE_SAMPLE and MEMTRACE_FILTER. */
void sampling_init(void);

extern uint64_t sampling_interval; /* mean bytes between samples; 0: no sampling */

/* Reasons for not taking a stack. A pseudo-stack for each is recorded instead. */
enum stacks_reason {
	STACKS_STOPPED,   /* recording is off; device memory of unknown owner gets stack 0 */
	STACKS_FILTERED,  /* MEMTRACE_FILTER excludes the event */
	STACKS_NO_SAMPLE, /* MEMTRACE_SAMPLE did not choose the event */
	STACKS_REASONS
};

/*
 * The pseudo-stack (a stack with one frame such as "[not sampled]") that replaces a stack not taken
 * for `reason`. If `caller` is not NULL, its owner is the library that made the call: the one at
 * the caller's address, or, if that is the CUDA runtime, the one that a walk finds.
 */
uint32_t stacks_none(enum stacks_reason reason, enum space space, void *caller, void *const *frame);

/* In a forked child: forgets the pseudo-stacks' numbers, which differ in the child's spool. */
void sampling_forked(void);

/* A memory call as far as it is known before its stack is taken, beside the event's fields. */
struct sampling_call {
	void *caller;
	void *const *frame;  /* the hook's frame address, or NULL */
	const char *pool;    /* name of the memory's pool, NULL while unknown */
	bool may_load;       /* the loader may be asked for new modules */
	bool driver;         /* memory from the driver: its owner is always looked up */
	bool unknown_device; /* event->device is not set yet */
};

/* True if MEMTRACE_FILTER or MEMTRACE_SAMPLE is set. Set by sampling_init(). */
extern bool sampling_asks;

/* True if the event's stack is to be taken; else event->stack is set, to a pseudo-stack or 0. */
bool sampling_wants_birth(struct event *event, const struct sampling_call *call);
bool sampling_wants_end(struct event *event, enum node_kind kind, const struct sampling_call *call);

/* Sets event->stack of an allocation, and its flags `untold` (not written) and `sampled`; its size
 * and space must be set. Inlined, because each frame costs 100 instructions to unwind. */
static inline __attribute__((always_inline)) void sampling_birth(struct event *event,
								 const struct sampling_call *call)
{
	if ((!sampling_asks && !record_quiet()) || sampling_wants_birth(event, call))
		event->stack = stacks_capture(call->caller, call->frame, call->may_load);
}

/* Sets event->stack of a free; event->ptr must be set, and call->pool for a block of a pool. */
static inline __attribute__((always_inline)) void
sampling_end(struct event *event, enum node_kind kind, const struct sampling_call *call)
{
	if ((!sampling_asks && !record_quiet()) || sampling_wants_end(event, kind, call))
		event->stack = stacks_capture(call->caller, call->frame, call->may_load);
}

/* Sets event->untold if MEMTRACE_FILTER excludes the event, all of whose fields must be set. With
 * the recorder's lock held, before ledger_enter() and before a sum changes because of the event. */
void sampling_told(struct event *event);
