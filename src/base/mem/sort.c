/* Sorts rows by a bottom-up merge sort, whose spare memory comes from mmap. */
#include "base/mem/sort.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem/arena.h"

enum { SMALL = 1024 }; /* rows of at most this many bytes in all are sorted by insertion */

static uint64_t number_at(const char *row, const struct sort_key *key)
{
	uint64_t number = 0;

	memcpy(&number, row + key->at, key->size);
	return number;
}

static bool is_before(const char *b, const char *a, const struct sort_key *keys)
{
	for (; keys->order != SORT_END; keys++) {
		uint64_t x = number_at(a, keys);
		uint64_t y = number_at(b, keys);

		int order = (x > y) - (x < y);

		if (keys->order == SORT_AS_TEXT)
			order = strcmp((const char *)(uintptr_t)x, (const char *)(uintptr_t)y);
		if (order)
			return (order > 0) == (keys->order != SORT_FALLS);
	}
	return false;
}

/* Merges the first `half` rows with the rest; each of the two parts is already sorted. */
static void merge(char *rows, size_t half, size_t count, size_t size, const struct sort_key *keys,
		  char *spare)
{
	const char *left = spare;
	const char *left_end = spare + half * size;
	const char *right = rows + half * size;
	const char *end = rows + count * size;

	if (!is_before(right, right - size, keys))
		return;
	memcpy(spare, rows, half * size);
	while (left < left_end) {
		const char **from = right < end && is_before(right, left, keys) ? &right : &left;

		memmove(rows, *from, size);
		*from += size;
		rows += size;
	}
}

static void merge_all(char *rows, size_t count, size_t size, const struct sort_key *keys,
		      char *spare)
{
	for (size_t half = 1; half < count; half *= 2) {
		for (size_t first = 0; first + half < count; first += 2 * half) {
			size_t both = count - first < 2 * half ? count - first : 2 * half;

			merge(rows + first * size, half, both, size, keys, spare);
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

static void insert_all(char *rows, size_t count, size_t size, const struct sort_key *keys)
{
	for (size_t i = 1; i < count; i++) {
		for (char *at = rows + i * size; at > rows && is_before(at, at - size, keys);
		     at -= size)
			swap(at - size, at, size);
	}
}

void sort_rows(void *rows, size_t count, size_t size, const struct sort_key *keys)
{
	size_t bytes = count * size; /* enough: merge() copies at most `count` rows to `spare` */
	void *spare = bytes > SMALL ? pages_grow(NULL, 0, bytes) : NULL;

	if (spare)
		merge_all(rows, count, size, keys, spare);
	else
		insert_all(rows, count, size, keys);
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
