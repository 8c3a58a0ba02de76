/* A spool without a file: anonymous memory for all that a test writes. */
#pragma once

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "spool/spool.h"

static inline void *memory_map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* All blocks are there from the beginning; spool_close() gives them back. 0 or -ENOMEM. */
static inline int memory_spool(struct spool *spool)
{
	uint32_t *lists = memory_map(sizeof(uint32_t) * SPOOL_BLOCKS * SPOOL_KINDS);

	memset(spool, 0, sizeof(*spool));
	spool->reserved = (size_t)SPOOL_BLOCKS << SPOOL_BLOCK_SHIFT;
	spool->base = memory_map(spool->reserved);
	if (!lists || !spool->base)
		return -ENOMEM;
	for (unsigned kind = 0; kind < SPOOL_KINDS; kind++)
		spool->blocks[kind] = lists + (size_t)kind * SPOOL_BLOCKS;
	spool->file_blocks = SPOOL_BLOCKS;
	spool->header = (struct spool_header *)spool->base;
	spool->header->version = SPOOL_VERSION;
	spool->header->header_bytes = sizeof(struct spool_header);
	spool->header->blocks = SPOOL_FIRST_BLOCK;
	return 0;
}
