/*
 * Arrays that grow, by mmap: for what the tool and the library's exit path share, as the library
 * must not call the host's malloc. A large one grows by moving pages, not bytes.
 */
#ifndef BASE_MEM_PAGES_H
#define BASE_MEM_PAGES_H

#include <stddef.h>

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

#endif
