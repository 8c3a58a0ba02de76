/*
 * Room for one more in a list of the heap, for the tool alone: the library takes nothing from the
 * host's heap (base/mem/arena.h and base/mem/map.h are its own).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* `at` is where the pointer to the list stands; it is copied, as its type is not known here. */
static inline bool grow_list(void *at, size_t count, size_t *size, size_t each, size_t first)
{
	size_t wanted = *size * 2 + first;
	void *list;

	if (count < *size)
		return true;
	memcpy(&list, at, sizeof(list));
	list = reallocarray(list, wanted, each);
	if (!list)
		return false;
	memcpy(at, &list, sizeof(list));
	*size = wanted;
	return true;
}

/* A list that becomes as long as `wanted`, if it is shorter; what is new is all zero. */
static inline bool grow_to(void *at, size_t wanted, size_t *size, size_t each)
{
	char *list;

	memcpy(&list, at, sizeof(list));
	if (wanted <= *size)
		return true;
	list = reallocarray(list, wanted, each);
	if (!list)
		return false;
	memset(list + *size * each, 0, (wanted - *size) * each);
	memcpy(at, &list, sizeof(list));
	*size = wanted;
	return true;
}

#define GROW_TO(list, wanted, size) grow_to(&(list), wanted, &(size), sizeof(*(list)))

/* A list that is full doubles and gets `first` more; false without memory, and it stays as it was.
 */
#define GROW(list, count, size, first) grow_list(&(list), count, &(size), sizeof(*(list)), first)
