/*
 * Memory by mmap, bump only: for the library, which must not call the host's malloc.
 *
 * Blocks are zeroed and aligned to 16 bytes. arena_clear() gives everything back at once.
 */
#ifndef BASE_MEM_ARENA_H
#define BASE_MEM_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_page *pages;
	size_t used, size; /* of the newest page */
};

/* NULL when the system has no memory left. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_text(struct arena *arena, const char *text, size_t length);
void arena_clear(struct arena *arena);

#endif
