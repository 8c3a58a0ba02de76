/*
 * This thread's stack as one number: native frames out to Python's evaluation loop, then Python's.
 */
#ifndef CAPTURE_STACK_STACKS_H
#define CAPTURE_STACK_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/event.h"

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

/* In a forked child: what other threads of the parent were using is free. stacks_forked() sees to
 * both. */
void stacks_forked(void);
void stacks_none_forked(void);

/* The base name of the library that asked, "" when nobody knows; needs no spool, and is slow. */
void stacks_owner(char *name, size_t size, void *caller);

#endif
