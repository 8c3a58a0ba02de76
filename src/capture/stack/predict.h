/*
 * Predicts the next walk and compares it with the stack: about 1 ns a frame, without looking for a
 * rule.
 *
 * Programs repeat themselves: after the same walks of a thread, at the same line of Python, the
 * same walk comes (99 of 100 in a transformer's eager step). A path keeps the words of the stack
 * that decided a walk, and their places; where all of them are there again, the walk is the same.
 * How the path was chosen does not matter for that: a wrong guess only costs time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack/step.h"

enum {
	PREDICT_PATHS = 2048,
	PREDICT_WAYS = 4,    /* places at which a walk may be kept */
	PREDICT_WORDS = 97,  /* of a path; walks that need more are not kept */
	PREDICT_NEXT = 8192, /* entries, found by the history */
	PREDICT_SET = 4,     /* entries in one cache line, which is a set */
};

/* A word of the stack and its place, in words from start.stack. */
struct predict_word {
	uint64_t place : 16;
	uint64_t saved : 1; /* a frame pointer that is used, not a return address */
	uint64_t value : 47;
};

struct predict_path {
	struct step_start start;
	struct hash128 hash; /* of the addresses: step_hash() */
	uint32_t generation; /* valid if it is 1 + the memory's */
	uint16_t words;
	uint16_t beyond; /* place of the word that leads into the evaluation loop */
	bool cut;        /* there is such a word */
	bool by_frame;   /* the start's frame pointer must be the same, too */
	struct predict_word word[PREDICT_WORDS];
};

_Static_assert(sizeof(struct predict_path) == 13 * 64,
	       "an odd number of lines: other sets of the cache");

/* The walk expected after a history, and the number of the whole stack, Python's part included:
 * this line is in the cache already, while a table of all stacks is four loads away. */
struct predict_next {
	uint64_t sum;   /* of the whole stack */
	uint32_t stack; /* 0: not known */
	uint16_t tag;   /* of the history */
	uint16_t path;
};

/* The state that a thread's walks leave for the next ones. Zeroed before the first. */
struct predict_memory {
	uint64_t low, high; /* the evaluation loop */
	uint64_t word;      /* unload_word() */
	uint32_t history;   /* of the last walks */
	uint32_t generation;
	uint32_t way; /* the entry or path that is replaced next */
	uint16_t tag; /* of this walk; `expected` is its entry, or the place for it */
	struct predict_next *expected;
	_Alignas(64) struct predict_next next[PREDICT_NEXT];
	_Alignas(64) struct predict_path paths[PREDICT_PATHS];
};

/*
 * The path of a walk from this start, out to [low, high) as in step_walk(). NULL if none is known:
 * then the caller walks itself and calls predict_learn(). `context`: a hash of other facts about
 * the program's place (the line of Python).
 */
const struct predict_path *predict(struct predict_memory *memory, const struct step_start *start,
				   uint64_t low, uint64_t high, uint32_t context);

/* Keeps the walk that was made after predict() returned NULL. False if it is not kept; else
 * memory->expected is its entry, as after a walk that predict() knew. */
bool predict_learn(struct predict_memory *memory, const struct step_walk *walk);

/* Prefetches the cache lines that most paths fill. */
static inline void predict_fetch(const struct predict_path *path)
{
	for (unsigned i = 0; i < 40; i += 8)
		__builtin_prefetch(&path->word[i]);
}

/* The set of entries for the next walk; the line of Python chooses one of them. */
static inline struct predict_next *predict_set(struct predict_memory *memory)
{
	size_t set = (memory->history * 0x9e3779b1u >> 16) % (PREDICT_NEXT / PREDICT_SET);

	return &memory->next[set * PREDICT_SET];
}

/* After a walk: prefetches the path that the next one is expected to take. */
static inline void predict_ahead(struct predict_memory *memory)
{
	const struct predict_path *path = &memory->paths[predict_set(memory)->path];

	__builtin_prefetch(path);
	predict_fetch(path);
}

/* Fills in the path's addresses, innermost first, and returns their number. */
size_t predict_list(const struct predict_path *path, void **addresses);

/* Makes all paths invalid. */
void predict_forget(struct predict_memory *memory);
