/* Finds the replay_row that counts an event, and replaces the trace's sums with the rows' sums. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "analyse/input/string_table.h"
#include "analyse/lifetimes/replay.h"
#include "base/mem/hash.h"
#include "facts/spool_model.h"

static uint32_t enter(struct replay *replay, struct replay_key key)
{
	uint32_t row =
		KEYED_ENTER(replay->row_of, replay->rows, replay->rows_n, replay->rows_size, key);

	NEED(row);
	return row;
}

/* True if rows are found by a replay_key; else there is one row per stack, at its position. */
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

void replay_start_rows(struct replay *replay)
{
	struct trace *trace = replay->trace;

	replay->devices = calloc(trace->summary.devices_n + 1, sizeof(*replay->devices));
	NEED(replay->devices);
	trace_phase_walk(&replay->phases, trace);
	for (size_t i = 0; i < trace->summary.devices_n; i++)
		replay->devices[replay->devices_n++].device = trace->summary.devices[i].device;
	/* Rows without keys: one for each stack, and one for events without a stack. */
	for (size_t i = 0; !has_keys(replay->wish) && i <= trace->stacks_n; i++)
		enter(replay, (struct replay_key){ .stack = (uint32_t)i });
}

/* --- the result in the trace --- */

/* Returns the name of a row's thread, phase or category: "pt_autograd_0 (thread 4243)", "step 3",
 * "gradients"; "[in no phase]" outside all phases. */
static const char *other_name(const struct replay *replay, const struct replay_row *row)
{
	uint32_t other = row->key.other;
	struct trace *trace = replay->trace;
	const struct trace_thread *thread;
	char name[300];

	if (replay->wish->split == TRACE_BY_CATEGORY)
		return replay->wish->category_names[row->key.category];
	if (replay->wish->split == TRACE_BY_PHASE)
		return other && trace->phases[other - 1].name ? trace->phases[other - 1].name
							      : "[in no phase]";
	thread = trace_thread(trace, other);
	snprintf(name, sizeof(name), "%s%sthread %u%s", thread ? thread->name : "",
		 thread ? " (" : "", other, thread ? ")" : "");
	return need_text(&trace->arena, name);
}

static struct trace_stack stack_of(const struct replay *replay, const struct replay_row *row)
{
	const struct trace *trace = replay->trace;
	struct trace_stack stack = { .number = UINT32_MAX };

	if (row->key.stack < trace->stacks_n)
		stack = trace->stacks[row->key.stack];
	stack.group = replay_is_split(replay->wish) ? other_name(replay, row) : NULL;
	stack.allocations = row->allocations;
	stack.bytes = row->bytes;
	stack.frees = row->frees;
	stack.freed_bytes = row->freed;
	stack.frees_here = row->frees_here;
	stack.freed_here_bytes = row->freed_here;
	stack.live_bytes = row->live;
	stack.live_count = row->live_count;
	stack.peak_bytes = replay_at(replay, row, &stack.peak_count);
	stack.lifetime_min_ns = row->lifetime_max ? row->lifetime_min : TRACE_NONE;
	stack.lifetime_max_ns = row->lifetime_max ? row->lifetime_max : TRACE_NONE;
	return stack;
}

/* Returns a row's name and kind of memory for trace.sites[]: those of the stack's call site or, if
 * rows are split, of the row's thread, phase or category. */
static struct trace_place adopted_place(const struct replay *replay, const struct replay_row *row,
					const struct trace_stack *stack)
{
	const struct trace *trace = replay->trace;
	uint32_t site =
		row->key.stack < trace->stacks_n ? trace->site_of[row->key.stack] : UINT32_MAX;
	struct trace_place place = { .space = row->space };

	if (!row->space) /* the row has no allocations */
		return place;
	if (replay_is_split(replay->wish)) {
		place.name = stack->group;
		place.key = hash_bytes(place.name, strlen(place.name));
	} else if (site != UINT32_MAX) {
		place.name = trace->sites[site].site;
		place.key = site;
	} else {
		place.name = "[unknown]";
		place.key = UINT64_MAX;
	}
	return place;
}

/* Merges those shares of a peak that belong to the same stack and differ only in category. */
static void merge_shares(const struct replay *replay, struct trace_peak *peak, uint32_t *first)
{
	size_t kept = 0;

	for (size_t i = 0; i < peak->stacks_n; i++) {
		const struct trace_share *share = &peak->stacks[i];
		uint32_t *at = &first[replay->rows[share->stack].key.stack];

		if (*at) {
			peak->stacks[*at - 1].bytes += share->bytes;
			peak->stacks[*at - 1].count += share->count;
		} else {
			peak->stacks[kept] = *share;
			*at = (uint32_t)++kept;
		}
	}
	peak->stacks_n = kept;
}

static void set_peak(const struct replay *replay, size_t stacks)
{
	struct trace *trace = replay->trace;
	struct trace_peak *peak = need(&trace->arena, sizeof(*peak));

	*peak = (struct trace_peak){
		.device = replay->wish->device,
		.metric = replay->wish->metric,
		.pool = replay->wish->pool,
		.t = replay->t,
		.bytes = replay->bytes,
		.stacks = need(&trace->arena, (replay->rows_n + 1) * sizeof(*peak->stacks)),
	};
	for (uint32_t i = 0; i < replay->rows_n; i++) {
		struct trace_share share = { .stack = i };

		share.bytes = replay_at(replay, &replay->rows[i], &share.count);
		if (share.bytes || share.count)
			peak->stacks[peak->stacks_n++] = share;
	}
	if (replay->wish->of_alloc && !replay_is_split(replay->wish))
		merge_shares(replay, peak, need(&trace->arena, (stacks + 1) * sizeof(uint32_t)));
	shares_sort(peak->stacks, peak->stacks_n);
	trace->peaks = peak;
	trace->peaks_n = 1;
}

void replay_adopt(const struct replay *replay)
{
	struct trace *trace = replay->trace;
	size_t count = replay->rows_n;
	size_t before = trace->stacks_n;
	struct trace_place *places = need(&trace->arena, (count + 1) * sizeof(*places));
	struct trace_stack *stacks = need(&trace->arena, (count + 1) * sizeof(*stacks));

	for (size_t i = 0; i < count; i++) {
		stacks[i] = stack_of(replay, &replay->rows[i]);
		places[i] = adopted_place(replay, &replay->rows[i], &stacks[i]);
	}
	if (replay_is_split(replay->wish))
		trace->by = replay->wish->split;
	trace->stacks = stacks;
	trace->stacks_n = count;
	trace_set_sites(trace, places);
	set_peak(replay, before);
}
