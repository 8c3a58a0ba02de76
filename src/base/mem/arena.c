/* Allocates memory by mmap: arrays that grow, and blocks that can only be freed all at once. */
#include "base/mem/arena.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 1 << 18, FIRST_SIZE = 64 };

void *pages_grow(void *pages, size_t from, size_t to)
{
	void *grown;

	if (pages)
		grown = mremap(pages, from, to, MREMAP_MAYMOVE);
	else
		grown = mmap(NULL, to, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return grown == MAP_FAILED ? NULL : grown;
}

void *pages_room(void *pages, size_t *size, size_t wanted, size_t bytes)
{
	size_t most = *size ? *size : FIRST_SIZE;

	if (wanted <= *size)
		return pages;
	while (most < wanted)
		most *= 2;
	pages = pages_grow(pages, *size * bytes, most * bytes);
	if (pages)
		*size = most;
	return pages;
}

void pages_free(void *pages, size_t size)
{
	if (pages)
		munmap(pages, size);
}

struct arena_page {
	struct arena_page *next;
	size_t size;
};

static bool add_chunk(struct arena *arena, size_t size)
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
	if (arena->size - arena->used < size && !add_chunk(arena, size))
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
