#include "analyse/input/string_table.h"

#include <string.h>

#include "analyse/input/grow.h"
#include "base/mem/hash.h"

/* Returns the text's number and, in *key, its key in of_hash; for a new text, 0 and a free key. */
static uint32_t find(const struct texts *texts, const char *text, size_t length, uint64_t *key)
{
	uint32_t id;

	for (*key = hash_bytes(text, length); (id = map_get(&texts->of_hash, *key)); ++*key) {
		const char *known = texts->list[id - 1];

		if (!strncmp(known, text, length) && !known[length])
			return id;
	}
	return 0;
}

uint32_t texts_find(const struct texts *texts, const char *text, size_t length)
{
	uint64_t key;

	return find(texts, text, length, &key);
}

uint32_t texts_enter(struct texts *texts, struct arena *arena, const char *text, size_t length)
{
	uint64_t key;
	uint32_t id = find(texts, text, length, &key);

	if (id)
		return id;
	text = arena_text(arena, text, length);
	if (!text || !GROW(texts->list, texts->count, texts->size, 64) ||
	    !map_put(&texts->of_hash, key, (uint32_t)texts->count + 1))
		return 0;
	texts->list[texts->count++] = text;
	return (uint32_t)texts->count;
}

void texts_clear(struct texts *texts)
{
	free(texts->list);
	map_clear(&texts->of_hash);
	*texts = (struct texts){ 0 };
}

/* Returns the row's number and, in *hash, its key in of_hash; for a new row, 0 and a free key. */
static uint32_t find_row(const struct map *of_hash, const char *rows, size_t each, const void *key,
			 size_t length, uint64_t *hash)
{
	uint32_t id;

	for (*hash = hash_bytes(key, length); (id = map_get(of_hash, *hash)); ++*hash) {
		if (!memcmp(rows + (id - 1) * each, key, length))
			return id;
	}
	return 0;
}

uint32_t keyed_find(const struct map *of_hash, const void *rows, size_t each, const void *key,
		    size_t length)
{
	uint64_t hash;

	return find_row(of_hash, rows, each, key, length, &hash);
}

uint32_t keyed_enter(struct map *of_hash, struct keyed_list to, const void *key, size_t length)
{
	char *rows;
	uint64_t hash;
	uint32_t id;

	memcpy(&rows, to.list, sizeof(rows));
	id = find_row(of_hash, rows, to.each, key, length, &hash);
	if (id)
		return id;
	if (!grow_list(to.list, *to.count, to.size, to.each, 16) ||
	    !map_put(of_hash, hash, (uint32_t)*to.count + 1))
		return 0;
	memcpy(&rows, to.list, sizeof(rows));
	memset(rows + *to.count * to.each, 0, to.each);
	memcpy(rows + *to.count * to.each, key, length);
	return (uint32_t)++ * to.count;
}
