/*
 * What is live while events go by: blocks, segments and mappings by address; and, once more, what
 * was live at one moment in the past, the mark.
 *
 * The mark is moved often (each time a sum is higher than ever) and must cost nothing then: a block
 * that ends behind the mark stays as a corpse until the mark moves on. So what was live at the mark
 * is what lives since before it, and the corpses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/event.h"

enum block_kind {
	BLOCK_HANDED,  /* alloc: bytes somebody uses */
	BLOCK_SEGMENT, /* reserve: a pool's */
	BLOCK_MAPPING, /* map: addresses of a pool's memory */
	RANGE_STARTED, /* no memory: an open range, see ranges_push() */
	RANGE_PUSHED,
};

enum block_state { BLOCK_SPARE, BLOCK_LIVE, BLOCK_CORPSE };

struct block {
	uint64_t ptr, size;
	uint64_t seq, t; /* of its birth */
	uint32_t stack;  /* UINT32_MAX for none */
	uint32_t pool;   /* a text of the trace, 0 for none */
	uint32_t thread;
	uint32_t next; /* 1 + the next in its chain */
	int16_t device;
	uint8_t space, kind, state;
	bool foreign; /* another process's: counts 0 */
	bool handle;  /* ptr is no address */
};

/* All zero is empty. */
struct blocks {
	struct block *list;
	uint32_t used, size; /* of list */
	uint32_t *heads;     /* 1 + the first of each chain: `size`, a power of two */
	uint32_t spare;      /* 1 + the first of those to be used again */
	uint32_t corpses;    /* 1 + the first */
	uint64_t live;
	uint64_t mark; /* a seq: born up to here was born before the mark */
	bool marking;  /* corpses are wanted */
};

void blocks_clear(struct blocks *blocks);

/* The same kind at the same place: 1 + its position, 0 for none. */
uint32_t blocks_find(const struct blocks *blocks, const struct block *like);

/* Enters a copy: 1 + its position, 0 without memory. */
uint32_t blocks_add(struct blocks *blocks, const struct block *block);

/* What blocks_find() gave ends. */
void blocks_end(struct blocks *blocks, uint32_t id);

/* The mark is now, behind event `seq`. */
void blocks_set_mark(struct blocks *blocks, uint64_t seq);

/* Nothing is live any more, now or at the mark. */
void blocks_forget(struct blocks *blocks);

/* Was it live at the mark (or is it live, where no mark is kept)? */
static inline bool block_counts(const struct blocks *blocks, const struct block *block)
{
	if (!blocks->marking)
		return block->state == BLOCK_LIVE;
	return block->state == BLOCK_CORPSE ||
	       (block->state == BLOCK_LIVE && block->seq <= blocks->mark);
}

/*
 * Which push a pop ends: the newest open one that fits, by number for a range that was started and
 * ended (on whatever thread), by thread and domain for one that was pushed. Open ranges alone are
 * held, in blocks of their own; `what` is how their owner knows one. ranges_push() is false without
 * memory, ranges_pop() if none is open.
 */
bool ranges_push(struct blocks *open, const struct event *push, uint32_t what);
bool ranges_pop(struct blocks *open, const struct event *pop, uint32_t *what);

/* Takes any event; a pop is told the name of what it ends. False without memory. */
bool ranges_tell(struct blocks *open, struct event *event);
