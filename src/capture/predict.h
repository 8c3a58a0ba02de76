/*
 * The walk that is expected next, compared with the stack at once: about 1 ns a frame, and without
 * a rule being looked for.
 *
 * Programs repeat themselves: behind the same walks of a thread, at the same line of Python, comes
 * the same one (of a transformer's eager step 99 of 100). A path keeps the words of the stack that
 * decided a walk, and where they lay; where all of them are there again, so is the walk. How a path
 * was chosen does not matter for that: a wrong guess costs time, nothing else.
 */
#ifndef CAPTURE_PREDICT_H
#define CAPTURE_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/step.h"

enum {
	PREDICT_PATHS = 512,
	PREDICT_WAYS = 4,    /* places that a walk may be kept at */
	PREDICT_WORDS = 102, /* of a path; walks that need more are not kept */
	PREDICT_NEXT = 8192,
};

struct predict_path {
	struct step_start start;
	struct hash128 hash; /* of the addresses: step_hash() */
	uint32_t generation; /* holds if it is the memory's and one more */
	uint16_t words;
	uint16_t frames;
	uint16_t beyond; /* where the word lies that leads into the evaluation loop */
	bool cut;        /* there is one */
	bool by_frame;   /* the start's frame pointer counts, too */
	uint8_t unused[12];
	uint16_t place[PREDICT_WORDS]; /* in words from start.stack; and PREDICT_SAVED */
	uint64_t value[PREDICT_WORDS];
};

_Static_assert(sizeof(struct predict_path) == 17 * 64,
	       "an odd number of lines: other sets of the cache");

/* What a thread's walks leave for those to come. Zeroed before the first. */
struct predict_memory {
	uint64_t low, high; /* the evaluation loop */
	uint64_t word;      /* unload_word() */
	uint32_t history;   /* of the last walks */
	uint32_t slot;      /* of next[]: what was expected this time */
	uint32_t generation;
	uint32_t way; /* that gives way next */
	uint16_t next[PREDICT_NEXT];
	_Alignas(64) struct predict_path paths[PREDICT_PATHS];
};

/*
 * The path that a walk from this start goes, out to [low, high) as in step_walk(), or NULL: then
 * that is to be asked, and predict_learn() told. `context`: what else tells where the program is.
 */
const struct predict_path *predict(struct predict_memory *memory, const struct step_start *start,
				   uint64_t low, uint64_t high, uint32_t context);

/* The walk that came after predict() had said NULL. */
void predict_learn(struct predict_memory *memory, const struct step_walk *walk);

/* The path's addresses, innermost first: path->frames of them. */
void predict_list(const struct predict_path *path, void **addresses);

/* No path holds any more. */
void predict_forget(struct predict_memory *memory);

#endif
