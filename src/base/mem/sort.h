/*
 * Sorting without the heap: glibc's qsort() takes memory there for what is larger than 1 KiB, and
 * this library may be inside the host's own malloc.
 */
#ifndef BASE_MEM_SORT_H
#define BASE_MEM_SORT_H

#include <stddef.h>
#include <stdint.h>

/* As qsort(), and rows that are equal stay in their order. Where no memory is to be had it is done
 * all the same, and slowly. */
void sort_rows(void *rows, size_t count, size_t size, int (*order)(const void *, const void *));

/* How many of the rows, sorted by their 64-bit number that lies `at` bytes behind their beginning,
 * have one that is no larger than the value. */
size_t sort_until(const void *rows, size_t count, size_t size, size_t at, uint64_t value);

#endif
