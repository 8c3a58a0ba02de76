#include "analyse/trace/unattributed.h"

#include <stdlib.h>

#include "analyse/input/grow.h"
#include "analyse/input/string_table.h"

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
	for (size_t i = 0; i < loose->places; i++)
		loose->list[i].top = 0;
}

static struct loose_key key_of(const struct block *block)
{
	return (struct loose_key){ block->stack, block->pool, block->device, block->space,
				   block->kind };
}

/* Returns 1 + the position of an unused lump. */
static uint32_t make_lump(struct unattributed *loose)
{
	uint32_t id = loose->spare;

	if (id) {
		loose->spare = loose->lumps[id - 1].below;
		return id;
	}
	NEED(GROW(loose->lumps, loose->used, loose->size, 16));
	return ++loose->used;
}

int unattributed_come(struct unattributed *loose, const struct block *block, uint32_t tag)
{
	const struct loose_key key = key_of(block);
	uint32_t place =
		KEYED_ENTER(loose->place_of, loose->list, loose->places, loose->places_size, key);
	uint32_t *top;
	uint32_t id;

	NEED(place);
	top = &loose->list[place - 1].top;
	if (!block->size)
		return 0;
	if (*top && loose->lumps[*top - 1].tag == tag) {
		loose->lumps[*top - 1].bytes += block->size;
		return 0;
	}
	id = make_lump(loose);
	loose->lumps[id - 1] = (struct unattributed_lump){ block->size, tag, *top };
	*top = id;
	return 1;
}

uint64_t unattributed_go(struct unattributed *loose, const struct block *block, uint64_t bytes,
			 uint32_t *tag, bool *whole)
{
	const struct loose_key key = key_of(block);
	uint32_t place = KEYED_FIND(loose->place_of, loose->list, key);
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
