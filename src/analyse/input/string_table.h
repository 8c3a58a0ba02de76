/*
 * Tables that give numbers to distinct texts, or to distinct rows by their keys.
 *
 * Each text is stored once. The numbers are 1, 2, ... in the order in which texts are added, so a
 * caller can store data for each text in an array of its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/mem/arena.h"
#include "base/mem/map.h"

/* A table of texts. It is empty if all members are 0. */
struct texts {
	const char **list; /* list[n - 1] is the text with the number n */
	size_t count, size;
	struct map of_hash; /* maps a text's hash (or hash + 1, ... if taken) to its number */
};

/* Returns the number of text[0..length), or 0 if the table does not have the text. */
uint32_t texts_find(const struct texts *texts, const char *text, size_t length);

/* Like texts_find(), but adds a missing text, copied to the arena. Returns 0 if memory runs out. */
uint32_t texts_enter(struct texts *texts, struct arena *arena, const char *text, size_t length);

void texts_clear(struct texts *texts);

/*
 * Find the row with a key in a list whose rows begin with their keys; keyed_enter() adds a missing
 * row. They return 1 + the row's position, or 0 if there is no row or memory runs out. A new row is
 * zero after its key. Keys are compared byte by byte, so their padding must be zero.
 */
uint32_t keyed_find(const struct map *of_hash, const void *rows, size_t each, const void *key,
		    size_t length);
struct keyed_list {
	void *list; /* address of the pointer to the rows */
	size_t *count, *size, each;
};
uint32_t keyed_enter(struct map *of_hash, struct keyed_list to, const void *key, size_t length);

#define KEYED_FIND(of_hash, list, key) \
	keyed_find(&(of_hash), list, sizeof(*(list)), &(key), sizeof(key))
#define KEYED_ENTER(of_hash, list, count, size, key)                                            \
	keyed_enter(&(of_hash),                                                                 \
		    (struct keyed_list){ &(list), &(count), &(size), sizeof(*(list)) }, &(key), \
		    sizeof(key))
