/* A hash table of 64-bit keys and 32-bit values with open addressing; readers need no lock. */
#include "base/mem/map.h"

#include "base/mem/arena.h"

enum { FIRST_SIZE = 1024 };

struct map_entry {
	uint64_t key;
	uint32_t value; /* 0 in an empty entry; written after the key */
};

struct map_table {
	struct map_table *older;
	size_t size; /* a power of two */
	struct map_entry entries[];
};

static size_t bytes_of(size_t size)
{
	return sizeof(struct map_table) + size * sizeof(struct map_entry);
}

/* Returns the key's entry, or the empty entry for a new key. *value becomes the entry's value. */
static inline struct map_entry *entry_of(struct map_table *table, uint64_t key, uint32_t *value)
{
	for (size_t at = (size_t)(key ^ key >> 29);; at++) {
		struct map_entry *entry = &table->entries[at & (table->size - 1)];

		*value = __atomic_load_n(&entry->value, __ATOMIC_ACQUIRE);
		if (!*value || entry->key == key)
			return entry;
	}
}

uint32_t map_get(const struct map *map, uint64_t key)
{
	struct map_table *table = __atomic_load_n(&map->table, __ATOMIC_ACQUIRE);
	uint32_t value = 0;

	if (table)
		entry_of(table, key, &value);
	return value;
}

uint32_t *map_value(const struct map *map, uint64_t key)
{
	uint32_t value = 0;
	struct map_entry *entry = map->table ? entry_of(map->table, key, &value) : NULL;

	return value ? &entry->value : NULL;
}

/* Stores the key's value. Returns true if the key is new. */
static bool place(struct map_table *table, uint64_t key, uint32_t value)
{
	uint32_t before;
	struct map_entry *entry = entry_of(table, key, &before);

	if (!before)
		entry->key = key;
	__atomic_store_n(&entry->value, value, __ATOMIC_RELEASE);
	return !before;
}

static bool grow_table(struct map *map)
{
	struct map_table *old = map->table;
	size_t size = old ? old->size * 2 : FIRST_SIZE;
	struct map_table *table = pages_grow(NULL, 0, bytes_of(size));

	if (!table)
		return false;
	table->size = size;
	for (size_t i = 0; old && i < old->size; i++) {
		if (old->entries[i].value)
			place(table, old->entries[i].key, old->entries[i].value);
	}
	table->older = old;
	__atomic_store_n(&map->table, table, __ATOMIC_RELEASE);
	return true;
}

bool map_put(struct map *map, uint64_t key, uint32_t value)
{
	if ((!map->table || map->used >= map->table->size / 2) && !grow_table(map))
		return false;
	map->used += place(map->table, key, value);
	return true;
}

void map_clear(struct map *map)
{
	while (map->table) {
		struct map_table *older = map->table->older;

		pages_free(map->table, bytes_of(map->table->size));
		map->table = older;
	}
	map->used = 0;
}
