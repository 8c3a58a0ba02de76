/*
 * The walk that is expected next, compared with the stack at once: about 1 ns a frame, and without
 * a rule being looked for.
 *
 * Programs repeat themselves: behind the same walks of a thread, at the same line of Python, comes
 * the same one (of a transformer's eager step 99 of 100). A path keeps the words of the stack that
 * decided a walk, and where they lay; where all of them are there again, so is the walk. How a path
 * was chosen does not matter for that: a wrong guess costs time, nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/stack/step.h"

enum {
	PREDICT_PATHS = 2048,
	PREDICT_WAYS = 4,    /* places that a walk may be kept at */
	PREDICT_WORDS = 97,  /* of a path; walks that need more are not kept */
	PREDICT_NEXT = 8192, /* by what came before */
	PREDICT_SET = 4,     /* of them share a line, and what falls there */
};

/* What lies in the stack, and where: in words from start.stack. */
struct predict_word {
	uint64_t place : 16;
	uint64_t saved : 1; /* no return address, but a frame pointer that is used */
	uint64_t value : 47;
};

struct predict_path {
	struct step_start start;
	struct hash128 hash; /* of the addresses: step_hash() */
	uint32_t generation; /* holds if it is the memory's and one more */
	uint16_t words;
	uint16_t beyond; /* where the word lies that leads into the evaluation loop */
	bool cut;        /* there is one */
	bool by_frame;   /* the start's frame pointer counts, too */
	struct predict_word word[PREDICT_WORDS];
};

_Static_assert(sizeof(struct predict_path) == 13 * 64,
	       "an odd number of lines: other sets of the cache");

/* What is expected behind some walks, and the number that the whole stack had, Python's part
 * included: a line that is here already, where a table of all stacks is four loads away. */
struct predict_next {
	uint64_t sum;   /* of the whole stack */
	uint32_t stack; /* 0: not known */
	uint16_t tag;   /* of what came before */
	uint16_t path;
};

/* What a thread's walks leave for those to come. Zeroed before the first. */
struct predict_memory {
	uint64_t low, high; /* the evaluation loop */
	uint64_t word;      /* unload_word() */
	uint32_t history;   /* of the last walks */
	uint32_t generation;
	uint32_t way; /* that gives way next */
	uint16_t tag; /* of this time, and where it is or belongs: */
	struct predict_next *expected;
	_Alignas(64) struct predict_next next[PREDICT_NEXT];
	_Alignas(64) struct predict_path paths[PREDICT_PATHS];
};

/*
 * The path that a walk from this start goes, out to [low, high) as in step_walk(), or NULL: then
 * that is to be asked, and predict_learn() told. `context`: what else tells where the program is.
 */
const struct predict_path *predict(struct predict_memory *memory, const struct step_start *start,
				   uint64_t low, uint64_t high, uint32_t context);

/*
 * The walk that came after predict() had said NULL. False if it is none that is kept; else
 * memory->expected is its own, as that of the walk is which predict() knew.
 */
bool predict_learn(struct predict_memory *memory, const struct step_walk *walk);

/* The lines that most paths fill, before the first of them has come. */
static inline void predict_fetch(const struct predict_path *path)
{
	for (unsigned i = 0; i < 40; i += 8)
		__builtin_prefetch(&path->word[i]);
}

/* Those that what comes next is looked for in; which of them, the line of Python says. */
static inline struct predict_next *predict_set(struct predict_memory *memory)
{
	size_t set = (memory->history * 0x9e3779b1u >> 16) % (PREDICT_NEXT / PREDICT_SET);

	return &memory->next[set * PREDICT_SET];
}

/* Behind a walk: what the next one is expected to go by, asked for while others compute. */
static inline void predict_ahead(struct predict_memory *memory)
{
	const struct predict_path *path = &memory->paths[predict_set(memory)->path];

	__builtin_prefetch(path);
	predict_fetch(path);
}

/* The path's addresses, innermost first: how many there are. */
size_t predict_list(const struct predict_path *path, void **addresses);

/* No path holds any more. */
void predict_forget(struct predict_memory *memory);
