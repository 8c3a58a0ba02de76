/* A map of 64-bit keys to 32-bit values. */
#include "base/mem/map.h"

#include "base/mem/arena.h"

enum { FIRST_SIZE = 1024 };

struct map_entry {
	uint64_t key;
	uint32_t value; /* written last, 0 in an empty entry */
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

static inline size_t first_slot(const struct map_table *table, uint64_t key)
{
	return (size_t)(key ^ key >> 29) & (table->size - 1);
}

uint32_t map_get(const struct map *map, uint64_t key)
{
	const struct map_table *table = __atomic_load_n(&map->table, __ATOMIC_ACQUIRE);

	if (!table)
		return 0;
	for (size_t at = first_slot(table, key);; at = (at + 1) & (table->size - 1)) {
		uint32_t value = __atomic_load_n(&table->entries[at].value, __ATOMIC_ACQUIRE);

		if (!value || table->entries[at].key == key)
			return value;
	}
}

static void place(struct map_table *table, uint64_t key, uint32_t value)
{
	size_t at = first_slot(table, key);

	while (table->entries[at].value)
		at = (at + 1) & (table->size - 1);
	table->entries[at].key = key;
	__atomic_store_n(&table->entries[at].value, value, __ATOMIC_RELEASE);
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
	place(map->table, key, value);
	map->used++;
	return true;
}

uint32_t *map_value(const struct map *map, uint64_t key)
{
	struct map_table *table = map->table;
	size_t at = table ? first_slot(table, key) : 0;

	while (table && table->entries[at].value && table->entries[at].key != key)
		at = (at + 1) & (table->size - 1);
	return table && table->entries[at].value ? &table->entries[at].value : NULL;
}

bool map_set(struct map *map, uint64_t key, uint32_t value)
{
	uint32_t *known = map_value(map, key);

	if (!known)
		return map_put(map, key, value);
	__atomic_store_n(known, value, __ATOMIC_RELEASE);
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
