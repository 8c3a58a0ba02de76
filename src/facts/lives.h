/*
 * Events as the lives of blocks: which block an event begins, and which one it ends.
 *
 * A free is paired with its allocation by kind, device, space, pool and address. Where events are
 * missing, nobody knows what lived, and everything is forgotten.
 *
 * Also used at the end of the traced program.
 */
#pragma once

#include "codec/event.h"
#include "facts/live_blocks.h"

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
