/*
 * Memory by mmap: for the library, which must not call the host's malloc.
 *
 * An arena has blocks, bump only. They are zeroed and aligned to 16 bytes. arena_clear() gives
 * everything back at once.
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

/* Arrays that grow: a large one does by moving pages, not bytes. */

/*
 * Makes an array of `from` bytes (NULL and 0 for a new one) one of `to`, with zeroes behind what it
 * had. NULL without memory: the old one is still there then.
 */
void *pages_grow(void *pages, size_t from, size_t to);

/*
 * The same for a list of `*size` elements of so many bytes, which doubles until `wanted` are there:
 * where it is then, NULL without memory.
 */
void *pages_room(void *pages, size_t *size, size_t wanted, size_t bytes);

/* NULL is allowed. */
void pages_free(void *pages, size_t size);
