/*
 * Phases of one name: "epoch 3 step 17" and "epoch 3 step 18" are both "epoch # step #", and what
 * XLA notes after a name, which is of one compilation, is none of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { PHASE_FAMILY = 200 };

/* The name with a # for every run of digits and without notes, cut to size; its length. */
size_t phase_family(char *to, size_t size, const char *name);

/* The order of the families of two names, 0 for one family, without writing them down. */
int phase_family_order(const char *a, const char *b);

/* Has the name notes: "Thunk:#hlo_op=copy.1,unique_hlo_op_id=7#" (TraceMeEncode in XLA's
 * traceme_encode.h)? */
bool phase_is_noted(const char *name);

/* How much of the name stands before the number at its end, which people leave out: "step". */
size_t phase_stem(const char *name);
