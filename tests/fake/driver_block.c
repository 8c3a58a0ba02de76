/*
 * Who lies at an address: every block of memory the simulated driver has handed out.
 *
 * A balanced tree (glibc's tsearch) of ranges that never overlap. Two ranges that do are "equal",
 * so asking for one byte finds the block around it.
 */
#include "fake.h"

#include <search.h>
#include <stdlib.h>

static struct blocks memory;

static int compare(const void *left, const void *right)
{
	const struct block *a = left;
	const struct block *b = right;

	if (a->base + a->size <= b->base)
		return -1;
	return a->base >= b->base + b->size;
}

struct blocks *memory_blocks(void)
{
	return &memory;
}

static void context_link(struct context *context, struct block *block)
{
	block->previous = NULL;
	block->next = context->blocks;
	if (block->next)
		block->next->previous = block;
	context->blocks = block;
}

static void context_unlink(struct context *context, struct block *block)
{
	if (block->previous)
		block->previous->next = block->next;
	else
		context->blocks = block->next;
	if (block->next)
		block->next->previous = block->previous;
}

struct block *block_add(struct blocks *blocks, const struct block *block)
{
	struct block *copy = malloc(sizeof(*copy));
	struct block **place;

	if (!copy)
		return NULL;
	*copy = *block;
	place = tsearch(copy, &blocks->root, compare);
	if (!place || *place != copy) {
		free(copy);
		return NULL;
	}
	if (copy->context)
		context_link(copy->context, copy);
	return copy;
}

void block_remove(struct blocks *blocks, struct block *block)
{
	tdelete(block, &blocks->root, compare);
	if (block->context)
		context_unlink(block->context, block);
	free(block);
}

struct block *block_around(const struct blocks *blocks, uint64_t address)
{
	struct block byte = { .base = address, .size = 1 };
	struct block **place = tfind(&byte, &blocks->root, compare);

	return place ? *place : NULL;
}

struct block *block_at(const struct blocks *blocks, uint64_t address)
{
	struct block *block = block_around(blocks, address);

	return block && block->base == address ? block : NULL;
}
