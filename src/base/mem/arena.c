/* Memory by mmap, bump only. */
#include "base/mem/arena.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem/pages.h"

enum { PAGE_BYTES = 1 << 18 };

struct arena_page {
	struct arena_page *next;
	size_t size;
};

static bool grow(struct arena *arena, size_t size)
{
	struct arena_page *page;

	size += sizeof(struct arena_page);
	size = (size + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
	page = pages_grow(NULL, 0, size);
	if (!page)
		return false;
	page->next = arena->pages;
	page->size = size;
	arena->pages = page;
	arena->used = sizeof(struct arena_page);
	arena->size = size;
	return true;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	void *block;

	size = (size + 15) & ~(size_t)15;
	if (arena->size - arena->used < size && !grow(arena, size))
		return NULL;
	block = (char *)arena->pages + arena->used;
	arena->used += size;
	return block;
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
	char *copy = arena_alloc(arena, length + 1);

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

void arena_clear(struct arena *arena)
{
	while (arena->pages) {
		struct arena_page *next = arena->pages->next;

		pages_free(arena->pages, arena->pages->size);
		arena->pages = next;
	}
	arena->used = arena->size = 0;
}
