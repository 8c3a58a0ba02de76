/* The rows of a replay: which of them an event is booked under, by what rows are split by. */
#include "analyse/lifetimes/replay.h"

#include <stdlib.h>

#include "analyse/input/error.h"
#include "analyse/input/grow.h"
#include "base/mem/hash.h"

static struct replay_row *add_row(struct replay *replay, uint32_t stack, uint32_t other,
				  uint8_t category)
{
	if (!GROW(replay->rows, replay->rows_n, replay->rows_size, 64))
		return NULL;
	replay->rows[replay->rows_n] =
		(struct replay_row){ .stack = stack, .other = other, .category = category };
	return &replay->rows[replay->rows_n++];
}

static bool by_thread_or_phase(const struct replay_wish *wish)
{
	return wish->split == TRACE_BY_THREAD || wish->split == TRACE_BY_PHASE;
}

/* Not split: a row for each stack, at its position. */
static bool is_split(const struct replay_wish *wish)
{
	return by_thread_or_phase(wish) || wish->of_alloc;
}

uint32_t replay_row_of(struct replay *replay, const struct event *event, uint8_t category)
{
	uint32_t stack = event->stack < replay->trace->stacks_n ? event->stack
								: (uint32_t)replay->trace->stacks_n;
	uint32_t other = 0;
	uint64_t key;
	uint32_t id;

	if (!is_split(replay->wish))
		return stack + 1;
	if (by_thread_or_phase(replay->wish))
		other = replay->wish->split == TRACE_BY_THREAD
				? (uint32_t)event->thread
				: trace_phase_at(&replay->phases, replay->trace, event->t);
	key = hash_mix((uint64_t)category << 32 | stack, (uint64_t)other << 1 | 1);
	for (; (id = map_get(&replay->row_of, key)); key++) {
		const struct replay_row *row = &replay->rows[id - 1];

		if (row->stack == stack && row->other == other && row->category == category)
			return id;
	}
	if (!add_row(replay, stack, other, category) ||
	    !map_put(&replay->row_of, key, (uint32_t)replay->rows_n))
		return 0;
	return (uint32_t)replay->rows_n;
}

int replay_start_rows(struct replay *replay)
{
	struct trace *trace = replay->trace;

	replay->devices = calloc(trace->summary.devices_n + 1, sizeof(*replay->devices));
	if (!replay->devices)
		return err_no_memory(replay->trace->path);
	if (trace_phase_walk(&replay->phases, trace))
		return -EINVAL;
	for (size_t i = 0; i < trace->summary.devices_n; i++)
		replay->devices[replay->devices_n++].device = trace->summary.devices[i].device;
	/* Not split: a row for each stack, and one for none. */
	for (size_t i = 0; i <= trace->stacks_n; i++) {
		if (!is_split(replay->wish) && !add_row(replay, (uint32_t)i, 0, 0))
			return err_no_memory(replay->trace->path);
	}
	return 0;
}
