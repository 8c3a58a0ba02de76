/* The ledger, naively. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

struct model_scope *model_scope(struct model *model, enum scope_kind kind, int device,
				uint32_t name)
{
	struct model_scope *scope;

	for (unsigned i = 0; i < model->scopes_n; i++) {
		scope = &model->scopes[i];
		if (scope->kind == kind && scope->device == device && scope->name == name)
			return scope;
	}
	if (model->scopes_n == MODEL_SCOPES)
		abort();
	scope = &model->scopes[model->scopes_n++];
	memset(scope, 0, sizeof(*scope));
	scope->kind = kind;
	scope->device = device;
	scope->name = name;
	return scope;
}

static bool comes(const struct event *event)
{
	return event->op == EVENT_ALLOC || event->op == EVENT_RESERVE;
}

/* What a pool holds without an address is one block, as long as it is anything. */
static uint64_t blocks_of(struct model *model, const struct event *event, uint32_t stack)
{
	bool handed = event->op == EVENT_ALLOC || event->op == EVENT_FREE;
	uint64_t before;

	if (event->ptr)
		return comes(event) ? 1 : (uint64_t)-1;
	before = model_scope(model, SCOPE_POOL, event->device, event->pool)
			 ->sums[handed ? 0 : 1]
			 .bytes[stack];
	return comes(event) ? before == 0 : (uint64_t)0 - (before == event->size);
}

static void add(struct model_sum *sum, const struct event *event, uint32_t stack, uint64_t blocks)
{
	bool in = comes(event);

	sum->now += in ? event->size : 0 - event->size;
	sum->bytes[stack] += in ? event->size : 0 - event->size;
	sum->count[stack] += blocks;
	if (sum->now <= sum->peak)
		return;
	sum->peak = sum->now;
	sum->peak_t = event->t;
	memcpy(sum->peak_bytes, sum->bytes, sizeof(sum->bytes));
	memcpy(sum->peak_count, sum->count, sizeof(sum->count));
}

static void count(struct model_scope *scope, const struct event *event)
{
	if (comes(event))
		scope->allocations++;
	else
		scope->frees++;
}

static void book_card(struct model *model, const struct event *event, uint32_t stack,
		      uint32_t owner)
{
	struct model_scope *device = model_scope(model, SCOPE_DEVICE, event->device, 0);
	bool handed = event->op == EVENT_ALLOC || event->op == EVENT_FREE;
	bool driver = !handed || !event->pool;
	bool bytes = !(event->flags & EVENT_FOREIGN);
	uint64_t blocks = blocks_of(model, event, stack);

	if (bytes && handed)
		add(&device->sums[0], event, stack, blocks);
	if (bytes && driver)
		add(&device->sums[1], event, stack, blocks);
	if (handed)
		count(device, event);
	if (event->pool) {
		struct model_scope *pool =
			model_scope(model, SCOPE_POOL, event->device, event->pool);

		if (bytes)
			add(&pool->sums[handed ? 0 : 1], event, stack, blocks);
		if (handed)
			count(pool, event);
	}
	if (owner && driver) {
		struct model_scope *own = model_scope(model, SCOPE_OWNER, event->device, owner);

		if (bytes && handed)
			add(&own->sums[0], event, stack, blocks);
		if (bytes)
			add(&own->sums[1], event, stack, blocks);
		count(own, event);
	}
}

/* Memory that is not the card's, and arrays, have sums by space. */
static void book_space(struct model *model, const struct event *event, uint32_t stack, bool card)
{
	struct model_scope *space = model_scope(model, SCOPE_SPACE, NO_DEVICE, event->space);
	struct model_scope *pool = NULL;
	bool bytes = !(event->flags & EVENT_FOREIGN);
	uint64_t blocks = blocks_of(model, event, stack);

	if (event->op != EVENT_ALLOC && event->op != EVENT_FREE)
		return;
	if (!card && event->pool)
		pool = model_scope(model, SCOPE_POOL, event->device, event->pool);
	count(space, event);
	if (pool)
		count(pool, event);
	if (!bytes)
		return;
	add(&space->sums[0], event, stack, blocks);
	if (pool)
		add(&pool->sums[0], event, stack, blocks);
}

void model_book(struct model *model, struct event *event, uint32_t stack, uint32_t owner)
{
	bool card = event->space == SPACE_DEVICE || event->space == SPACE_ARRAY;

	if (event->op <= EVENT_RELEASE) {
		if (card)
			book_card(model, event, stack, owner);
		if (event->space != SPACE_DEVICE)
			book_space(model, event, stack, card);
	}
	if (event->op == EVENT_OOM) {
		model_scope(model, SCOPE_DEVICE, event->device, 0)->ooms++;
		if (event->pool)
			model_scope(model, SCOPE_POOL, event->device, event->pool)->ooms++;
	}
	if (event->device >= 0) {
		const struct model_scope *device =
			model_scope(model, SCOPE_DEVICE, event->device, 0);

		event->allocated = device->sums[0].now;
		event->reserved = device->sums[1].now;
	}
	model->events_n++;
}

int model_find(const struct model *model, enum node_kind kind, uint32_t pool, uint64_t ptr)
{
	for (int i = 0; i < MODEL_ENTRIES; i++) {
		const struct model_entry *entry = &model->entries[i];

		if (entry->kind == kind && entry->ptr == ptr &&
		    (kind != NODE_BLOCK || entry->pool == pool))
			return i;
	}
	return -1;
}

int model_place(const struct model *model)
{
	for (int i = 0; i < MODEL_ENTRIES; i++) {
		if (model->entries[i].kind == NODE_FREE)
			return i;
	}
	return -1;
}

struct event model_end(const struct model_entry *entry, const struct event *like)
{
	struct event event = *like;

	event.op = entry->segment ? EVENT_RELEASE : EVENT_FREE;
	event.ptr = entry->ptr;
	event.size = entry->size;
	event.device = (int16_t)entry->device;
	event.space = (uint8_t)entry->space;
	event.pool = entry->pool;
	event.flags = entry->foreign ? EVENT_FOREIGN : 0;
	return event;
}

void model_born(struct model *model, uint32_t stack, uint64_t size)
{
	model->stacks[stack].allocations++;
	model->stacks[stack].bytes += size;
}

void model_freed(struct model *model, uint32_t born, uint32_t here, uint64_t size)
{
	model->stacks[born].frees++;
	model->stacks[born].freed += size;
	model->stacks[here].frees_here++;
	model->stacks[here].freed_here += size;
}

void model_died(struct model *model, const struct model_entry *entry, const struct event *event)
{
	struct model_stack *row = &model->stacks[entry->stack];
	uint64_t lifetime = event->t > entry->t ? event->t - entry->t : 1;

	if (entry->segment)
		return;
	if (!row->lifetime_max || lifetime < row->lifetime_min)
		row->lifetime_min = lifetime;
	if (lifetime > row->lifetime_max)
		row->lifetime_max = lifetime;
	model_freed(model, entry->stack, event->stack, entry->size);
}
