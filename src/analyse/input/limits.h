/*
 * What a trace may ask of its reader, so that one that somebody sent cannot take all time and
 * memory: far more than any recording does. What is refused says that --no-limits reads it.
 */
#ifndef ANALYSE_INPUT_LIMITS_H
#define ANALYSE_INPUT_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	/* Of bytes packed, what comes out: a loop of one cudaMalloc and cudaFree has 26. */
	LIMITS_RATIO = 100,
	LIMITS_UNPACKED = 1 << 27, /* bytes that may come out whatever the ratio */
	/* Bytes of memory that facts take, all but events: a stack of 64 frames takes 500. */
	LIMITS_FACTS = 1 << 29,
};

#define LIMITS_LIFT "--no-limits reads it all the same"

/* From now on there are none. */
void limits_lift(void);

bool limits_hold(void);

#endif
