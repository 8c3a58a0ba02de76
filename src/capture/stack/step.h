/*
 * Native return addresses by rules that are remembered for each: about 4 ns a frame.
 *
 * x86-64 only. A rule is read from the call frame information the first time its address is met and
 * must then lead where the unwinder has gone (step_learn). What no rule says is the unwinder's: the
 * walk gives up and says so. No system call, no lock, and nothing is read that the unwinder would
 * not read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/hash.h"

enum { STEP_MOST = 256 }; /* frames of a walk */

/* Where a walk begins: the return address of a function of ours, which keeps a frame pointer. */
struct step_start {
	uint64_t address, stack, frame;
};

/* That of the function whose __builtin_frame_address(0) this is. */
static inline struct step_start step_start(void *const *frame)
{
	return (struct step_start){
		.address = (uint64_t)(uintptr_t)frame[1],
		.stack = (uint64_t)(uintptr_t)(frame + 2),
		.frame = (uint64_t)(uintptr_t)frame[0],
	};
}

/* A walk: frame i was at address[i] with the registers in state[i]. */
struct step_walk {
	uint64_t address[STEP_MOST + 1];
	struct step_state {
		uint64_t stack, frame;
		uint64_t saved; /* where the frame pointer's value for the next was read, 0: kept */
		bool by_frame;  /* what follows depends on the frame pointer */
	} state[STEP_MOST + 1];
	uint32_t count;
	bool whole;          /* to the end, or to `low`; not cut at `most` */
	bool beyond;         /* behind the last frame lies one more, the one that was stopped at */
	struct hash128 hash; /* of the addresses */
};

/*
 * Walks from the start outwards, at most `most` frames, up to the first whose call lies in
 * [low, high). False if some rule is missing.
 */
bool step_walk(struct step_walk *walk, const struct step_start *start, uint64_t low, uint64_t high,
	       size_t most);

/* The hash that a walk of these addresses has. */
struct hash128 step_hash(void *const *addresses, size_t count);

/*
 * What the unwinder found from the start on, `whole` if it came to the end: rules are looked for,
 * and those that lead elsewhere are not used. The loader's lock is taken. False if there was
 * nothing to learn.
 */
bool step_learn(const struct step_start *start, void *const *addresses, size_t count, bool whole);

/* In a forked child: whoever was learning is not here. */
void step_forked(void);

/* --- rules, as a function's call frame information says them of one address: cfi.c --- */

enum cfi_kind {
	CFI_OTHER, /* not to be told by two registers: ask somebody else */
	CFI_STACK, /* the canonical frame address is the stack pointer and an offset */
	CFI_FRAME, /* it is the frame pointer and an offset */
	CFI_END,   /* nobody called: a program's or a thread's first function */
};

/*
 * One word, so that it is never seen half written. x86-64: the return address is the word below the
 * canonical frame address in all of them.
 */
union cfi_rule {
	uint64_t word;
	struct {
		uint64_t known : 1;   /* 0 in an empty place */
		uint64_t kind : 2;    /* enum cfi_kind */
		uint64_t saved : 9;   /* the frame pointer's old value is so many words below; 0: it
					 is as it was */
		uint64_t offset : 16; /* words */
		uint64_t tag : 36;    /* of the address, among others of the same line */
	};
};

/*
 * The rule at a return address, CFI_OTHER also if no table has an entry for it. The loader's lock
 * is taken.
 */
union cfi_rule cfi_find(uint64_t address);
