/*
 * Bytes without an address: a pool's own totals grew or shrank, and no call explained it.
 *
 * The bytes count for a pseudo-stack (a name in place of a call stack); the newest are freed first.
 * A caller that groups bytes by more than the stack (thread, phase, category) gives allocated bytes
 * a tag, and gets the tag back when they are freed: often memory is freed by another thread, or in
 * another phase, than it was allocated.
 */
#pragma once

#include "base/mem/map.h"
#include "facts/lives.h"

/* Bytes with one tag, allocated one after another; they count as one block. */
struct unattributed_lump {
	uint64_t bytes;
	uint32_t tag;
	uint32_t below; /* 1 + position of the next older lump, 0 for none */
};

/* Bytes without an address, in lumps of bytes with the same tag; empty if all members are 0. */
struct unattributed {
	struct unattributed_lump *lumps;
	uint32_t used;
	size_t size;    /* allocated entries of `lumps` */
	uint32_t spare; /* 1 + position of the first unused lump, 0 for none */
	struct loose_place {
		struct loose_key {
			uint32_t stack, pool;
			int16_t device;
			uint8_t space, kind;
		} key;
		uint32_t top; /* 1 + position of the newest lump, 0 for none */
	} * list;
	size_t places, places_size;
	struct map place_of; /* 1 + position in list[], by key */
};

void unattributed_clear(struct unattributed *loose);

/* Removes all bytes. To be called where events are missing: the bytes are then unknown. */
void unattributed_forget(struct unattributed *loose);

/* Adds the bytes of `block`, which has no address. Returns the number of new lumps: 1, or 0 if the
 * newest lump grew or the block has no bytes. */
int unattributed_come(struct unattributed *loose, const struct block *block, uint32_t tag);

/*
 * Frees up to `bytes` bytes of the newest lump with `block`'s stack, pool, device, space and kind.
 * Returns the bytes freed, 0 if there are no lumps; older lumps may hold more. Sets `tag` to the
 * lump's tag, and `whole` to whether all of the lump is freed.
 */
uint64_t unattributed_go(struct unattributed *loose, const struct block *block, uint64_t bytes,
			 uint32_t *tag, bool *whole);
