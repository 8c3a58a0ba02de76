/*
 * Follows blocks of memory through the events of a recording: finds the block that an event
 * allocates ("begins") or frees ("ends").
 *
 * A free is paired with its allocation by kind, device, space, pool and address. Where events are
 * missing, it is no longer known which blocks are live, so all blocks are removed.
 *
 * This also runs in the traced program when it ends, so memory comes from mmap, not malloc.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "codec/event.h"

enum block_kind {
	BLOCK_HANDED,  /* from an `alloc` event: memory that the program uses */
	BLOCK_SEGMENT, /* from a `reserve` event: memory that a pool got from the driver */
	BLOCK_MAPPING, /* from a `map` event: a pool's addresses with memory mapped to them */
	RANGE_STARTED, /* RANGE_*: not memory but an open range, see ranges_push() */
	RANGE_PUSHED,
};

enum block_state { BLOCK_SPARE, BLOCK_LIVE, BLOCK_CORPSE };

struct block {
	uint64_t ptr, size;
	uint64_t seq, t; /* number and time (ns) of the event that allocated the block */
	uint32_t stack;  /* number of the event's stack, UINT32_MAX for none */
	uint32_t pool;   /* id of the pool's name in the spool's texts, 0 for no pool */
	uint32_t thread;
	uint32_t next; /* 1 + position of the next block in its hash chain or list, 0 for none */
	int16_t device;
	uint8_t space, kind, state;
	bool foreign; /* true for another process's memory, which no sum includes */
	bool handle;  /* true if ptr is a handle, not an address */
};

/*
 * A hash table by address of the blocks, segments and mappings that are live, and of those that
 * were live at one past point in time, called the mark. An empty table is all 0.
 *
 * The mark moves each time a sum reaches a new maximum, so moving it must be cheap: a block that
 * was live at the mark and is freed later stays in the table, as a `corpse`, until the mark moves.
 * So the corpses, and the live blocks that are older than the mark, were live at the mark.
 */
struct blocks {
	struct block *list;
	uint32_t used, size; /* number of entries in list[]: used at least once, and allocated */
	uint32_t *heads;     /* `size` (2^n) hash chains: 1 + position of the first block */
	uint32_t spare;      /* 1 + position of the first entry that is free again, 0 for none */
	uint32_t corpses;    /* 1 + position of the first corpse (see above), 0 for none */
	uint64_t live;
	uint64_t mark; /* number of the last event before the mark (see above) */
	bool marking;  /* true if the mark is used, so that freed blocks become corpses */
};

void blocks_clear(struct blocks *blocks);

/* Returns 1 + position of the live block of like's kind, device, space, pool and address, or else
 * 0. */
uint32_t blocks_find(const struct blocks *blocks, const struct block *like);

/* Adds a copy of the block. Returns 1 + the copy's position, 0 if memory is short. */
uint32_t blocks_add(struct blocks *blocks, const struct block *block);

/* Ends the block with the id from blocks_find(). If it was live at the mark, it becomes a corpse
 * (see struct blocks). */
void blocks_end(struct blocks *blocks, uint32_t id);

/* Moves the mark (see struct blocks) to the present, just after event `seq`. */
void blocks_set_mark(struct blocks *blocks, uint64_t seq);

/* Removes all blocks, live now or at the mark. */
void blocks_forget(struct blocks *blocks);

/* True if the block was live at the mark (see struct blocks) or, without a mark, is live now. */
static inline bool block_counts(const struct blocks *blocks, const struct block *block)
{
	if (!blocks->marking)
		return block->state == BLOCK_LIVE;
	return block->state == BLOCK_CORPSE ||
	       (block->state == BLOCK_LIVE && block->seq <= blocks->mark);
}

/*
 * Open ranges, for phases. ranges_pop() removes the range that a pop closes: the newest open one
 * that has the same number (NVTX's start and end, on any thread), or else the same thread and
 * domain (NVTX's push and pop). `open` must hold nothing but open ranges; `what` is a number that
 * the caller stores with the range. ranges_push() returns false if memory is short, ranges_pop() if
 * no such range is open.
 */
bool ranges_push(struct blocks *open, const struct event *push, uint32_t what);
bool ranges_pop(struct blocks *open, const struct event *pop, uint32_t *what);

/* To be called with every event in order. Stores in each pop event the name of its push. Returns
 * false if memory is short. */
bool ranges_tell(struct blocks *open, struct event *event);

/* --- events --- */

enum { LIVES_DEVICES = 256 };

struct lives {
	struct blocks blocks; /* the live blocks */
	uint64_t next_seq;
	bool filtered; /* true if a filter left out events, whose memory is in the sums */
	struct {       /* each device's sums, as its latest event with sums has them */
		uint64_t allocated, reserved;
		bool known;
	} sums[LIVES_DEVICES];
	uint64_t handle; /* the handle that the last event with a `ptr` released, else 0 */

	/* The blocks that the last event began (allocated) and ended (freed). If `unseen`, no event
	 * had allocated the ended block, so `ended` has only what the free contains. An allocation
	 * at the address of a live block ends that block. */
	bool begins, ends, unseen;
	struct block begun, ended;
	uint32_t begun_id, ended_id; /* 1 + positions in blocks.list, 0 for none */
};

void lives_start(struct lives *lives, bool filtered);
void lives_clear(struct lives *lives);

/* True if events are missing before this one: a number is skipped, or the device's sums are not its
 * last sums plus this event's effect, as after the program stopped recording for a while. */
bool lives_gap(const struct lives *lives, const struct event *event);

/* Stores only the event's number and sums. If events are missing before it, drops all blocks. */
void lives_pass(struct lives *lives, const struct event *event);

/* Like lives_pass(), but also adds or removes the event's block. Returns 0 or -ENOMEM. `api` is the
 * name of the function that the program called, or NULL. */
int lives_take(struct lives *lives, const struct event *event, const char *api);

bool lives_begins(const struct event *event);
bool lives_ends(const struct event *event);

/* True if the block's bytes are in its device's sums. */
static inline bool lives_counts(const struct block *block)
{
	return space_on_card(block->device, block->space) && !block->foreign;
}

/* True for a block that the recorded process uses: no segment, mapping or foreign memory. */
static inline bool lives_used(const struct block *block)
{
	return block->kind == BLOCK_HANDED && !block->foreign;
}

struct block lives_block(const struct lives *lives, const struct event *event, const char *api);
