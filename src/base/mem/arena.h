/*
 * Memory by mmap, for the library, which must not call the host's malloc.
 *
 * Blocks of an arena are only added, never freed alone. They are zeroed and aligned to 16 bytes.
 * arena_clear() gives everything back at once.
 */
#pragma once

#include <stddef.h>

struct arena {
	struct arena_page *pages;
	size_t used, size; /* of the newest page */
};

/* NULL when the system has no memory left. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_text(struct arena *arena, const char *text, size_t length);
void arena_clear(struct arena *arena);

/* Arrays that grow. A large one grows by moving pages, not bytes. */

/* Grows an array of `from` bytes (NULL and 0 for a new one) to `to` bytes; the new ones are zero.
 * NULL without memory: the old array is still there then. */
void *pages_grow(void *pages, size_t from, size_t to);

/* The same for a list of `*size` elements of `bytes` each, which doubles until it has `wanted`.
 * Returns the list's new place, NULL without memory. */
void *pages_room(void *pages, size_t *size, size_t wanted, size_t bytes);

/* NULL is allowed. */
void pages_free(void *pages, size_t size);
