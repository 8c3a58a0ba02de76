/*
 * Phases of one family: "epoch 3 step 17" and "epoch 3 step 18" are both "epoch # step #". Notes
 * that XLA adds to a name differ between compilations and are left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PHASE_FAMILY = 200 };

/* The name with a # for every run of digits and without notes, cut to size; its length. */
size_t phase_family(char *to, size_t size, const char *name);

/* Compares the families of two names, without memory: 0 if they are one family. */
int phase_family_order(const char *a, const char *b);

/* True if the name has notes: "Thunk:#hlo_op=copy.1#" (XLA's traceme_encode.h). */
bool phase_is_noted(const char *name);

/* The length of the name without the number at its end, which people leave out: "step". */
size_t phase_stem(const char *name);
