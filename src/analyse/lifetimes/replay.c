/* Applies a trace's selected events one by one, and stores the state at a chosen point in time. */
#include "analyse/lifetimes/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/categories/categories.h"
#include "analyse/input/grow.h"

/* --- selection --- */

static bool same_pool(struct replay *replay, uint32_t pool)
{
	const char *text;

	if (!replay->wish->pool)
		return true;
	if (!pool || replay->pool_text)
		return pool && pool == replay->pool_text;
	text = trace_text(replay->trace, pool);
	if (text && !strcmp(text, replay->wish->pool))
		replay->pool_text = pool;
	return pool == replay->pool_text;
}

static bool selected(struct replay *replay, const struct event *event)
{
	const struct replay_wish *wish = replay->wish;

	return (wish->device == NO_DEVICE || event->device == wish->device) &&
	       (wish->space == SPACES || event->space == wish->space) &&
	       same_pool(replay, event->pool);
}

static bool wanted_row(const struct replay *replay, const struct replay_row *row)
{
	const struct replay_wish *wish = replay->wish;

	if (wish->of_alloc && !(wish->categories >> row->key.category & 1))
		return false;
	return !wish->stacks ||
	       (row->key.stack < replay->trace->stacks_n && wish->stacks[row->key.stack]);
}

static bool in_sum(const struct replay *replay, const struct block *block)
{
	const struct replay_wish *wish = replay->wish;

	/* Segments of pools, and blocks of no pool, count as reserved (see event_effect()). */
	if (wish->metric == TRACE_RESERVED ? block->kind == BLOCK_HANDED && block->pool
					   : block->kind != BLOCK_HANDED)
		return false;
	return wish->space != SPACES || wish->pool || space_on_card(block->device, block->space);
}

/* --- the state at the chosen time --- */

static void set_mark(struct replay *replay, uint64_t seq, uint64_t t)
{
	replay->epoch++;
	replay->bytes = replay->now;
	replay->seq = seq;
	replay->t = t;
	blocks_set_mark(&replay->lives.blocks, seq);
	for (size_t i = 0; i < replay->devices_n; i++) {
		struct replay_device *device = &replay->devices[i];

		if (device->device < 0 || device->device >= LIVES_DEVICES)
			continue;
		device->at_allocated = replay->lives.sums[device->device].allocated;
		device->at_reserved = replay->lives.sums[device->device].reserved;
	}
}

/* Called before a row's bytes change: if it is the first change since the peak, saves the bytes. */
static void keep_row(const struct replay *replay, struct replay_row *row)
{
	if (row->epoch == replay->epoch)
		return;
	row->at = row->sum;
	row->at_count = row->sum_count;
	row->epoch = replay->epoch;
}

uint64_t replay_at(const struct replay *replay, const struct replay_row *row, uint64_t *count)
{
	bool kept = replay->wish->moment == REPLAY_PEAK && row->epoch == replay->epoch;

	*count = kept ? row->at_count : row->sum_count;
	return kept ? row->at : row->sum;
}

void replay_categories(const struct replay *replay, struct category_sum *sums)
{
	memset(sums, 0, CATEGORIES_MOST * sizeof(*sums));
	for (size_t i = 0; i < replay->rows_n; i++) {
		const struct replay_row *row = &replay->rows[i];
		uint64_t count;

		sums[row->key.category].bytes += replay_at(replay, row, &count);
		sums[row->key.category].count += count;
	}
}

/* --- events --- */

/*
 * Adds a block's bytes to the row and to replay->now (`sign` 1) or subtracts them (-1), and changes
 * the row's number of blocks by `blocks`. Bytes that were never added are not subtracted.
 */
static void hold(struct replay *replay, struct replay_row *row, const struct block *block,
		 unsigned blocks, int sign)
{
	uint64_t size = sign > 0 ? block->size : 0 - block->size;
	uint64_t count = sign > 0 ? blocks : 0 - (uint64_t)blocks;

	if (block->foreign || block->kind == BLOCK_MAPPING || !wanted_row(replay, row))
		return;
	if (block->kind == BLOCK_HANDED) {
		if (sign < 0 && (row->live < block->size || row->live_count < blocks))
			return;
		row->live += size;
		row->live_count += count;
	}
	if (!in_sum(replay, block) ||
	    (sign < 0 && (row->sum < block->size || row->sum_count < blocks)))
		return;
	keep_row(replay, row);
	row->sum += size;
	row->sum_count += count;
	replay->now += size;
}

static void count_birth(struct replay *replay, struct replay_row *row, const struct block *block)
{
	if (block->kind != BLOCK_HANDED || !wanted_row(replay, row))
		return;
	row->space = space_name(block->space);
	if (!replay->open)
		return;
	row->allocations++;
	row->bytes += block->size;
}

static void count_death(struct replay *replay, struct replay_row *row, const struct block *block,
			uint64_t t)
{
	uint64_t lifetime = t > block->t ? t - block->t : 1;

	if (!replay->open || block->kind != BLOCK_HANDED || !wanted_row(replay, row))
		return;
	row->frees++;
	row->freed += block->size;
	if (!block->ptr)
		return;
	if (!row->lifetime_max || lifetime < row->lifetime_min)
		row->lifetime_min = lifetime;
	if (lifetime > row->lifetime_max)
		row->lifetime_max = lifetime;
}

static void end_block(struct replay *replay, uint64_t t)
{
	const struct block *block = &replay->lives.ended;
	struct replay_row *row = &replay->rows[block->stack];

	hold(replay, row, block, 1, -1);
	count_death(replay, row, block, t);
}

/* Returns an allocation's category; CATEGORY_OTHER if none is known, and for other events. */
static uint8_t category_of(const struct replay *replay, const struct event *event)
{
	const struct replay_wish *wish = replay->wish;

	if (!wish->of_alloc || event->op != EVENT_ALLOC || replay->allocs >= wish->allocs_n)
		return CATEGORY_OTHER;
	return wish->of_alloc[replay->allocs];
}

static void begin_block(struct replay *replay, const struct event *event)
{
	struct lives *lives = &replay->lives;
	uint32_t row = replay_row_of(replay, event, category_of(replay, event));
	int lumps = 1;

	if (!event->ptr)
		lumps = unattributed_come(&replay->loose, &lives->begun, row - 1);
	if (lives->begun_id)
		lives->blocks.list[lives->begun_id - 1].stack = row - 1;
	if (lives->ends)
		end_block(replay, event->t);
	hold(replay, &replay->rows[row - 1], &lives->begun, (unsigned)lumps, 1);
	count_birth(replay, &replay->rows[row - 1], &lives->begun);
}

/* Subtracts freed bytes without an address from the rows that allocated them, the newest first; the
 * rows may be of other threads or phases. Returns 1 + the position of the first, 0 for none. */
static uint32_t end_loose(struct replay *replay, const struct block *like, uint64_t t)
{
	struct block part = *like;
	uint64_t left = like->size;
	uint32_t first = 0, row;
	bool whole;

	while (left && (part.size = unattributed_go(&replay->loose, like, left, &row, &whole))) {
		hold(replay, &replay->rows[row], &part, whole, -1);
		if (!first)
			count_death(replay, &replay->rows[row], like, t);
		first = first ? first : row + 1;
		left -= part.size;
	}
	return first;
}

static void end_life(struct replay *replay, const struct event *event)
{
	const struct block *ended = &replay->lives.ended;
	uint32_t born = replay->lives.unseen ? 0 : ended->stack + 1;
	uint32_t row;

	if (!event->ptr)
		born = end_loose(replay, ended, event->t);
	/* A free is counted in the category of the block that it frees. */
	row = replay_row_of(replay, event,
			    born ? (uint8_t)replay->rows[born - 1].key.category
				 : category_of(replay, event));
	if (!replay->lives.unseen)
		end_block(replay, event->t);
	if (ended->kind == BLOCK_HANDED && replay->open &&
	    wanted_row(replay, &replay->rows[row - 1])) {
		replay->rows[row - 1].frees_here++;
		replay->rows[row - 1].freed_here += event->size;
	}
}

static void apply(struct replay *replay, const struct event *event)
{
	struct lives *lives = &replay->lives;

	NEED(!lives_take(lives, event, trace_text(replay->trace, event->api)));
	if (lives->begins)
		begin_block(replay, event);
	else if (lives->ends)
		end_life(replay, event);
}

static void count_missing(struct replay *replay, const struct event *event)
{
	if (!replay->dropped)
		replay->dropped_from = replay->last_t;
	if (event->seq > replay->lives.next_seq)
		replay->dropped += event->seq - replay->lives.next_seq;
	else if (!replay->dropped)
		replay->dropped = replay->trace->capture.events_dropped
					  ? replay->trace->capture.events_dropped
					  : 1;
	replay->dropped_to = event->t;
}

/* Sets all rows' live bytes to 0, because they are unknown after missing events. */
static void forget_address(struct replay *replay)
{
	unattributed_forget(&replay->loose);
	for (size_t i = 0; i < replay->rows_n; i++) {
		struct replay_row *row = &replay->rows[i];

		row->live = row->live_count = row->sum = row->sum_count = row->at = row->at_count =
			0;
	}
	replay->now = replay->bytes = 0;
}

static void step(struct replay *replay, const struct event *event)
{
	const struct replay_wish *wish = replay->wish;

	if (!replay->open && event->t >= wish->from) {
		replay->open = true;
		set_mark(replay, replay->lives.next_seq ? replay->lives.next_seq - 1 : 0,
			 replay->last_t);
	}
	if (lives_gap(&replay->lives, event)) {
		count_missing(replay, event);
		forget_address(replay);
	}
	if (selected(replay, event))
		apply(replay, event);
	else
		lives_pass(&replay->lives, event);
	replay->allocs += event->op == EVENT_ALLOC;
	replay->last_t = event->t;
	replay->events++;
	replay->any = true;
	if (wish->moment == REPLAY_END || !replay->open) {
		replay->t = event->t;
		replay->seq = event->seq;
	} else if (replay->now > replay->bytes) {
		set_mark(replay, event->seq, event->t);
	}
}

static void count_lost(struct replay *replay)
{
	const struct replay_wish *wish = replay->wish;
	uint64_t whole = 0;

	replay->lost = 0;
	if (!replay->dropped)
		return;
	replay->lost = TRACE_NONE;
	if (wish->pool || wish->space != SPACES || wish->stacks)
		return;
	for (size_t i = 0; i < replay->devices_n; i++) {
		if (wish->device == NO_DEVICE || replay->devices[i].device == wish->device)
			whole += wish->metric == TRACE_RESERVED ? replay->devices[i].at_reserved
								: replay->devices[i].at_allocated;
	}
	replay->lost = whole > replay->bytes ? whole - replay->bytes : 0;
}

int replay_run(struct replay *replay, struct trace *trace, const struct replay_wish *wish)
{
	struct event event;
	int more;

	*replay = (struct replay){ .wish = wish, .trace = trace };
	replay->dropped = trace->capture.events_filtered;
	replay->dropped_to = trace->process.duration_ns;
	lives_start(&replay->lives, trace->capture.events_filtered);
	replay->lives.blocks.marking = wish->moment == REPLAY_PEAK;
	replay_start_rows(replay);
	while ((more = trace_next(trace, &event)) == 1 && !replay_is_behind(wish, &event))
		step(replay, &event);
	if (more < 0) {
		replay_clear(replay);
		return -EINVAL;
	}
	if (wish->moment == REPLAY_END || !replay->open) {
		uint64_t seq = replay->seq;
		uint64_t t = replay->t;

		set_mark(replay, seq, t);
	}
	count_lost(replay);
	/* Events that are missing at the window's end may be part of the window. */
	if (more && event.seq <= wish->last && lives_gap(&replay->lives, &event)) {
		count_missing(replay, &event);
		replay->lost = TRACE_NONE;
	}
	return 0;
}

void replay_clear(struct replay *replay)
{
	lives_clear(&replay->lives);
	unattributed_clear(&replay->loose);
	map_clear(&replay->row_of);
	free(replay->rows);
	free(replay->devices);
	*replay = (struct replay){ 0 };
}
