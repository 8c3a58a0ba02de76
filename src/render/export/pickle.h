/*
 * Writes Python objects as a pickle of protocol 4, with only those opcodes that PyTorch's viewer
 * reads (torch/utils/viz/MemoryViz.js, unpickle()).
 *
 * A text that was written before becomes a reference to its first copy; pickle_remember() and
 * pickle_again() do this for other values. The Python library's pickletools.py has the opcodes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/map.h"
#include "base/text/out.h"

enum { PICKLE_DEEPEST = 8 }; /* maximum depth of nested lists */

struct pickle {
	struct out *out;
	struct map texts; /* maps the hash of a text that was written to 1 + its memo number */
	uint32_t memo;    /* number of values that the reader has memoized */
	unsigned depth;
	size_t items[PICKLE_DEEPEST]; /* number of items so far in each list that has not ended */
};

void pickle_start(struct pickle *pickle, struct out *out);

/* Writes the end of the pickle and frees its memory. */
void pickle_end(struct pickle *pickle);

void pickle_dict(struct pickle *pickle);
void pickle_dict_end(struct pickle *pickle);

/* pickle_item() must be called before each item: it divides a long list into batches. */
void pickle_list(struct pickle *pickle);
void pickle_item(struct pickle *pickle);
void pickle_list_end(struct pickle *pickle);

void pickle_u64(struct pickle *pickle, uint64_t value);
void pickle_bool(struct pickle *pickle, bool value);

/* Writes a text, with U+FFFD in place of invalid UTF-8. */
void pickle_text(struct pickle *pickle, const char *text);

/* Returns a number for the value just written, for pickle_again() to write a reference to it. */
uint32_t pickle_remember(struct pickle *pickle);
void pickle_again(struct pickle *pickle, uint32_t number);

void pickle_pair_of_zeros(struct pickle *pickle);
