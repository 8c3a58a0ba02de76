/*
 * A copy's backlog, booked as the process would have: ledger/pending.h says what waits there.
 *
 * What waits raises no peak and makes no point of a curve, and who reads a copy looks through its
 * rows without chains: so this is short. Nothing in the file is taken for granted.
 */
#include "codec/event.h"
#include "spool/pending_blocks.h"
#include "spool/spool.h"

enum { SUMS = 2 };

struct catch_up {
	struct spool *spool;
	struct spool_backlog *backlog;
	unsigned count;
	struct {
		struct spool_scope *row;
		uint32_t sum;
	} sums[SUMS]; /* that they move */
	unsigned sums_n;
	struct living {
		bool known;
		struct spool_node *node; /* NULL without room for one */
		uint64_t size, t;
		uint32_t stack;
	} living[SPOOL_WAITING];    /* at the address of the n-th, if that is the first there */
	struct waiting_slots slots; /* the first that waits at an address */
};

/* The row, NULL if there is none. */
static void *row_of(const struct spool *spool, enum spool_kind kind, uint64_t index)
{
	return index < spool_count(spool, kind) ? spool_at(spool, kind, index) : NULL;
}

/* A row more, NULL without room: the process has made some. */
static void *new_row(struct spool *spool, enum spool_kind kind, uint32_t *number)
{
	uint64_t count = spool_count(spool, kind);

	if (count >= spool->used[kind] * spool_per_block(kind))
		return NULL;
	spool->header->count[kind] = count + 1;
	*number = (uint32_t)count + 1;
	return spool_at(spool, kind, count);
}

static void add_sum(struct catch_up *up, enum scope_kind kind, int device, uint32_t name)
{
	for (uint64_t i = 0; i < spool_count(up->spool, SPOOL_SCOPE); i++) {
		struct spool_scope *row = spool_at(up->spool, SPOOL_SCOPE, i);

		if (row->kind != kind || row->device != device || row->name != name)
			continue;
		up->sums[up->sums_n].row = row;
		up->sums[up->sums_n++].sum = (uint32_t)i * METRICS + METRIC_ALLOCATED;
		return;
	}
}

/* The pool's first: what it has from before the recording is told by that one. */
static void find_sums(struct catch_up *up)
{
	add_sum(up, SCOPE_POOL, up->backlog->device, up->backlog->pool);
	add_sum(up, SCOPE_DEVICE, up->backlog->device, 0);
}

/* --- nodes --- */

static void find_addresses(struct catch_up *up)
{
	for (unsigned i = 0; i < up->count; i++) {
		uint8_t *slot =
			waiting_slot(&up->slots, up->backlog, waiting_at(up->backlog, i)->ptr);

		*slot = *slot ? *slot : (uint8_t)(i + 1);
	}
}

/* One look at all nodes, for those that the backlog names. */
static void find_nodes(struct catch_up *up)
{
	for (uint64_t i = 0; i < spool_count(up->spool, SPOOL_NODE); i++) {
		struct spool_node *node = spool_at(up->spool, SPOOL_NODE, i);
		uint8_t slot;

		if (node->kind != NODE_BLOCK || node->pool != up->backlog->pool)
			continue;
		slot = *waiting_slot(&up->slots, up->backlog, node->address);
		if (slot)
			up->living[slot - 1] =
				(struct living){ true, node, node->size, node->t, node->stack };
	}
}

/* What lives at the address of the n-th that waits. */
static struct living *living_at(struct catch_up *up, unsigned n)
{
	return &up->living[*waiting_slot(&up->slots, up->backlog, waiting_at(up->backlog, n)->ptr) -
			   1u];
}

/* --- stacks --- */

static struct spool_cell *cell_of(struct catch_up *up, struct spool_stack *stack, uint32_t sum)
{
	uint64_t most = spool_count(up->spool, SPOOL_CELL);
	struct spool_cell *cell;
	uint32_t number;

	for (uint32_t id = stack->cell; id && most--; id = cell->next) {
		cell = row_of(up->spool, SPOOL_CELL, id - 1);
		if (!cell || cell->sum == sum)
			return cell;
	}
	cell = new_row(up->spool, SPOOL_CELL, &number);
	if (!cell)
		return NULL;
	*cell = (struct spool_cell){ .sum = sum, .next = stack->cell };
	stack->cell = number;
	return cell;
}

/* Cells of the stack; `count` is how many blocks more it has. */
static void move_cells(struct catch_up *up, uint32_t number, int64_t bytes, int64_t count)
{
	struct spool_stack *stack = row_of(up->spool, SPOOL_STACK, number);

	for (unsigned i = 0; stack && i < up->sums_n; i++) {
		uint64_t epoch = up->sums[i].row->sums[METRIC_ALLOCATED].epoch;
		struct spool_cell *cell = cell_of(up, stack, up->sums[i].sum);

		if (!cell)
			continue;
		if (cell->epoch != epoch) {
			cell->at_peak = cell->live;
			cell->at_peak_count = cell->live_count;
			cell->estimated_at_peak = cell->estimated;
			cell->epoch = epoch;
		}
		cell->live += (uint64_t)bytes;
		cell->live_count += (uint64_t)count;
	}
}

/* Behind the cells that make it up. */
static void move_sums(struct catch_up *up, int64_t bytes)
{
	for (unsigned i = 0; i < up->sums_n; i++) {
		struct spool_scope *row = up->sums[i].row;
		struct spool_sum *sum = &row->sums[METRIC_ALLOCATED];

		sum->now += (uint64_t)bytes;
		if (sum->now > sum->peak) { /* who died unknown had less than was believed */
			sum->peak = sum->now;
			sum->peak_t = up->spool->header->t;
			sum->epoch++;
		}
		if (bytes > 0)
			row->allocations++;
		else
			row->frees++;
	}
}

/* --- events --- */

/* The event is one of the copy's from here on. */
static void tell(struct catch_up *up, const struct spool_waiting *waiting, uint64_t ptr,
		 int64_t bytes, uint32_t stack)
{
	struct spool_header *header = up->spool->header;

	up->spool->caught[up->spool->caught_n++] = (struct spool_waiting){
		.t = header->t,
		.ptr = ptr,
		.size = bytes,
		.stack = stack,
		.thread = waiting->thread,
	};
	header->seq++;
	move_sums(up, bytes);
}

static struct spool_node *make_node(struct catch_up *up, const struct spool_waiting *waiting)
{
	uint32_t number;
	struct spool_node *node = new_row(up->spool, SPOOL_NODE, &number);

	if (!node)
		return NULL;
	*node = (struct spool_node){
		.address = waiting->ptr,
		.size = (uint64_t)waiting->size,
		.t = up->spool->header->t,
		.stack = waiting->stack,
		.pool = up->backlog->pool,
		.device = up->backlog->device,
		.kind = NODE_BLOCK,
		.space = SPACE_DEVICE,
	};
	up->spool->header->live.count++;
	return node;
}

/* Bytes that one stack made and the other gives back. */
static void count_free(struct catch_up *up, uint32_t born, uint32_t by, uint64_t size)
{
	struct spool_stack *stack = row_of(up->spool, SPOOL_STACK, born);
	struct spool_stack *here = row_of(up->spool, SPOOL_STACK, by);

	if (stack) {
		stack->frees++;
		stack->freed += size;
	}
	if (here) {
		here->frees_here++;
		here->freed_here += size;
	}
}

static void count_lifetime(struct catch_up *up, const struct living *living)
{
	struct spool_stack *stack = row_of(up->spool, SPOOL_STACK, living->stack);
	uint64_t t = up->spool->header->t;
	uint64_t lifetime = t > living->t ? t - living->t : 1;

	if (!stack)
		return;
	if (!stack->lifetime_max || lifetime < stack->lifetime_min)
		stack->lifetime_min = lifetime;
	if (lifetime > stack->lifetime_max)
		stack->lifetime_max = lifetime;
}

static void die(struct catch_up *up, const struct spool_waiting *waiting, struct living *living)
{
	move_cells(up, living->stack, -(int64_t)living->size, -1);
	tell(up, waiting, waiting->ptr, -(int64_t)living->size, waiting->stack);
	count_free(up, living->stack, waiting->stack, living->size);
	count_lifetime(up, living);
	if (living->node) {
		living->node->kind = NODE_FREE;
		up->spool->header->live.count--;
	}
	living->known = false;
}

/* What lived there before died unseen. */
static void be_born(struct catch_up *up, const struct spool_waiting *waiting, struct living *living)
{
	struct spool_stack *stack = row_of(up->spool, SPOOL_STACK, waiting->stack);

	if (living->known)
		die(up, waiting, living);
	move_cells(up, waiting->stack, waiting->size, 1);
	tell(up, waiting, waiting->ptr, waiting->size, waiting->stack);
	if (stack) {
		stack->allocations++;
		stack->bytes += (uint64_t)waiting->size;
	}
	*living = (struct living){ true, make_node(up, waiting), (uint64_t)waiting->size,
				   up->spool->header->t, waiting->stack };
}

/* Nobody knows since when it lived: bytes from before the recording, if there are any. */
static void die_unknown(struct catch_up *up, const struct spool_waiting *waiting)
{
	uint32_t before = up->backlog->before - 1;
	struct spool_stack *stack = row_of(up->spool, SPOOL_STACK, before);
	struct spool_cell *cell = stack && up->sums_n ? cell_of(up, stack, up->sums[0].sum) : NULL;
	uint64_t size = -(uint64_t)waiting->size;

	up->spool->header->unmatched++;
	if (!cell || !cell->live)
		return;
	if (size > cell->live)
		size = cell->live;
	move_cells(up, before, -(int64_t)size, size == cell->live ? -1 : 0);
	tell(up, waiting, 0, -(int64_t)size, before);
	count_free(up, before, before, size);
}

void spool_catch_up(struct spool *spool)
{
	struct spool_header *header = spool->header;
	struct catch_up up = { .spool = spool, .backlog = &header->backlog };
	uint64_t count = waiting_count(&header->backlog);

	spool->caught_n = 0;
	if (!count || count > SPOOL_WAITING)
		return;
	up.count = (unsigned)count;
	find_sums(&up);
	find_addresses(&up);
	find_nodes(&up);
	for (unsigned i = 0; i < up.count; i++) {
		const struct spool_waiting *waiting = waiting_at(up.backlog, i);
		struct living *living = living_at(&up, i);

		if (waiting->t > header->t)
			header->t = waiting->t;
		if (waiting->size > 0)
			be_born(&up, waiting, living);
		else if (living->known)
			die(&up, waiting, living);
		else
			die_unknown(&up, waiting);
	}
}

/* The device's sums behind the n-th: those of the end, less what came later. */
static void tell_sums(const struct spool *spool, unsigned n, struct event *event)
{
	for (uint64_t i = 0; i < spool_count(spool, SPOOL_SCOPE); i++) {
		const struct spool_scope *scope = spool_at(spool, SPOOL_SCOPE, i);

		if (scope->kind != SCOPE_DEVICE || scope->device != event->device)
			continue;
		event->allocated = scope->sums[METRIC_ALLOCATED].now;
		event->reserved = scope->sums[METRIC_RESERVED].now;
	}
	while (++n < spool->caught_n)
		event->allocated -= (uint64_t)spool->caught[n].size;
}

bool spool_caught(const struct spool *spool, unsigned n, struct event *event)
{
	const struct spool_backlog *backlog = &spool->header->backlog;
	const struct spool_waiting *waiting = &spool->caught[n];

	if (n >= spool->caught_n)
		return false;
	*event = waiting_event(backlog, waiting);
	event->seq = spool->header->seq - spool->caught_n + n;
	tell_sums(spool, n, event);
	return true;
}
