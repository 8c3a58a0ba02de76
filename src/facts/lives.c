/* Follows blocks from allocation to free; the live ones are in a hash table by address. */
#include "facts/lives.h"

#include <errno.h>
#include <string.h>

#include "base/mem/arena.h"
#include "base/mem/each.h"
#include "base/mem/hash.h"
#include "facts/trace_model.h"

enum { FIRST_SIZE = 1024 };

void blocks_clear(struct blocks *blocks)
{
	pages_free(blocks->list, blocks->size * sizeof(*blocks->list));
	pages_free(blocks->heads, blocks->size * sizeof(*blocks->heads));
	*blocks = (struct blocks){ 0 };
}

static uint32_t chain_of(const struct blocks *blocks, const struct block *block)
{
	uint64_t place = (uint64_t)block->pool << 32 | (uint64_t)(uint16_t)block->device << 16 |
			 (uint64_t)block->space << 8 | block->kind;

	return (uint32_t)hash_mix(block->ptr, place) & (blocks->size - 1);
}

static void link_in(struct blocks *blocks, uint32_t at)
{
	uint32_t *head = &blocks->heads[chain_of(blocks, &blocks->list[at])];

	blocks->list[at].next = *head;
	*head = at + 1;
}

/* After doubling the number of hash chains, splits each old one in two. Keeps the order, so that of
 * two blocks at one address the newer still comes first. */
static void split_chains(struct blocks *blocks, const uint32_t *old, uint32_t old_n)
{
	for (uint32_t i = 0; i < old_n; i++) {
		uint32_t *ends[2] = { &blocks->heads[i], &blocks->heads[i + old_n] };

		for (uint32_t id = old[i]; id; id = blocks->list[id - 1].next) {
			uint32_t **end = &ends[chain_of(blocks, &blocks->list[id - 1]) != i];

			**end = id;
			*end = &blocks->list[id - 1].next;
		}
		*ends[0] = *ends[1] = 0;
	}
}

static bool grow_blocks(struct blocks *blocks)
{
	uint32_t old = blocks->size;
	uint32_t size = old ? old * 2 : FIRST_SIZE;
	uint32_t *old_heads = blocks->heads;
	uint32_t *heads = size ? pages_grow(NULL, 0, size * sizeof(*heads)) : NULL;
	struct block *list = NULL;

	if (heads)
		list = pages_grow(blocks->list, old * sizeof(*list), size * sizeof(*list));
	if (!list) {
		pages_free(heads, size * sizeof(*heads));
		return false;
	}
	blocks->list = list;
	blocks->heads = heads;
	blocks->size = size;
	split_chains(blocks, old_heads, old);
	pages_free(old_heads, old * sizeof(*heads));
	return true;
}

uint32_t blocks_find(const struct blocks *blocks, const struct block *like)
{
	uint32_t id = blocks->size ? blocks->heads[chain_of(blocks, like)] : 0;

	while (id) {
		const struct block *block = &blocks->list[id - 1];

		if (block->ptr == like->ptr && block->kind == like->kind &&
		    block->pool == like->pool && block->device == like->device &&
		    block->space == like->space)
			return id;
		id = block->next;
	}
	return 0;
}

uint32_t blocks_add(struct blocks *blocks, const struct block *block)
{
	uint32_t at = blocks->used;

	if (blocks->spare) {
		at = blocks->spare - 1;
		blocks->spare = blocks->list[at].next;
	} else if (at == blocks->size && !grow_blocks(blocks)) {
		return 0;
	} else {
		blocks->used++;
	}
	blocks->list[at] = *block;
	blocks->list[at].state = BLOCK_LIVE;
	link_in(blocks, at);
	blocks->live++;
	return at + 1;
}

static void put_away(struct blocks *blocks, uint32_t id)
{
	blocks->list[id - 1].state = BLOCK_SPARE;
	blocks->list[id - 1].next = blocks->spare;
	blocks->spare = id;
}

void blocks_end(struct blocks *blocks, uint32_t id)
{
	struct block *block = &blocks->list[id - 1];
	uint32_t *link = &blocks->heads[chain_of(blocks, block)];

	while (*link != id)
		link = &blocks->list[*link - 1].next;
	*link = block->next;
	blocks->live--;
	if (!blocks->marking || block->seq > blocks->mark) {
		put_away(blocks, id);
		return;
	}
	block->state = BLOCK_CORPSE;
	block->next = blocks->corpses;
	blocks->corpses = id;
}

void blocks_set_mark(struct blocks *blocks, uint64_t seq)
{
	blocks->mark = seq;
	while (blocks->corpses) {
		uint32_t id = blocks->corpses;

		blocks->corpses = blocks->list[id - 1].next;
		put_away(blocks, id);
	}
}

void blocks_forget(struct blocks *blocks)
{
	blocks->used = 0;
	blocks->spare = blocks->corpses = 0;
	blocks->live = 0;
	if (blocks->heads)
		memset(blocks->heads, 0, blocks->size * sizeof(*blocks->heads));
}

static struct block range_of(const struct event *event)
{
	return (struct block){
		.ptr = event->stream ? event->stream : event->thread,
		.pool = event->stream ? 0 : event->pool,
		.kind = event->stream ? RANGE_STARTED : RANGE_PUSHED,
	};
}

bool ranges_push(struct blocks *open, const struct event *push, uint32_t what)
{
	struct block range = range_of(push);

	range.stack = what;
	return blocks_add(open, &range) != 0;
}

bool ranges_pop(struct blocks *open, const struct event *pop, uint32_t *what)
{
	struct block range = range_of(pop);
	uint32_t id = blocks_find(open, &range);

	if (!id)
		return false;
	*what = open->list[id - 1].stack;
	blocks_end(open, id);
	return true;
}

bool ranges_tell(struct blocks *open, struct event *event)
{
	if (event->op == EVENT_PUSH)
		return ranges_push(open, event, event->name);
	if (event->op == EVENT_POP)
		ranges_pop(open, event, &event->name);
	return true;
}

void lives_start(struct lives *lives, bool filtered)
{
	*lives = (struct lives){ .filtered = filtered };
	for (int i = 0; i < LIVES_DEVICES; i++)
		lives->sums[i].known = true; /* all sums start at 0 */
}

void lives_clear(struct lives *lives)
{
	blocks_clear(&lives->blocks);
}

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

/* --- events that begin or end a block --- */

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

/* True for calls whose events have a handle of physical memory instead of an address, as `ptr`. */
static bool is_handle_call(const char *api)
{
	/* cuMemMap and cuMemUnmap may free memory whose handle was released before. */
	static const char calls[][32] = {
		"cuMemCreate", "cuMemImportFromShareableHandle",
		"cuMemMap",    "cuMemRelease",
		"cuMemUnmap",  "cuMulticastCreate",
	};

	for (size_t i = 0; i < COUNT_OF(calls); i++) {
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
		/* A `ptr` that the previous event released as a handle is a handle here, too. */
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
