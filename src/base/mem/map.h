/*
 * A hash table of 64-bit keys and 32-bit values, with open addressing, in memory from mmap.
 *
 * There may be one writer at a time. Readers need no lock: an entry's key is stored before its
 * value, and old tables stay mapped until map_clear(). Keys should be hashes; key 0 is valid.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
	struct map_table *table;
	size_t used;
};

/* Returns the key's value, or 0 if the key is missing. */
uint32_t map_get(const struct map *map, uint64_t key);

/* Stores the key's value, which must not be 0. Concurrent readers see the old or the new value.
 * False if there is no memory. */
bool map_put(struct map *map, uint64_t key, uint32_t value);

/* Returns a pointer to the key's value, valid until the next map_put(); NULL if the key is missing.
 * Only for the writer of a map that no other thread reads. */
uint32_t *map_value(const struct map *map, uint64_t key);

/* Frees all memory. No thread may be reading the map. */
void map_clear(struct map *map);
