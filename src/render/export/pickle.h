/*
 * A pickle, written by hand: protocol 4, with the opcodes that PyTorch's viewer reads and no others
 * (torch/utils/viz/MemoryViz.js, unpickle()).
 *
 * Dictionaries and lists are opened and closed; a text or a list that comes again is a reference to
 * the first. Opcodes: the Python library's pickletools.py.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem/map.h"
#include "base/text/out.h"

enum { PICKLE_DEEPEST = 8 }; /* lists within lists */

struct pickle {
	struct out *out;
	struct map texts; /* hash: 1 + number in the reader's memo */
	uint32_t memo;    /* how many things the reader's memo holds */
	bool no_memory;
	unsigned depth;
	size_t items[PICKLE_DEEPEST]; /* of each open list */
};

void pickle_start(struct pickle *pickle, struct out *out);

/* 0 or -errno with err_text(). */
int pickle_end(struct pickle *pickle);

void pickle_dict(struct pickle *pickle);
void pickle_dict_end(struct pickle *pickle);

/* Each item is announced: so that no list is built of too many at once. */
void pickle_list(struct pickle *pickle);
void pickle_item(struct pickle *pickle);
void pickle_list_end(struct pickle *pickle);

void pickle_u64(struct pickle *pickle, uint64_t value);
void pickle_bool(struct pickle *pickle, bool value);

/* In UTF-8; what is none becomes U+FFFD. */
void pickle_text(struct pickle *pickle, const char *text);

/* What was just written gets a number, under which it can come again. */
uint32_t pickle_remember(struct pickle *pickle);
void pickle_again(struct pickle *pickle, uint32_t number);

/* The pair (0, 0). */
void pickle_pair_of_zeros(struct pickle *pickle);
