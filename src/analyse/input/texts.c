/* Texts with numbers. */
#include "analyse/input/texts.h"

#include <string.h>

#include "analyse/input/grow.h"
#include "base/mem/hash.h"

/* `key` becomes where the text is, or where it would go. */
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
