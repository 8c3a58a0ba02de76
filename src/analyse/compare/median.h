/* The middle one of several values. */
#ifndef ANALYSE_COMPARE_MEDIAN_H
#define ANALYSE_COMPARE_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

/* Sorts the values; of an even number it is the lower one, of none 0. */
int64_t median_of(int64_t *values, size_t count);

#endif
