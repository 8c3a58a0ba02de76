/*
 * Adds events to the sums of devices, pools, libraries and stacks, each in one transaction.
 *
 * move() decides which sums an event changes. For waiting blocks (pending.h), pending.c decides.
 */
#include "ledger/ledger_parts.h"

#include <stddef.h>
#include <sys/param.h>

#include "base/guest/hot.h"
#include "base/settings/sample.h"
#include "ledger/device_used.h"
#include "ledger/timeline.h"
#include "ledger/vmm.h"
#include "spool/txn.h"

/* True for events about memory from the driver, false for those about blocks inside a pool. */
static bool from_driver(const struct event *event)
{
	return !event->pool || event->op == EVENT_RESERVE || event->op == EVENT_RELEASE;
}

/* A key for the scopes that an event changes, except its owner's: pool, device, space. Never 0. */
static inline uint64_t where_of(const struct event *event)
{
	return (uint64_t)event->pool << 32 | (uint64_t)(uint16_t)event->device << 16 |
	       (uint64_t)event->space << 1 | 1;
}

HOT_CODE const struct touched *ledger_touch(struct ledger *ledger, const struct event *event,
					    uint32_t owner)
{
	const struct ledger_touched *last = &ledger->last_touched;
	uint64_t where = where_of(event);

	if (ledger->error)
		return NULL;
	if (!space_on_card(event->device, event->space) || !from_driver(event))
		owner = 0;
	if ((last->where != where || last->owner != owner) &&
	    !ledger_touch_anew(ledger, event, where, owner))
		return NULL;
	return &last->touched;
}

/* Adds the last event's sums to curves, when ledger_retag() will no longer rewrite the event. */
static void draw_curves(struct ledger *ledger)
{
	struct spool *spool = ledger->spool;

	while (ledger->undrawn_n) {
		struct spool_scope *scope = ledger->undrawn[--ledger->undrawn_n];

		timeline_draw(spool, scope, ledger_pen(ledger, scope), spool->header->t);
	}
}

HOT_CODE bool ledger_room(struct ledger *ledger, unsigned events)
{
	int error;

	if (ledger->error)
		return false;
	draw_curves(ledger);
	error = live_room(ledger->spool) ?: totals_room(ledger->spool, events);
	if (!error && !ledger->quiet)
		error = journal_room(&ledger->journal, events);
	return !ledger_fails(ledger, error);
}

HOT_CODE void ledger_put(struct ledger *ledger, struct event *event)
{
	struct spool *spool = ledger->spool;

	if (ledger->quiet || event->untold) {
		txn_add64(spool, ledger->quiet ? &spool->header->paused : &spool->header->filtered,
			  1);
		/* Events that are not written also advance the time of the curves. */
		event->t = MAX(event->t, spool->header->t);
		txn_set64(spool, &spool->header->t, event->t);
		ledger->behind = true;
		return;
	}
	if (ledger->behind)
		journal_resync(&ledger->journal);
	ledger->behind = false;
	journal_put(&ledger->journal, event);
}

static inline void count(struct spool *spool, const struct totals_scope *scope, bool in)
{
	if (scope->row)
		txn_add64(spool, in ? &scope->row->allocations : &scope->row->frees, 1);
}

static inline void shift(struct spool *spool, const struct totals_scope *scope, enum metric metric,
			 const struct totals_change *change)
{
	if (scope->row)
		totals_add(spool, scope, metric, change);
}

static inline int64_t stands_for(const struct spool *spool, const struct event *event)
{
	if (__builtin_expect(!event->sampled, 1))
		return 0;
	return (int64_t)sample_weigh(event->size, spool->header->sample).bytes;
}

/* Changes all sums and counts for an event. `stack` is the stack that allocated the bytes (a free
 * also has a stack of its own); its number of blocks changes by `blocks`. */
static HOT_CODE void move(struct ledger *ledger, const struct event *event, uint32_t stack,
			  const struct touched *touched, int64_t blocks)
{
	struct spool *spool = ledger->spool;
	bool in = ledger_comes(event);
	bool handed = event->op == EVENT_ALLOC || event->op == EVENT_FREE;
	int64_t sign = in ? 1 : -1;
	struct totals_change change = {
		.row = spool_at(spool, SPOOL_STACK, stack),
		.count = blocks,
		.stands = sign * stands_for(spool, event),
		.t = event->t,
	};
	int64_t part[METRIC_USED];

	event_effect(event, &part[METRIC_ALLOCATED], &part[METRIC_RESERVED]);
	for (unsigned metric = 0; metric < METRIC_USED; metric++) {
		change.bytes = part[metric];
		if (!change.bytes)
			continue;
		shift(spool, &touched->device, metric, &change);
		shift(spool, &touched->pool, metric, &change);
		shift(spool, &touched->owner, metric, &change);
	}
	if (part[METRIC_RESERVED] && touched->device.row)
		used_move(ledger, touched->device.row, part[METRIC_RESERVED], event->t);
	if (touched->space.row && !(event->flags & EVENT_FOREIGN)) {
		change.bytes = sign * (int64_t)event->size;
		if (handed)
			totals_add(spool, &touched->space, METRIC_ALLOCATED, &change);
		/* part[] is 0 for memory outside the GPU, but a pool of such memory has sums. */
		if (!space_on_card(event->device, event->space))
			shift(spool, &touched->pool, handed ? METRIC_ALLOCATED : METRIC_RESERVED,
			      &change);
	}
	count(spool, &touched->owner, in);
	if (!handed)
		return;
	count(spool, &touched->device, in);
	count(spool, &touched->pool, in);
	count(spool, &touched->space, in);
}

HOT_CODE void ledger_count_birth(struct ledger *ledger, const struct event *event, uint32_t stack)
{
	struct spool_stack *row = spool_at(ledger->spool, SPOOL_STACK, stack);

	if (event->op != EVENT_ALLOC)
		return;
	txn_keep_run(ledger->spool, &row->allocations, 2);
	row->allocations++;
	row->bytes += event->size;
	if (event->sampled) {
		struct sample_weight stands =
			sample_weigh(event->size, ledger->spool->header->sample);

		txn_add64(ledger->spool, &row->estimated_parts, stands.parts);
		txn_add64(ledger->spool, &row->estimated_bytes, stands.bytes);
	}
}

_Static_assert(offsetof(struct spool_stack, bytes) ==
			       offsetof(struct spool_stack, allocations) + 8 &&
		       offsetof(struct spool_stack, freed) ==
			       offsetof(struct spool_stack, frees) + 8 &&
		       offsetof(struct spool_stack, freed_here) ==
			       offsetof(struct spool_stack, frees_here) + 8,
	       "a count and its bytes, saved together, must be contiguous");

HOT_CODE void ledger_count_free(struct spool *spool, uint32_t born, uint32_t died, uint64_t size)
{
	struct spool_stack *row = spool_at(spool, SPOOL_STACK, born);
	struct spool_stack *here = born == died ? row : spool_at(spool, SPOOL_STACK, died);

	txn_keep_run(spool, &row->frees, 2);
	row->frees++;
	row->freed += size;
	txn_keep_run(spool, &here->frees_here, 2);
	here->frees_here++;
	here->freed_here += size;
}

/* Counts a lifetime in ns: at least 1, because 0 means that no lifetime is known. */
static HOT_CODE void count_lifetime(struct spool *spool, uint32_t born, uint64_t from, uint64_t to)
{
	struct spool_stack *row = spool_at(spool, SPOOL_STACK, born);
	uint64_t lifetime = to > from ? to - from : 1;

	if (!row->lifetime_max || lifetime < row->lifetime_min)
		txn_set64(spool, &row->lifetime_min, lifetime);
	if (lifetime > row->lifetime_max)
		txn_set64(spool, &row->lifetime_max, lifetime);
}

static inline int64_t one_block(const struct event *event)
{
	return ledger_comes(event) ? 1 : -1;
}

void ledger_book(struct ledger *ledger, struct event *event, uint32_t stack,
		 const struct touched *touched)
{
	ledger_put(ledger, event);
	move(ledger, event, stack, touched, one_block(event));
}

HOT_CODE bool ledger_begin(struct ledger *ledger, struct event *event, uint32_t stack,
			   uint32_t owner, int64_t blocks)
{
	const struct touched *touched = ledger_touch(ledger, event, owner);

	ledger->newest = 0;
	if (!touched || !ledger_room(ledger, 1))
		return false;
	txn_begin(ledger->spool);
	ledger_put(ledger, event);
	move(ledger, event, stack, touched, blocks);
	return true;
}

void ledger_redraw(struct ledger *ledger, const struct totals_scope *scope)
{
	if (scope->row)
		ledger->undrawn[ledger->undrawn_n++] = scope->row;
}

HOT_CODE void ledger_commit(struct ledger *ledger, const struct touched *touched)
{
	if (__builtin_expect(ledger->backlog.taking, 0)) {
		txn_add64(ledger->spool, &ledger->spool->header->backlog.booked, 1);
		ledger->backlog.waiting--;
	}
	txn_commit(ledger->spool);
	ledger_redraw(ledger, &touched->device);
	ledger_redraw(ledger, &touched->pool);
	ledger_redraw(ledger, &touched->space);
}

/* Stores the event, so that ledger_retag() can rewrite it. A pool's block is never retagged. */
static void remember(struct ledger *ledger, const struct event *event, uint32_t id)
{
	ledger->newest = id;
	ledger->newest_generation = txn_generation(ledger->spool);
	ledger->newest_event = *event;
	ledger->newest_quiet = ledger->quiet;
}

static void enter_node(struct ledger *ledger, struct event *event, struct spool_node *node)
{
	uint32_t id;

	granules_count(&ledger->granules, node, true);
	if (!ledger_begin(ledger, event, node->stack, node->owner, one_block(event)))
		return;
	node->t = node->t ? node->t : event->t;
	id = live_insert(ledger->spool, node);
	ledger_count_birth(ledger, event, node->stack);
	ledger_commit(ledger, &ledger->last_touched.touched);
	if (node->kind != NODE_BLOCK)
		remember(ledger, event, id);
}

void ledger_tell_end(struct event *event, const struct spool_node *node)
{
	event->op = node->flags & NODE_SEGMENT ? EVENT_RELEASE : EVENT_FREE;
	event->flags = node->flags & NODE_FOREIGN ? EVENT_FOREIGN : 0;
	event->ptr = node->address;
	event->size = node->size;
	event->space = node->space;
	event->device = node->device;
	event->pool = node->pool;
	event->untold = node->flags & NODE_UNTOLD;
	event->sampled = node->flags & NODE_SAMPLED;
}

HOT_CODE void ledger_count_death(struct ledger *ledger, const struct event *event,
				 const struct spool_node *node)
{
	if (event->op != EVENT_FREE)
		return;
	count_lifetime(ledger->spool, node->stack, node->t, event->t);
	ledger_count_free(ledger->spool, node->stack, event->stack, node->size);
}

HOT_CODE void ledger_bury(struct ledger *ledger, const struct event *event, uint32_t id)
{
	const struct spool_node *node = live_node(ledger->spool, id);

	ledger_count_death(ledger, event, node);
	live_remove(ledger->spool, id);
}

HOT_CODE void ledger_leave_node(struct ledger *ledger, struct event *event, uint32_t id)
{
	struct spool_node node = *live_node(ledger->spool, id);

	ledger_tell_end(event, &node);
	granules_count(&ledger->granules, &node, false);
	if (!ledger_begin(ledger, event, node.stack, node.owner, one_block(event)))
		return;
	ledger_bury(ledger, event, id);
	ledger_commit(ledger, &ledger->last_touched.touched);
}

HOT_CODE void ledger_enter(struct ledger *ledger, struct event *event, enum node_kind kind,
			   uint32_t owner, uint64_t link)
{
	uint32_t stale = live_find(ledger->spool, kind, event->pool, event->ptr);
	struct spool_node node = {
		.address = event->ptr,
		.size = event->size,
		.stack = event->stack,
		.pool = event->pool,
		.owner = owner,
		.device = event->device,
		.kind = (uint8_t)kind,
		.space = event->space,
		.references = kind == NODE_HANDLE || (event->flags & EVENT_FOREIGN),
		.link = link,
		.flags = (uint8_t)((event->op == EVENT_RESERVE ? NODE_SEGMENT : 0) |
				   (event->flags & EVENT_FOREIGN ? NODE_FOREIGN : 0) |
				   (event->untold ? NODE_UNTOLD : 0) |
				   (event->sampled ? NODE_SAMPLED : 0)),
	};

	if (stale && kind == NODE_HANDLE && live_node(ledger->spool, stale)->mappings) {
		vmm_hold(ledger, stale);
	} else if (stale) {
		struct event end = *event;

		ledger_leave_node(ledger, &end, stale);
	}
	enter_node(ledger, event, &node);
}

HOT_CODE bool ledger_leave(struct ledger *ledger, struct event *event, enum node_kind kind,
			   struct spool_node *was)
{
	uint32_t id = live_find(ledger->spool, kind, event->pool, event->ptr);

	if (!id || ledger->error)
		return false;
	if (was)
		*was = *live_node(ledger->spool, id);
	ledger_leave_node(ledger, event, id);
	return true;
}

void ledger_undo(struct ledger *ledger, struct event *event, const struct spool_node *was)
{
	struct spool_node again = *was;

	ledger_tell_end(event, was);
	event->op = was->flags & NODE_SEGMENT ? EVENT_RESERVE : EVENT_ALLOC;
	event->stack = was->stack;
	enter_node(ledger, event, &again);
}
