/*
 * Events as the lives of blocks: which block an event begins, and which one it ends.
 *
 * A free is paired with its allocation by kind, device, space, pool and address. Where events are
 * missing, nobody knows what lived, and everything is forgotten.
 *
 * Also used at the end of the traced program.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "codec/event.h"

/*
 * Blocks, segments and mappings that are live, by address; and what was live at one moment in the
 * past, the mark.
 *
 * The mark is moved often (each time a sum is higher than ever) and must cost nothing then: a block
 * that ends behind the mark stays as a corpse until the mark moves on. So what was live at the mark
 * is what lives since before it, and the corpses.
 */
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

/* --- events --- */

enum { LIVES_DEVICES = 256 };

struct lives {
	struct blocks blocks; /* what lives */
	uint64_t next_seq;
	bool filtered; /* events were left out on purpose: sums hold what they did */
	struct {       /* behind the latest event that told them */
		uint64_t allocated, reserved;
		bool known;
	} sums[LIVES_DEVICES];
	uint64_t handle; /* that ended a moment ago */

	/*
	 * What the event just taken did. A block that ends was not seen to begin if `unseen`: then
	 * the event alone tells of it. One that began where another still was ends that one too.
	 */
	bool begins, ends, unseen;
	struct block begun, ended;
	uint32_t begun_id, ended_id; /* 1 + positions in blocks.list, 0 for none that is kept */
};

void lives_start(struct lives *lives, bool filtered);
void lives_clear(struct lives *lives);

/*
 * Are events missing in front of this one? Either their numbers are, or what the device holds is
 * not what the event before and this one make of it, as when the program stopped recording.
 */
bool lives_gap(const struct lives *lives, const struct event *event);

/* Goes on to the event and behind it; what lived in front of a gap is forgotten. */
void lives_pass(struct lives *lives, const struct event *event);

/* The same, and does what the event does; `api` is the name of its call. 0 or -ENOMEM. */
int lives_take(struct lives *lives, const struct event *event, const char *api);

/* Does the event begin or end a block? */
bool lives_begins(const struct event *event);
bool lives_ends(const struct event *event);

/* Do the block's bytes count in its device's sums? */
static inline bool lives_counts(const struct block *block)
{
	return space_on_card(block->device, block->space) && !block->foreign;
}

/* Is it memory that somebody of this process uses? */
static inline bool lives_used(const struct block *block)
{
	return block->kind == BLOCK_HANDED && !block->foreign;
}

/* The block that the event is about. */
struct block lives_block(const struct lives *lives, const struct event *event, const char *api);
