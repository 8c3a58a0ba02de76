/*
 * A map of 64-bit keys to 32-bit values: open addressing in memory by mmap.
 *
 * One writer at a time; readers need no lock and see an entry whole or not at all (old tables stay
 * mapped until map_clear()). Keys are expected to be hashes; key 0 is stored like any other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map {
	struct map_table *table;
	size_t used;
};

/* The value, 0 if there is none. */
uint32_t map_get(const struct map *map, uint64_t key);

/* Enters a value, which must not be 0, or replaces the key's value: readers see one or the other.
 * False without memory. */
bool map_put(struct map *map, uint64_t key, uint32_t value);

/* The place of a key's value, valid until the next map_put(); NULL if there is none. For the
 * writer, in a map that has no other readers. */
uint32_t *map_value(const struct map *map, uint64_t key);

/* Gives all memory back; no reader may be left. */
void map_clear(struct map *map);
