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

static void watch_block(const struct block *block, enum fake_watched what)
{
	static const enum fake_memory memories[KIND_COUNT] = {
		[KIND_PLAIN] = FAKE_DEVICE,  [KIND_ARRAY] = FAKE_ARRAY,
		[KIND_VMM] = FAKE_DEVICE,    [KIND_POOL] = FAKE_DEVICE,
		[KIND_GRAPH] = FAKE_DEVICE,  [KIND_MANAGED] = FAKE_MANAGED,
		[KIND_PINNED] = FAKE_PINNED, [KIND_IMPORTED] = FAKE_DEVICE,
	};

	watch((struct fake_watch){
		.what = what,
		.memory = memories[block->kind],
		.device = block->device ? block->device->ordinal : -1,
		.base = block->kind == KIND_ARRAY ? array_handle(block) : block->base,
		.size = block->size,
		.pool = (uint64_t)(uintptr_t)block->pool,
		.mapping = block->mapping != NULL,
	});
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
	if (blocks == &memory)
		watch_block(copy, FAKE_BLOCK);
	return copy;
}

void block_remove(struct blocks *blocks, struct block *block)
{
	if (blocks == &memory)
		watch_block(block, FAKE_BLOCK_ENDED);
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
