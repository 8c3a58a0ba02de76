/*
 * Bytes without an address: a pool's own totals grew or shrank, and no call told of it.
 *
 * A stack stands for them, and they go as they came, the newest first. Who tells them apart by more
 * than their stack (thread, phase, category) tags what comes, and is told whose bytes go: those
 * that shrink are seldom called by the thread, or at the time, at which they came.
 */
#pragma once

#include "base/mem/map.h"
#include "facts/lives.h"

/* Bytes of one tag; they count as one block, however they grow and shrink. */
struct unattributed_lump {
	uint64_t bytes;
	uint32_t tag;
	uint32_t below; /* 1 + the one that is older, 0 for none */
};

/* All zero is empty. */
struct unattributed {
	struct unattributed_lump *lumps;
	uint32_t used;
	size_t size;    /* of lumps */
	uint32_t spare; /* 1 + the first of those to be used again */
	struct loose_place {
		struct loose_key {
			uint32_t stack, pool;
			int16_t device;
			uint8_t space, kind;
		} key;
		uint32_t top; /* 1 + the newest lump */
	} * list;
	size_t places, places_size;
	struct map place_of; /* 1 + the place */
};

void unattributed_clear(struct unattributed *loose);

/* What came is known no more. */
void unattributed_forget(struct unattributed *loose);

/*
 * The bytes of `block`, which has no address, come. How many lumps that makes more, 0 or 1; -ENOMEM
 * without memory.
 */
int unattributed_come(struct unattributed *loose, const struct block *block, uint32_t tag);

/*
 * Up to `bytes` of the newest that came where `block` says go: how many, 0 when there are none;
 * more may be left below. `tag` says whose they were, `whole` whether nothing is left of their
 * lump.
 */
uint64_t unattributed_go(struct unattributed *loose, const struct block *block, uint64_t bytes,
			 uint32_t *tag, bool *whole);
