/*
 * A writer of pickles: protocol 4, with only those opcodes that PyTorch's viewer reads
 * (torch/utils/viz/MemoryViz.js, unpickle()).
 *
 * Dictionaries and lists are opened and closed. A text that was written before becomes a reference
 * to the first; other values can be remembered and referred to as well. Opcodes: the Python
 * library's pickletools.py.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/map.h"
#include "base/text/out.h"

enum { PICKLE_DEEPEST = 8 }; /* lists inside lists */

struct pickle {
	struct out *out;
	struct map texts; /* hash of a text: 1 + its number in the reader's memo */
	uint32_t memo;    /* number of entries in the reader's memo */
	bool no_memory;
	unsigned depth;
	size_t items[PICKLE_DEEPEST]; /* items written so far, for each open list */
};

void pickle_start(struct pickle *pickle, struct out *out);

/* 0 or -errno with err_text(). */
int pickle_end(struct pickle *pickle);

void pickle_dict(struct pickle *pickle);
void pickle_dict_end(struct pickle *pickle);

/* pickle_item() is called before each item, so that a long list is appended in batches. */
void pickle_list(struct pickle *pickle);
void pickle_item(struct pickle *pickle);
void pickle_list_end(struct pickle *pickle);

void pickle_u64(struct pickle *pickle, uint64_t value);
void pickle_bool(struct pickle *pickle, bool value);

/* Invalid UTF-8 becomes U+FFFD. */
void pickle_text(struct pickle *pickle, const char *text);

/* Numbers the value just written; pickle_again() writes a reference to that number. */
uint32_t pickle_remember(struct pickle *pickle);
void pickle_again(struct pickle *pickle, uint32_t number);

/* Writes the tuple (0, 0). */
void pickle_pair_of_zeros(struct pickle *pickle);
