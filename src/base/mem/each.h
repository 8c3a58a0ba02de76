/*
 * Loops over lists: foreach (device, summary->devices) makes `device` point to each row of the
 * list `devices` in turn. The number of rows is the member or variable `devices_n`, or the third
 * argument if there is one. A list that grows during the loop needs a loop over positions.
 */
#pragma once

#include <stddef.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define FOREACH_IN(row, list, count) \
	for (__typeof__(*(list)) *row = (list); (size_t)(row - (list)) < (size_t)(count); (row)++)
#define FOREACH_ROW(row, list) FOREACH_IN(row, list, list##_n)
#define FOREACH_CHOICE(row, list, count, macro, ...) macro
#define foreach(row, ...) \
	FOREACH_CHOICE(row, __VA_ARGS__, FOREACH_IN, FOREACH_ROW, )(row, __VA_ARGS__)
