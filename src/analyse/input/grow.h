/*
 * Growing lists on the heap, and allocations that end the tool if memory runs out. The library in
 * the traced program never uses the heap: it has base/mem/arena.h and base/mem/map.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/mem/arena.h"

/* Implements GROW() for lists of any type: `at` is the address of the pointer to the list. */
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

/* Makes a list at least `wanted` elements long; new elements are 0. False if memory runs out. */
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

/* Grows the list, if full, to 2 * size + first elements. False if memory runs out. */
#define GROW(list, count, size, first) grow_list(&(list), count, &(size), sizeof(*(list)), first)

/* Ends the tool with an out-of-memory error if `there` is false or NULL. */
#define NEED(there) ((there) ? (void)0 : need_failed())
__attribute__((noreturn)) void need_failed(void);

/* Returns zeroed memory from the arena, never NULL. */
static inline void *need(struct arena *arena, size_t size)
{
	void *memory = arena_alloc(arena, size);

	NEED(memory);
	return memory;
}

/* Returns zeroed memory from the arena for `count` + 1 elements of a list, never NULL. */
#define NEED_ROOM(arena, list, count) need(arena, ((count) + 1) * sizeof(*(list)))

/* Returns a copy of the text in the arena, never NULL. */
static inline const char *need_text(struct arena *arena, const char *text)
{
	const char *copy = arena_text(arena, text, strlen(text));

	NEED(copy);
	return copy;
}
