/* Merging from the bottom up, with pages of our own to merge from. */
#include "base/mem/sort.h"

#include <string.h>

#include "base/mem/arena.h"

enum { SMALL = 1024 }; /* bytes that the stack has room for */

typedef int order_fn(const void *, const void *);

/* Of `half` rows in order and the rest behind them, in order: all in order. */
static void merge(char *rows, size_t half, size_t count, size_t size, order_fn *order, char *spare)
{
	const char *left = spare;
	const char *left_end = spare + half * size;
	const char *right = rows + half * size;
	const char *end = rows + count * size;

	if (order(right - size, right) <= 0)
		return;
	memcpy(spare, rows, half * size);
	while (left < left_end) {
		const char **from = right < end && order(left, right) > 0 ? &right : &left;

		memmove(rows, *from, size);
		*from += size;
		rows += size;
	}
}

static void merge_all(char *rows, size_t count, size_t size, order_fn *order, char *spare)
{
	for (size_t half = 1; half < count; half *= 2) {
		for (size_t first = 0; first + half < count; first += 2 * half) {
			size_t both = count - first < 2 * half ? count - first : 2 * half;

			merge(rows + first * size, half, both, size, order, spare);
		}
	}
}

static void swap(char *a, char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char byte = a[i];

		a[i] = b[i];
		b[i] = byte;
	}
}

static void insert_all(char *rows, size_t count, size_t size, order_fn *order)
{
	for (size_t i = 1; i < count; i++) {
		for (char *at = rows + i * size; at > rows && order(at - size, at) > 0; at -= size)
			swap(at - size, at, size);
	}
}

void sort_rows(void *rows, size_t count, size_t size, order_fn *order)
{
	size_t bytes = count * size; /* the longest left half of all has fewer */
	char small[SMALL];
	void *spare;

	if (count < 2)
		return;
	if (bytes <= sizeof(small)) {
		merge_all(rows, count, size, order, small);
		return;
	}
	spare = pages_grow(NULL, 0, bytes);
	if (!spare) {
		insert_all(rows, count, size, order);
		return;
	}
	merge_all(rows, count, size, order, spare);
	pages_free(spare, bytes);
}

size_t sort_until(const void *rows, size_t count, size_t size, size_t at, uint64_t value)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;
		uint64_t number;

		memcpy(&number, (const char *)rows + middle * size + at, sizeof(number));
		if (number <= value)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}
