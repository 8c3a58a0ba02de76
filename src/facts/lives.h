/*
 * Events as the lives of blocks: the block that an event begins, and the block that it ends.
 *
 * A free is paired with its allocation by kind, device, space, pool and address. Where events are
 * missing, the blocks that were live before them are not known, and all are removed.
 *
 * Also used at the end of the traced program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "codec/event.h"

/*
 * Blocks, segments and mappings that are live, by address; and those that were live at one moment
 * in the past, the mark.
 *
 * The mark moves each time a sum reaches a new maximum, and moving it must cost little. A block
 * that ends after the mark stays as a corpse until the mark moves on. The blocks that were live at
 * the mark are those that have been live since before it, and the corpses.
 */
enum block_kind {
	BLOCK_HANDED,  /* alloc: memory that the program uses */
	BLOCK_SEGMENT, /* reserve: memory of a pool */
	BLOCK_MAPPING, /* map: addresses of a pool that memory is mapped at */
	RANGE_STARTED, /* no memory: an open range, see ranges_push() */
	RANGE_PUSHED,
};

enum block_state { BLOCK_SPARE, BLOCK_LIVE, BLOCK_CORPSE };

struct block {
	uint64_t ptr, size;
	uint64_t seq, t; /* of the event that began it */
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
	uint32_t spare;      /* 1 + the first row that is free */
	uint32_t corpses;    /* 1 + the first */
	uint64_t live;
	uint64_t mark; /* a seq: events up to this one came before the mark */
	bool marking;  /* corpses are kept */
};

void blocks_clear(struct blocks *blocks);

/* Returns 1 + the position of the block of the same kind at the same place, 0 for none. */
uint32_t blocks_find(const struct blocks *blocks, const struct block *like);

/* Enters a copy. Returns 1 + its position, 0 without memory. */
uint32_t blocks_add(struct blocks *blocks, const struct block *block);

/* Ends the block that blocks_find() returned. */
void blocks_end(struct blocks *blocks, uint32_t id);

/* Moves the mark to now, after event `seq`. */
void blocks_set_mark(struct blocks *blocks, uint64_t seq);

/* Removes all blocks, live now or at the mark. */
void blocks_forget(struct blocks *blocks);

/* True if the block was live at the mark, or is live, where no mark is kept. */
static inline bool block_counts(const struct blocks *blocks, const struct block *block)
{
	if (!blocks->marking)
		return block->state == BLOCK_LIVE;
	return block->state == BLOCK_CORPSE ||
	       (block->state == BLOCK_LIVE && block->seq <= blocks->mark);
}

/*
 * Finds the push that a pop ends: the newest open one that fits, by number for a range that was
 * started and ended (on any thread), by thread and domain for one that was pushed. `open` holds
 * open ranges alone; `what` is the caller's number for a range. ranges_push() returns false without
 * memory, ranges_pop() if no such range is open.
 */
bool ranges_push(struct blocks *open, const struct event *push, uint32_t what);
bool ranges_pop(struct blocks *open, const struct event *pop, uint32_t *what);

/* Takes any event, and gives a pop the name of the range that it ends. False without memory. */
bool ranges_tell(struct blocks *open, struct event *event);

/* --- events --- */

enum { LIVES_DEVICES = 256 };

struct lives {
	struct blocks blocks; /* the live blocks */
	uint64_t next_seq;
	bool filtered; /* a filter left events out, which the sums count */
	struct {       /* after the latest event that has them */
		uint64_t allocated, reserved;
		bool known;
	} sums[LIVES_DEVICES];
	uint64_t handle; /* the handle that ended with the event before, 0 for none */

	/*
	 * The blocks that the last event began and ended. A block that ends without having begun is
	 * `unseen`: then only this event describes it. A block that begins where another still is
	 * live ends that one, too.
	 */
	bool begins, ends, unseen;
	struct block begun, ended;
	uint32_t begun_id, ended_id; /* 1 + positions in blocks.list, 0 for none */
};

void lives_start(struct lives *lives, bool filtered);
void lives_clear(struct lives *lives);

/* True if events are missing before this one: numbers are, or the device's sums are not those of
 * the event before with this one's effect, as after the program stopped recording. */
bool lives_gap(const struct lives *lives, const struct event *event);

/* Goes on to the event; removes the blocks that were live before a gap. */
void lives_pass(struct lives *lives, const struct event *event);

/* The same, and applies the event's effect; `api` is the name of its call. 0 or -ENOMEM. */
int lives_take(struct lives *lives, const struct event *event, const char *api);

/* True if the event begins, or ends, a block. */
bool lives_begins(const struct event *event);
bool lives_ends(const struct event *event);

/* True if the block's bytes count in its device's sums. */
static inline bool lives_counts(const struct block *block)
{
	return space_on_card(block->device, block->space) && !block->foreign;
}

/* True for memory that this process uses. */
static inline bool lives_used(const struct block *block)
{
	return block->kind == BLOCK_HANDED && !block->foreign;
}

struct block lives_block(const struct lives *lives, const struct event *event, const char *api);
