/*
 * Events as the lives of blocks: which block an event begins, which one it ends.
 *
 * For who walks over a trace's events (trace_next) and wants a life as one thing. A free is paired
 * with its allocation by kind, device, space, pool and address; where events are missing, nobody
 * knows what lived, and everything is forgotten.
 */
#ifndef ANALYSE_LIFETIMES_LIFETIMES_H
#define ANALYSE_LIFETIMES_LIFETIMES_H

#include "analyse/trace/trace.h"
#include "facts/live_blocks.h"

struct pair_device {
	int device;
	uint64_t allocated, reserved; /* behind the latest event that told them */
};

struct pair {
	struct blocks blocks; /* what lives: a block's `stack` is the trace's */
	struct trace *trace;
	struct pair_device *devices;
	size_t devices_n;
	uint64_t next_seq;
	uint64_t missing; /* events that are known to be missing, so far */

	/*
	 * What the event just taken did. A block that ends was not seen to begin if `unseen`: then
	 * the event alone tells of it. One that began where another still was ends that one too.
	 */
	bool begins, ends, unseen;
	struct block begun, ended;
	uint32_t begun_id, ended_id; /* 1 + positions in blocks.list, 0 for none that is kept */

	/* The rest is its own. */
	uint64_t handle; /* that ended a moment ago */
};

/* 0 or -errno with err_text(); the trace must outlive the pair. */
int pair_start(struct pair *pair, struct trace *trace);

/*
 * Are events missing in front of this one? Either their numbers are, or what the device holds is
 * not what the event before and this one make of it. Before pair_take(), which then forgets.
 */
bool pair_gap(const struct pair *pair, const struct event *event);

/* 0 or -errno with err_text(). */
int pair_take(struct pair *pair, const struct event *event);

void pair_clear(struct pair *pair);

/* For who keeps blocks in another way (replay.h): what an event does to a block of which kind. */
enum pair_act { PAIR_NOTHING, PAIR_BEGINS, PAIR_ENDS };
enum pair_act pair_act(enum event_op op, enum block_kind *kind);

/* The block that the event is about; `ended_handle` is what the event before ended, 0 for none. */
struct block pair_block(const struct trace *trace, const struct event *event, enum block_kind kind,
			uint64_t ended_handle);

/* Are the device's sums that the event tells those before it and its effect? */
bool pair_follows(uint64_t allocated, uint64_t reserved, const struct event *event);

/* Do the block's bytes count in its device's sums? */
static inline bool pair_counts(const struct block *block)
{
	return space_on_card(block->device, block->space) && !block->foreign;
}

#endif
