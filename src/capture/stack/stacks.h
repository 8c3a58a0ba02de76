/*
 * This thread's stack as one number: native frames out to Python's evaluation loop, then Python's.
 */
#pragma once

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
