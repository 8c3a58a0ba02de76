/*
 * Loops over lists: EACH (device, summary->devices) makes `device` point to one row of the list
 * `devices` after the other, whose length is the member or variable `devices_n`; EACH_OF() has
 * the length as an argument, EACH_IN() is for an array.
 * A list that grows meanwhile needs a loop over positions.
 */
#pragma once

#include <stddef.h>

#define EACH_OF(row, list, count) \
	for (__typeof__(*(list)) *row = (list); (size_t)(row - (list)) < (size_t)(count); (row)++)
#define EACH(row, list) EACH_OF (row, list, list##_n)

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define EACH_IN(row, array) EACH_OF (row, array, COUNT_OF(array))
