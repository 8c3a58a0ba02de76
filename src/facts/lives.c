/* Events as the lives of blocks. */
#include "facts/lives.h"

#include <errno.h>
#include <string.h>

#include "facts/trace_model.h"

void lives_start(struct lives *lives, bool filtered)
{
	*lives = (struct lives){ .filtered = filtered };
	for (int i = 0; i < LIVES_DEVICES; i++)
		lives->sums[i].known = true; /* nothing yet */
}

void lives_clear(struct lives *lives)
{
	blocks_clear(&lives->blocks);
}

/* --- gaps --- */

/* Does the event tell the sums of a device that is followed? */
static bool tells_sums(const struct event *event)
{
	return event_is_memory(event->op) && event->device >= 0 && event->device < LIVES_DEVICES &&
	       event->allocated != TRACE_NONE;
}

bool lives_gap(const struct lives *lives, const struct event *event)
{
	int64_t allocated, reserved;

	if (event->seq != lives->next_seq)
		return true;
	if (lives->filtered || !tells_sums(event) || !lives->sums[event->device].known)
		return false;
	event_effect(event, &allocated, &reserved);
	return lives->sums[event->device].allocated + (uint64_t)allocated != event->allocated ||
	       lives->sums[event->device].reserved + (uint64_t)reserved != event->reserved;
}

void lives_pass(struct lives *lives, const struct event *event)
{
	if (lives_gap(lives, event)) {
		blocks_forget(&lives->blocks);
		lives->handle = 0;
		for (int i = 0; i < LIVES_DEVICES; i++)
			lives->sums[i].known = false;
	}
	lives->next_seq = event->seq + 1;
	lives->begins = lives->ends = lives->unseen = false;
	lives->begun_id = lives->ended_id = 0;
	if (!tells_sums(event))
		return;
	lives->sums[event->device].allocated = event->allocated;
	lives->sums[event->device].reserved = event->reserved;
	lives->sums[event->device].known = true;
}

/* --- blocks --- */

bool lives_begins(const struct event *event)
{
	return event->op == EVENT_ALLOC || event->op == EVENT_RESERVE || event->op == EVENT_MAP;
}

bool lives_ends(const struct event *event)
{
	return event->op == EVENT_FREE || event->op == EVENT_RELEASE || event->op == EVENT_UNMAP;
}

static enum block_kind kind_of(unsigned op)
{
	if (op == EVENT_ALLOC || op == EVENT_FREE)
		return BLOCK_HANDED;
	return op == EVENT_MAP || op == EVENT_UNMAP ? BLOCK_MAPPING : BLOCK_SEGMENT;
}

/* A call whose block has a handle of physical memory in the place of an address. */
static bool is_handle_call(const char *api)
{
	/* cuMemMap and cuMemUnmap end memory whose handle was released before: it lives as long as
	 * something is mapped to it. */
	static const char calls[][32] = {
		"cuMemCreate", "cuMemImportFromShareableHandle",
		"cuMemMap",    "cuMemRelease",
		"cuMemUnmap",  "cuMulticastCreate",
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (!strcmp(api, calls[i]))
			return true;
	}
	return false;
}

struct block lives_block(const struct lives *lives, const struct event *event, const char *api)
{
	enum block_kind kind = kind_of(event->op);

	return (struct block){
		.ptr = event->ptr,
		.size = event->size,
		.seq = event->seq,
		.t = event->t,
		.stack = event->stack,
		.pool = event->pool,
		.thread = event->thread,
		.device = event->device,
		.space = event->space,
		.kind = (uint8_t)kind,
		.foreign = event->flags & EVENT_FOREIGN,
		/* What was a handle a moment ago still is one: a correction. */
		.handle = kind != BLOCK_MAPPING && ((api && is_handle_call(api)) ||
						    (event->ptr && event->ptr == lives->handle)),
	};
}

static void end_block(struct lives *lives, uint32_t id)
{
	lives->ends = true;
	lives->ended = lives->blocks.list[id - 1];
	lives->ended_id = id;
	blocks_end(&lives->blocks, id);
}

static int begin_block(struct lives *lives, const struct block *block)
{
	lives->begins = true;
	lives->begun = *block;
	if (!block->ptr)
		return 0;
	lives->begun_id = blocks_add(&lives->blocks, block);
	return lives->begun_id ? 0 : -ENOMEM;
}

int lives_take(struct lives *lives, const struct event *event, const char *api)
{
	bool begins = lives_begins(event);
	struct block block;
	uint32_t id;

	lives_pass(lives, event);
	if (!begins && !lives_ends(event))
		return 0;
	block = lives_block(lives, event, api);
	id = block.ptr ? blocks_find(&lives->blocks, &block) : 0;
	if (id) {
		end_block(lives, id);
	} else if (!begins) {
		lives->ends = lives->unseen = true;
		lives->ended = block;
	}
	if (block.ptr)
		lives->handle = !begins && lives->ended.handle ? block.ptr : 0;
	return begins ? begin_block(lives, &block) : 0;
}
