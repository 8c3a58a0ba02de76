/*
 * Memory from mmap, for the library, which must not call the traced program's malloc().
 *
 * Blocks of an arena are zeroed and aligned to 16 bytes. They cannot be freed one by one;
 * arena_clear() frees them all.
 */
#pragma once

#include <stddef.h>

struct arena {
	struct arena_page *pages;
	size_t used, size; /* of the newest chunk (*pages): bytes in use, and all bytes */
};

/* Allocate a block of `size` bytes, or a copy of a text with a NUL. NULL if there is no memory. */
void *arena_alloc(struct arena *arena, size_t size);
char *arena_text(struct arena *arena, const char *text, size_t length);
void arena_clear(struct arena *arena);

/* Grows an array of `from` bytes (NULL and 0 for a new one) to `to` bytes by mremap(); added bytes
 * are zero. Returns its new address; NULL if there is no memory, with the array unchanged. */
void *pages_grow(void *pages, size_t from, size_t to);

/* Grows an array of `*size` elements of `bytes` bytes each by doubling, until it holds `wanted`
 * elements. Returns its new address; NULL without memory, with the array unchanged. */
void *pages_room(void *pages, size_t *size, size_t wanted, size_t bytes);

/* Frees an array of `size` bytes; NULL is allowed. */
void pages_free(void *pages, size_t size);
