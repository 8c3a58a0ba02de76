/*
 * Bytes without an address: a pool's own totals grew or shrank, and no call explained it.
 *
 * A stack stands for them, and they are freed in the reverse order of their allocation. A caller
 * that groups them by more than their stack (thread, phase, category) gives the bytes that come a
 * tag, and gets the tag of the bytes that go: memory is seldom freed by the thread, or in the
 * phase, that allocated it.
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

/* Removes all bytes: they are not known any more. */
void unattributed_forget(struct unattributed *loose);

/* Adds the bytes of `block`, which has no address. Returns the number of lumps that this adds, 0 or
 * 1. */
int unattributed_come(struct unattributed *loose, const struct block *block, uint32_t tag);

/*
 * Takes up to `bytes` of the newest that came at the place of `block`. Returns how many, 0 when
 * there are none; more may be left below. `tag` is that of the lump, `whole` is set if nothing is
 * left of it.
 */
uint64_t unattributed_go(struct unattributed *loose, const struct block *block, uint64_t bytes,
			 uint32_t *tag, bool *whole);
