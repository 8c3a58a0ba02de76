/* The rows of a replay: which of them an event is booked under, by what rows are split by. */
#include "analyse/lifetimes/replay.h"

#include <stdlib.h>

#include "analyse/input/error.h"
#include "analyse/input/texts.h"

static uint32_t enter(struct replay *replay, struct replay_key key)
{
	return KEYED_ENTER(replay->row_of, replay->rows, replay->rows_n, replay->rows_size, key);
}

/* Not split: a row for each stack, at its position. */
static bool has_keys(const struct replay_wish *wish)
{
	return replay_is_split(wish) || wish->of_alloc;
}

uint32_t replay_row_of(struct replay *replay, const struct event *event, uint8_t category)
{
	uint32_t stacks = (uint32_t)replay->trace->stacks_n;
	struct replay_key key = { event->stack < stacks ? event->stack : stacks, 0, category };

	if (!has_keys(replay->wish))
		return key.stack + 1;
	if (replay->wish->split == TRACE_BY_THREAD)
		key.other = event->thread;
	else if (replay->wish->split == TRACE_BY_PHASE)
		key.other = trace_phase_at(&replay->phases, replay->trace, event->t);
	return enter(replay, key);
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
		if (!has_keys(replay->wish) &&
		    !enter(replay, (struct replay_key){ .stack = (uint32_t)i }))
			return err_no_memory(replay->trace->path);
	}
	return 0;
}
