/*
 * Texts and rows with numbers.
 *
 * Texts: each different one is kept once. The numbers are 1, 2, ... in the order in
 * which texts come, so what belongs to a text is kept in an array beside it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"
#include "base/mem/map.h"

/* All zero is empty. */
struct texts {
	const char **list; /* by number - 1 */
	size_t count, size;
	struct map of_hash; /* a text whose hash is taken lies at the next free one */
};

/* The number of the first `length` bytes of `text`, 0 when they are not there. */
uint32_t texts_find(const struct texts *texts, const char *text, size_t length);

/* The same; a text that is not there is copied to the arena. 0 without memory. */
uint32_t texts_enter(struct texts *texts, struct arena *arena, const char *text, size_t length);

void texts_clear(struct texts *texts);

/*
 * A list of rows that begin with their key, each different one once. Returns 1 + the position of
 * the row with the key; 0 where there is none, or without memory. A new row is all zero after its
 * key. Keys are compared byte by byte: none may have padding that is not zero.
 */
uint32_t keyed_find(const struct map *of_hash, const void *rows, size_t each, const void *key,
		    size_t length);
struct keyed_list {
	void *list; /* address of the pointer to the list */
	size_t *count, *size, each;
};
uint32_t keyed_enter(struct map *of_hash, struct keyed_list to, const void *key, size_t length);

#define KEYED_FIND(of_hash, list, key) \
	keyed_find(&(of_hash), list, sizeof(*(list)), &(key), sizeof(key))
#define KEYED_ENTER(of_hash, list, count, size, key)                                            \
	keyed_enter(&(of_hash),                                                                 \
		    (struct keyed_list){ &(list), &(count), &(size), sizeof(*(list)) }, &(key), \
		    sizeof(key))
