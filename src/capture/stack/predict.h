/*
 * Predicts a thread's next walk from earlier walks and checks the prediction against the stack:
 * about 1 ns a frame, as no rule (cfi_walk.h) is looked up.
 *
 * Programs repeat themselves: after the same series of walks, at the same place in Python, a thread
 * makes the same walk again (99 of 100 walks in a transformer's eager-mode step). A path holds the
 * words of the stack on which a walk depended, and their positions. If the stack has all these
 * words again, the walk must be the same; a wrong prediction is noticed and costs only time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack/cfi_walk.h"

enum {
	PREDICT_PATHS = 2048,
	PREDICT_WAYS = 4,    /* paths in a set; the hash of a walk chooses the set */
	PREDICT_WORDS = 97,  /* maximum number of words in a path; longer walks get no path */
	PREDICT_NEXT = 8192, /* predict_next entries; the history of walks chooses a set of them */
	PREDICT_SET = 4,     /* entries in a set, which is one cache line */
};

/* A word of the stack; `place` is its distance from the path's start.stack, in words. */
struct predict_word {
	uint64_t place : 16;
	uint64_t saved : 1; /* the word is a saved frame pointer, not a return address */
	uint64_t value : 47;
};

struct predict_path {
	struct step_start start;
	struct hash128 hash; /* step_hash() of the return addresses */
	uint32_t generation; /* 1 + predict_memory.generation if the path is valid */
	uint16_t words;
	uint16_t beyond; /* if `cut`: words from start.stack to the loop's return address */
	bool cut;        /* the walk ends at Python's evaluation loop */
	bool by_frame;   /* the path is valid only if the frame pointer is start.frame */
	struct predict_word word[PREDICT_WORDS];
};

_Static_assert(sizeof(struct predict_path) == 13 * 64,
	       "a path needs an odd number of cache lines, so that paths use all cache sets");

/* The walk expected after a history of walks. Caches the number of the whole stack (with Python's
 * frames): a look-up in the table of all stacks takes four loads from memory. */
struct predict_next {
	uint64_t sum;   /* identifies the whole stack */
	uint32_t stack; /* number of the whole stack, 0 if unknown */
	uint16_t tag;   /* hash of the history and the Python frames */
	uint16_t path;  /* index of the expected path */
};

/* The state that walks leave for later walks. All zeros before the first walk. */
struct predict_memory {
	uint64_t low, high;  /* addresses of Python's evaluation loop */
	uint64_t word;       /* the paths are valid while unload_word() returns this */
	uint32_t history;    /* hash of the paths of the last walks */
	uint32_t generation; /* raised by predict_forget() */
	uint32_t way;        /* counter that chooses the entry or path to replace */
	uint16_t tag;        /* hash of history and Python frames, for the entry `expected` */
	struct predict_next *expected;
	_Alignas(64) struct predict_next next[PREDICT_NEXT];
	_Alignas(64) struct predict_path paths[PREDICT_PATHS];
};

/*
 * Predicts the walk from `start` out to Python's evaluation loop, whose code is [low, high), or to
 * the stack's end if low == high, and checks the prediction. `context`: a hash of the thread's
 * Python frames. Returns a path that belongs to `memory`. NULL if the prediction is wrong or there
 * is none: the caller should then walk and call predict_learn().
 */
const struct predict_path *predict(struct predict_memory *memory, const struct step_start *start,
				   uint64_t low, uint64_t high, uint32_t context);

/* Stores the walk that was made after predict() returned NULL as a path, which memory->expected
 * predicts from then on. False if that is impossible: the walk is not `whole`, or is too long. */
bool predict_learn(struct predict_memory *memory, const struct step_walk *walk);

/* Prefetches the first 40 words of a path; most paths have no more. */
static inline void predict_fetch(const struct predict_path *path)
{
	for (unsigned i = 0; i < 40; i += 8)
		__builtin_prefetch(&path->word[i]);
}

/* The set of entries for the last walks (memory->history); memory->tag selects one of the set. */
static inline struct predict_next *predict_set(struct predict_memory *memory)
{
	size_t set = (memory->history * 0x9e3779b1u >> 16) % (PREDICT_NEXT / PREDICT_SET);

	return &memory->next[set * PREDICT_SET];
}

/* After a walk: prefetches the path that the next walk is expected to take. */
static inline void predict_ahead(struct predict_memory *memory)
{
	const struct predict_path *path = &memory->paths[predict_set(memory)->path];

	__builtin_prefetch(path);
	predict_fetch(path);
}

/* Writes the path's return addresses to `addresses`, innermost first, and returns their number. */
size_t predict_list(const struct predict_path *path, void **addresses);

void predict_forget(struct predict_memory *memory);
