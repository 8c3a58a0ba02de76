/*
 * Groups phases into families by name: "epoch 3 step 17" and "epoch 3 step 18" are in the family
 * "epoch # step #", but "x + 1" and "x + 2", whose numbers count no repetitions, are in two. Notes
 * that XLA adds to a name are ignored, because they differ between compilations.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PHASE_FAMILY = 200 };

/* The characters that may separate a word from a number that counts repetitions. */
#define PHASE_MARKS " _-:/=.[("

/* Writes a name's family, cut to `size` bytes: the name with # for each number that counts
 * repetitions, and without notes of XLA. Returns its length. */
size_t phase_family(char *to, size_t size, const char *name);

/* Compares two names' families as strcmp() does: 0 for "step 17" and "step 18", which share one. */
int phase_family_order(const char *a, const char *b);

/* True if the name has notes of XLA: "Thunk:#hlo_op=copy.1#" (XLA's traceme_encode.h). */
bool phase_is_noted(const char *name);

/* Returns the length of a name's stem: the name without notes of XLA, and without a number at its
 * end that counts repetitions and the marks before that number. It is 4 for "step 17". */
size_t phase_stem(const char *name);
