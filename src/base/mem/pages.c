/* Arrays that grow, by mmap. */
#include "base/mem/pages.h"

#include <sys/mman.h>

enum { FIRST_SIZE = 64 };

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
