/*
 * Native return addresses by rules that are remembered for each: about 4 ns a frame.
 *
 * x86-64 only. A rule is read from the call frame information when its address is first met, and
 * must then lead where the unwinder went (step_learn). If a rule is missing the walk returns false,
 * and the unwinder must walk. No system call, no lock, and nothing is read that the unwinder would
 * not read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/hash.h"

enum { STEP_MOST = 256 }; /* frames of a walk */

/* The start of a walk: the return address of a function of ours, which keeps a frame pointer. */
struct step_start {
	uint64_t address, stack, frame;
};

/* The start at the function whose __builtin_frame_address(0) is given. */
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
		uint64_t saved; /* where the next frame's pointer was read, 0: kept */
		bool by_frame;  /* the rest of the walk depends on the frame pointer */
	} state[STEP_MOST + 1];
	uint32_t count;
	bool whole;  /* to the end, or to `low`; not cut at `most` */
	bool beyond; /* the entry after the last frame holds the frame at which the walk stopped */
	struct hash128 hash; /* of the addresses */
};

/* Walks from the start outwards, at most `most` frames, up to the first whose call lies in
 * [low, high). False if some rule is missing. */
bool step_walk(struct step_walk *walk, const struct step_start *start, uint64_t low, uint64_t high,
	       size_t most);

/* The hash that a walk of these addresses has. */
struct hash128 step_hash(void *const *addresses, size_t count);

/*
 * Learns from the unwinder's walk from the start on; `whole` if it came to the end. Looks for rules
 * for new addresses, and drops those that lead elsewhere. Takes the loader's lock. False if there
 * was nothing to learn.
 */
bool step_learn(const struct step_start *start, void *const *addresses, size_t count, bool whole);

/* In a forked child: the thread that was learning is not in it. */
void step_forked(void);

/* --- the rule for one address, from its function's call frame information: cfi.c --- */

enum cfi_kind {
	CFI_OTHER, /* two registers do not suffice: the unwinder must walk */
	CFI_STACK, /* the canonical frame address is the stack pointer and an offset */
	CFI_FRAME, /* it is the frame pointer and an offset */
	CFI_END,   /* no caller: a program's or a thread's first function */
};

/* One word, so that it is never seen half written. On x86-64 the return address is always the word
 * below the canonical frame address. */
union cfi_rule {
	uint64_t word;
	struct {
		uint64_t known : 1;   /* 0 in an empty place */
		uint64_t kind : 2;    /* enum cfi_kind */
		uint64_t saved : 9;   /* words below it to the old frame pointer, 0: unchanged */
		uint64_t offset : 16; /* words */
		uint64_t tag : 36;    /* part of the address, to tell apart those of one line */
	};
};

/* The rule for a return address, CFI_OTHER also without an entry. Takes the loader's lock. */
union cfi_rule cfi_find(uint64_t address);
