/*
 * Walks the native stack by stored rules, one for each return address: about 4 ns a frame.
 *
 * x86-64 only. A rule gives the caller's registers. It is made from the call frame information
 * (DWARF) when its address is first met, and is checked against the unwinder's walk (step_learn()).
 * If a rule is missing, step_walk() returns false and the unwinder must walk. A walk by rules makes
 * no system call, takes no lock, and reads only memory that the unwinder would read as well.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/hash.h"

enum { STEP_MOST = 256 }; /* maximum number of frames in a walk */

/* The return address, stack pointer and frame pointer of a walk's first frame. */
struct step_start {
	uint64_t address, stack, frame;
};

/* A walk's start: the caller of the function whose __builtin_frame_address(0) is `frame`. */
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
		uint64_t saved; /* address at which the caller's frame pointer is saved, or 0 */
		bool by_frame;  /* true if the rest of the walk depends on `frame` */
	} state[STEP_MOST + 1];
	uint32_t count;
	bool whole;  /* false if the walk was ended by a missing rule or the limit `most` */
	bool beyond; /* true if the walk stopped at a frame in [low, high), at index `count` */
	struct hash128 hash; /* step_hash() of the return addresses */
};

/* Walks from `start` outwards through at most `most` frames, and stops before the first frame whose
 * call lies in [low, high). False if a rule is missing, or if rules must not be used. */
bool step_walk(struct step_walk *walk, const struct step_start *start, uint64_t low, uint64_t high,
	       size_t most);

struct hash128 step_hash(void *const *addresses, size_t count);

/*
 * Makes the missing rules for return addresses of the unwinder's walk from `start`. If a walk
 * by rules then differs from the unwinder's, the first wrong rule becomes CFI_OTHER. `whole`: true
 * if the walk reached the stack's end. Takes the loader's lock. False if no rule was made.
 */
bool step_learn(const struct step_start *start, void *const *addresses, size_t count, bool whole);

/* In a forked child: releases step_learn()'s lock, which another thread may have held. */
void step_forked(void);

/* --- the rule for one address, from its function's call frame information: cfi_read.c --- */

enum cfi_kind {
	CFI_OTHER, /* no other kind fits: only the unwinder can walk on */
	CFI_STACK, /* the canonical frame address is the stack pointer plus an offset */
	CFI_FRAME, /* the canonical frame address is the frame pointer plus an offset */
	CFI_END,   /* no caller: a program's or a thread's first function */
};

/* A rule, in one word so that no thread reads it half written. It needs no field for the return
 * address, which on x86-64 is always 8 bytes before the canonical frame address (CFA). */
union cfi_rule {
	uint64_t word;
	struct {
		uint64_t known : 1;   /* 0 in an empty entry of the table */
		uint64_t kind : 2;    /* enum cfi_kind */
		uint64_t saved : 9;   /* 8-byte words from saved frame pointer to CFA; 0: none */
		uint64_t offset : 16; /* 8-byte words from the register to the CFA */
		uint64_t tag : 36;    /* identifies the address within its line of the table */
	};
};

/* The rule for a return address; CFI_OTHER if its module has none. Takes the loader's lock. */
union cfi_rule cfi_find(uint64_t address);
