/* Finds the open ranges (NVTX) by reading the events that push and pop ranges. */
#include "analyse/live/live_view.h"
#include "base/mem/each.h"

#include <string.h>

static void push_range(struct look_ranges *ranges, const struct event *event)
{
	if (ranges->open_n == LOOK_RANGES_OPEN) {
		memmove(ranges->open, ranges->open + 1,
			(LOOK_RANGES_OPEN - 1) * sizeof(*ranges->open));
		ranges->open_n--;
		ranges->late = true;
	}
	ranges->open[ranges->open_n++] = (struct live_view_range){
		.number = event->stream,
		.start = event->t,
		.end = TRACE_NONE,
		.thread = event->thread,
		.name_text = event->name,
		.domain_text = event->pool,
	};
}

/* True if the pop ends the range: both have the same number or, for a pushed range (number 0), the
 * same thread and domain. */
static bool is_end_of(const struct event *pop, const struct live_view_range *range)
{
	if (range->number != pop->stream)
		return false;
	return range->number || (range->thread == pop->thread && range->domain_text == pop->pool);
}

static void pop_range(struct look_ranges *ranges, const struct event *event)
{
	struct live_view_range ended;
	uint32_t at = ranges->open_n;

	while (at && !is_end_of(event, &ranges->open[at - 1]))
		at--;
	if (!at)
		return;
	ended = ranges->open[at - 1];
	ended.end = event->t;
	memmove(ranges->open + at - 1, ranges->open + at,
		(ranges->open_n - at) * sizeof(*ranges->open));
	ranges->open_n--;
	if (ranges->ended_n < LOOK_RANGES_ENDED)
		ranges->ended_n++;
	memmove(ranges->ended + 1, ranges->ended, (ranges->ended_n - 1) * sizeof(*ranges->ended));
	ranges->ended[0] = ended;
}

static void take_event(void *context, const struct event *event)
{
	struct look_ranges *ranges = context;

	if (event->seq != ranges->next)
		ranges->late = true;
	ranges->next = event->seq + 1;
	if (event->op == EVENT_PUSH)
		push_range(ranges, event);
	else if (event->op == EVENT_POP)
		pop_range(ranges, event);
}

static void read_names(struct live_view_range *list, uint32_t count, const struct spool *spool)
{
	foreach (row, list, count) {
		row->name = spool_text(spool, row->name_text);
		row->domain = spool_text(spool, row->domain_text);
	}
}

void live_view_ranges_read(struct look_ranges *ranges, struct follow *follow)
{
	if (follow->spool.header->seq > ranges->next)
		follow_events(follow, ranges->next, FOLLOW_CHUNKS, take_event, ranges);
	read_names(ranges->open, ranges->open_n, &follow->spool);
	read_names(ranges->ended, ranges->ended_n, &follow->spool);
}
