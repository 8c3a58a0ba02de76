/* Finds the blocks that were live before each event of a recording. */
#include "facts/live_at.h"

#include <errno.h>

#include "spool/event_journal.h"

/* Adds the bytes of a block without an address to the row of `rests` for its stack, pool, device
 * and kind; subtracts them if the block ends (not `begins`). */
static void move_rest(struct census *census, const struct block *block, bool begins)
{
	struct block *rest = census->rests;
	unsigned i = 0;

	for (; i < census->rests_n; i++, rest++) {
		if (rest->stack == block->stack && rest->pool == block->pool &&
		    rest->device == block->device && rest->kind == block->kind)
			break;
	}
	if (i == CENSUS_RESTS)
		return;
	if (i == census->rests_n) {
		*rest = *block;
		rest->size = 0;
		rest->state = BLOCK_LIVE;
		census->rests_n++;
	}
	if (begins)
		rest->size += block->size;
	else
		rest->size -= block->size < rest->size ? block->size : rest->size;
}

static int apply(struct census *census, const struct event *event)
{
	struct lives *lives = &census->lives;
	int error = lives_take(lives, event, spool_text(census->spool, event->api));

	if (!error && !event->ptr && (lives->begins || lives->ends))
		move_rest(census, lives->begins ? &lives->begun : &lives->ended, lives->begins);
	return error;
}

/* --- after a stretch of missing events --- */

struct mending {
	const struct event *from; /* first event after the missing ones */
	const struct blocks *old; /* blocks that were live before the missing events */
	struct blocks first;      /* the block of the first event at each address since `from` */
};

/* Handles the first event at an address since mending->from. If the event frees the block there
 * (`ending`), the block was live at mending->from and is added to the live blocks. `surely` is
 * false if more events are missing since mending->from. */
static int hear(struct census *census, struct mending *mending, struct block *block, bool ending,
		bool surely)
{
	uint32_t id = blocks_find(mending->old, block);
	const struct block *old = id ? &mending->old->list[id - 1] : NULL;

	if (!blocks_add(&mending->first, block))
		return -ENOMEM;
	if (old && old->size != block->size)
		old = NULL;
	/* If more events are missing, the block may have been allocated since `from`. */
	if (!ending || (!surely && !old))
		return 0;
	block->stack = old ? old->stack : UINT32_MAX;
	block->seq = 0;
	return blocks_add(&census->lives.blocks, block) ? 0 : -ENOMEM;
}

/* Finds blocks live at mending->from: those that events since then free but do not allocate. */
static int find_ended(struct census *census, struct mending *mending)
{
	static struct lives look; /* static: the traced program's stack may not have 6 KiB left */
	struct journal_reader reader;
	struct event event;
	bool surely = true;
	int error = journal_read(&reader, census->spool);

	look = (struct lives){ .next_seq = mending->from->seq };
	while (!error && journal_next(&reader, &event)) {
		struct block block;

		if (event.seq < mending->from->seq)
			continue;
		surely = surely && !lives_gap(&look, &event);
		lives_pass(&look, &event);
		block = lives_block(&look, &event, spool_text(census->spool, event.api));
		if (event.ptr && (lives_begins(&event) || lives_ends(&event)) &&
		    !blocks_find(&mending->first, &block))
			error = hear(census, mending, &block, lives_ends(&event), surely);
	}
	journal_read_end(&reader);
	return error;
}

static bool block_of_node(const struct spool_node *node, struct block *block)
{
	static const uint8_t kinds[NODE_KINDS] = {
		[NODE_ADDRESS] = BLOCK_HANDED + 1, [NODE_BLOCK] = BLOCK_HANDED + 1,
		[NODE_HANDLE] = BLOCK_HANDED + 1,  [NODE_MAPPING] = BLOCK_MAPPING + 1,
		[NODE_ARRAY] = BLOCK_HANDED + 1,   [NODE_HELD] = BLOCK_HANDED + 1,
	};
	unsigned kind = node->kind < NODE_KINDS ? kinds[node->kind] : 0;

	*block = (struct block){
		.ptr = node->address,
		.size = node->size,
		.t = node->t,
		.stack = node->stack,
		.pool = node->pool,
		.device = node->device,
		.space = node->space,
		.kind = (uint8_t)(kind - 1),
		.foreign = node->flags & NODE_FOREIGN,
		.handle = node->kind == NODE_HANDLE || node->kind == NODE_HELD,
	};
	if (node->flags & NODE_SEGMENT && block->kind == BLOCK_HANDED)
		block->kind = BLOCK_SEGMENT;
	return kind && node->address;
}

/* Finds blocks that are live at the end, are older than mending->from and are in no event after. */
static int find_living(struct census *census, const struct mending *mending)
{
	uint64_t nodes = spool_count(census->spool, SPOOL_NODE);
	int error = 0;

	for (uint64_t i = 0; !error && i < nodes; i++) {
		const struct spool_node *node = spool_at(census->spool, SPOOL_NODE, i);
		struct block block;

		if (node->t <= mending->from->t && block_of_node(node, &block) &&
		    !blocks_find(&mending->first, &block))
			error = blocks_add(&census->lives.blocks, &block) ? 0 : -ENOMEM;
	}
	return error;
}

/* Finds the live blocks before this event, when the events before it are missing. */
static int start_anew(struct census *census, const struct event *event)
{
	struct blocks old = census->lives.blocks;
	struct mending mending = { .from = event, .old = &old };
	int error;

	census->lives = (struct lives){ .next_seq = event->seq };
	census->rests_n = 0;
	error = find_ended(census, &mending) ?: find_living(census, &mending);
	blocks_clear(&mending.first);
	blocks_clear(&old);
	return error;
}

static int step(struct census *census, const struct live_at_visitor *visitor,
		const struct event *event)
{
	uint64_t expected = census->lives.next_seq;
	int error = 0;

	visitor->event(visitor->context, event);
	/* With a filter, some blocks were not recorded, so the live blocks are not known. */
	if (census->spool->header->filtered)
		return 0;
	if (event->seq != expected)
		error = visitor->moment(visitor->context, census, expected);
	if (!error && lives_gap(&census->lives, event))
		error = start_anew(census, event);
	if (!error)
		error = visitor->moment(visitor->context, census, event->seq);
	return error ?: apply(census, event);
}

int live_at_take(const struct spool *spool, const struct live_at_visitor *visitor)
{
	/* Static, because the traced program's stack may not have 10 KiB left. */
	static struct census census;
	struct journal_reader reader;
	struct event event;
	int error = journal_read(&reader, spool);

	census = (struct census){ .spool = spool };
	lives_start(&census.lives, false);
	while (!error && journal_next(&reader, &event))
		error = step(&census, visitor, &event);
	if (!error && !spool->header->filtered)
		error = visitor->moment(visitor->context, &census, census.lives.next_seq);
	journal_read_end(&reader);
	lives_clear(&census.lives);
	return error;
}
