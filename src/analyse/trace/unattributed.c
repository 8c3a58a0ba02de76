/* Bytes without an address. */
#include "analyse/trace/unattributed.h"

#include <errno.h>
#include <stdlib.h>

#include "analyse/input/grow.h"
#include "base/mem/hash.h"

void unattributed_clear(struct unattributed *loose)
{
	free(loose->lumps);
	free(loose->list);
	map_clear(&loose->place_of);
	*loose = (struct unattributed){ 0 };
}

void unattributed_forget(struct unattributed *loose)
{
	loose->used = loose->spare = 0;
	for (uint32_t i = 0; i < loose->places; i++)
		loose->list[i].top = 0;
}

/* 1 + the place, 0 when it is new; `key` becomes where it is or would go. */
static uint32_t find_place(const struct unattributed *loose, const struct block *block,
			   uint64_t *key)
{
	uint32_t id;

	*key = hash_mix((uint64_t)block->stack << 32 | block->pool,
			(uint64_t)(uint16_t)block->device << 16 | (uint64_t)block->space << 8 |
				block->kind);
	for (; (id = map_get(&loose->place_of, *key)); ++*key) {
		const struct block *like = &loose->list[id - 1].like;

		if (like->stack == block->stack && like->pool == block->pool &&
		    like->device == block->device && like->space == block->space &&
		    like->kind == block->kind)
			return id;
	}
	return 0;
}

/* 1 + the place, made if it is new; 0 without memory. */
static uint32_t make_place(struct unattributed *loose, const struct block *block)
{
	uint64_t key;
	uint32_t place = find_place(loose, block, &key);

	if (place)
		return place;
	if (!GROW(loose->list, loose->places, loose->places_size, 16) ||
	    !map_put(&loose->place_of, key, loose->places + 1))
		return 0;
	loose->list[loose->places] = (struct loose_place){ .like = *block };
	return ++loose->places;
}

/* 1 + a lump for whoever asks; 0 without memory. */
static uint32_t make_lump(struct unattributed *loose)
{
	uint32_t id = loose->spare;

	if (id) {
		loose->spare = loose->lumps[id - 1].below;
		return id;
	}
	return GROW(loose->lumps, loose->used, loose->size, 16) ? ++loose->used : 0;
}

int unattributed_come(struct unattributed *loose, const struct block *block, uint32_t tag)
{
	uint32_t place = make_place(loose, block);
	uint32_t *top = place ? &loose->list[place - 1].top : NULL;
	uint32_t id;

	if (!top)
		return -ENOMEM;
	if (!block->size)
		return 0;
	if (*top && loose->lumps[*top - 1].tag == tag) {
		loose->lumps[*top - 1].bytes += block->size;
		return 0;
	}
	id = make_lump(loose);
	if (!id)
		return -ENOMEM;
	loose->lumps[id - 1] = (struct unattributed_lump){ block->size, tag, *top };
	*top = id;
	return 1;
}

uint64_t unattributed_go(struct unattributed *loose, const struct block *block, uint64_t bytes,
			 uint32_t *tag, bool *whole)
{
	uint64_t key;
	uint32_t place = find_place(loose, block, &key);
	uint32_t id = place ? loose->list[place - 1].top : 0;
	struct unattributed_lump *lump = id ? &loose->lumps[id - 1] : NULL;

	if (!lump)
		return 0;
	*tag = lump->tag;
	*whole = bytes >= lump->bytes;
	if (!*whole) {
		lump->bytes -= bytes;
		return bytes;
	}
	bytes = lump->bytes;
	loose->list[place - 1].top = lump->below;
	lump->below = loose->spare;
	loose->spare = id;
	return bytes;
}
