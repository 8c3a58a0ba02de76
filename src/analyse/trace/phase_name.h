/*
 * Groups phases into families by name: "epoch 3 step 17" and "epoch 3 step 18" are "epoch # step
 * #", but "x + 1" and "x + 2", whose numbers count nothing, stay two. Notes that XLA adds to a name
 * are left out, as they differ between compilations.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PHASE_FAMILY = 200 };

/* The marks that may stand between a word and the number of a repetition. */
#define PHASE_MARKS " _-:/=.[("

/* Writes a name's family, cut to size: a # for each number of a repetition, no notes of XLA.
 * Returns the family's length. */
size_t phase_family(char *to, size_t size, const char *name);

/* Compares the families of two names as strcmp() does: 0 if they are equal. */
int phase_family_order(const char *a, const char *b);

/* True if the name has notes of XLA: "Thunk:#hlo_op=copy.1#" (XLA's traceme_encode.h). */
bool phase_is_noted(const char *name);

/* The length of the name without notes of XLA, the number of a repetition at its end, and the marks
 * before this number: "step" for "step 17". */
size_t phase_stem(const char *name);
