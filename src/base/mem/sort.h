/* Sorts without the heap: glibc's qsort() calls malloc() for more than 1 KiB, but this library may
 * run while the program is inside malloc(). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A member to sort by: an unsigned number or a pointer to text. Later keys break ties. */
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

/* A stable sort by `keys`, which a key of zeros ends. Without memory it is a slow insertion
 * sort. */
void sort_rows(void *rows, size_t count, size_t size, const struct sort_key *keys);

/* Returns the number of rows whose uint64_t at byte `at` of the row is at most `value`. The rows
 * must be sorted by this uint64_t, lowest first. */
size_t sort_until(const void *rows, size_t count, size_t size, size_t at, uint64_t value);
