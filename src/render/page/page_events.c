/*
 * Writes the events of a trace as columns of a page, which src/page/model/model.ts reads.
 *
 * A column has a number for each event, with exceptions: columns of stacks, of folds (events that
 * stand for several blocks each) and of CUPTI's spans have one for each of these; `place`, `stack`,
 * `api` and `size` have none for marks and ranges; `text` has one for marks, ranges and failed
 * allocations; `death`, `ptr` and `category` have one for each event that begins a block, segment
 * or mapping. `size` is 0 for an event that only ends a block.
 */
#include "render/page/page_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/text/out.h"
#include "render/page/page_columns.h"

enum column_name {
#define PAGE_COLUMN(id, what) COLUMN_##id,
#include "render/page/page_columns.def"
	PAGE_COLUMNS
};

static const char *const names[PAGE_COLUMNS] = {
#define PAGE_COLUMN(id, what) #id,
#include "render/page/page_columns.def"
};

/* Returns a bit for each event: 1 if the event ends a known block. The caller frees the array. */
static uint8_t *find_deaths(const struct history *history)
{
	uint8_t *deaths = calloc(history->events_n / 8 + 1, 1);

	NEED(deaths);
	for (size_t i = 0; i < history->events_n; i++) {
		uint32_t death = history->events[i].death;

		if (death != HISTORY_NONE)
			deaths[death / 8] |= (uint8_t)(1u << death % 8);
	}
	/* At a gap (missing events), blocks' `death` is the next event, which did not end them. */
	foreach (gap, history->gaps) {
		uint64_t event = gap->event;

		deaths[event / 8] &= (uint8_t) ~(1u << event % 8);
	}
	return deaths;
}

static void add_birth(struct column *columns, const struct history_event *event, size_t at)
{
	column_add(&columns[COLUMN_death], event->death == HISTORY_NONE ? 0 : event->death - at);
	column_add_delta(&columns[COLUMN_ptr], event->ptr);
	column_add(&columns[COLUMN_category],
		   event->op == EVENT_ALLOC || event->op == HISTORY_FOLD ? event->text : 0);
}

static bool has_memory(unsigned op)
{
	return event_is_memory(op) || op == HISTORY_FOLD;
}

static void add_sums(struct column *columns, const struct history_sums *sums, bool fold)
{
	if (fold)
		column_add(&columns[COLUMN_blocks], sums->blocks);
	column_add_delta(&columns[COLUMN_device_allocated], sums->device.allocated);
	column_add_delta(&columns[COLUMN_device_reserved], sums->device.reserved);
	column_add_delta(&columns[COLUMN_pool_allocated], sums->pool.allocated);
	column_add_delta(&columns[COLUMN_pool_reserved], sums->pool.reserved);
}

static void add_event(struct column *columns, const struct history_event *event, size_t at,
		      bool ends)
{
	column_add_delta(&columns[COLUMN_t], event->t);
	column_add(&columns[COLUMN_op], (uint64_t)event->op << 1 | event->born);
	column_add(&columns[COLUMN_thread], event->thread);
	if (!has_memory(event->op) || event->op == EVENT_OOM)
		column_add(&columns[COLUMN_text], event->text);
	if (!has_memory(event->op))
		return;
	column_add(&columns[COLUMN_place], event->place);
	column_add(&columns[COLUMN_size], ends && !event->born ? 0 : event->size);
	column_add(&columns[COLUMN_stack], event->stack == HISTORY_NONE ? 0 : event->stack + 1);
	column_add(&columns[COLUMN_api], event->api);
	if (event->born)
		add_birth(columns, event, at);
}

static void add_stacks(struct column *columns, const struct trace *trace)
{
	foreach (stack, trace->stacks) {
		column_add(&columns[COLUMN_depth], stack->frames_n);
		foreach (frame, stack->frames)
			column_add_delta(&columns[COLUMN_frame], *frame);
	}
}

static void add_spans(struct column *columns, const struct trace *trace, const uint32_t *tracks)
{
	for (size_t i = 0; i < trace->spans_n; i++) {
		const struct trace_span *span = &trace->spans[i];

		column_add_delta(&columns[COLUMN_span_t], span->t);
		column_add(&columns[COLUMN_span_ns], span->ns);
		column_add(&columns[COLUMN_span_action], span->action);
		column_add(&columns[COLUMN_span_track], tracks[i]);
		column_add(&columns[COLUMN_span_bytes], span->bytes);
	}
}

void page_events(const struct trace *trace, const struct history *history,
		 const struct page_spans *spans, unsigned number, struct out *out)
{
	struct column columns[PAGE_COLUMNS] = { 0 };
	uint8_t *deaths = find_deaths(history);
	char name[PAGE_NAME];

	for (size_t i = 0; i < history->events_n; i++) {
		const struct history_event *event = &history->events[i];

		add_event(columns, event, i, deaths[i / 8] >> i % 8 & 1);
		if (history->sums)
			add_sums(columns, &history->sums[i], event->op == HISTORY_FOLD);
	}
	free(deaths);
	add_stacks(columns, trace);
	add_spans(columns, trace, spans->tracks);
	for (size_t i = 0; i < PAGE_COLUMNS; i++) {
		snprintf(name, sizeof(name), "%s%u", names[i], number);
		column_write(&columns[i], out, name);
	}
}
