/* Arrays that grow, by mmap. */
#include "base/mem/pages.h"

#include <sys/mman.h>

void *pages_grow(void *pages, size_t from, size_t to)
{
	void *grown;

	if (pages)
		grown = mremap(pages, from, to, MREMAP_MAYMOVE);
	else
		grown = mmap(NULL, to, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return grown == MAP_FAILED ? NULL : grown;
}

void pages_free(void *pages, size_t size)
{
	if (pages)
		munmap(pages, size);
}
