/*
 * Sorting without the heap: glibc's qsort() takes memory there for what is larger than 1 KiB, and
 * this library may be inside the host's own malloc.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A member that rows are sorted by: a number without a sign, or a text; of equal ones the next
 * decides. */
struct sort_key {
	uint16_t at, size;
	enum { SORT_END, SORT_RISES, SORT_FALLS, SORT_AS_TEXT } order;
};

#define SORT_KEY(type, member, order)                                         \
	{                                                                     \
		offsetof(type, member), sizeof(((type *)NULL)->member), order \
	}
#define SORT_UP(type, member) SORT_KEY(type, member, SORT_RISES)
#define SORT_DOWN(type, member) SORT_KEY(type, member, SORT_FALLS)
#define SORT_TEXT(type, member) SORT_KEY(type, member, SORT_AS_TEXT)

/* Rows that are equal stay in their order; a key of zeros ends the keys. Where no memory is to be
 * had it is done all the same, and slowly. */
void sort_rows(void *rows, size_t count, size_t size, const struct sort_key *keys);

/* How many of the rows, sorted by their 64-bit number that lies `at` bytes behind their beginning,
 * have one that is no larger than the value. */
size_t sort_until(const void *rows, size_t count, size_t size, size_t at, uint64_t value);
