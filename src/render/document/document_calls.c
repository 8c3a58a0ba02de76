/* Fills calls[] (CUDA calls, added up by name), and actions[] and spans[] (recorded by CUPTI). */
#include <errno.h>

#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/mem/sort.h"
#include "render/document/document.h"

/* --- counted calls: a function may have several rows in the spool, which are added up --- */

enum { NAMES = 512 }; /* more names than counted_calls.def and hooks.def have */

/* Adds a row to the call with this name. Until document_calls() converts the call's total_ns and
 * max_ns, they hold ticks. */
static void add_row(struct trace *trace, const struct spool_call *row, const char *name)
{
	uint64_t max = atomic_load(&row->max);
	struct trace_call *call = trace->calls;

	while (call < trace->calls + trace->calls_n && call->api != name)
		call++;
	if (call == trace->calls + NAMES)
		return;
	if (call == trace->calls + trace->calls_n)
		trace->calls[trace->calls_n++].api = name;
	call->calls += atomic_load(&row->calls);
	call->failed += atomic_load(&row->failed);
	call->total_ns += atomic_load(&row->ticks);
	if (max > call->max_ns)
		call->max_ns = max;
}

/* Converts ticks to ns. tick_ns is the ns of one tick, times 2^32. */
static uint64_t in_ns(uint64_t ticks, uint64_t tick_ns)
{
	return (uint64_t)((double)ticks * ((double)tick_ns / 4294967296.0));
}

void document_calls(struct spool_model *recording)
{
	/* Calls with equal times are sorted by the addresses of their names in the spool. */
	static const struct sort_key by_time[] = {
		SORT_DOWN(struct trace_call, total_ns),
		SORT_UP(struct trace_call, api),
		{ 0 },
	};
	const struct spool *spool = recording->spool;
	uint64_t rows = spool_count(spool, SPOOL_CALL);
	struct trace *trace = recording->trace;

	trace->calls = spool_model_room(recording, NAMES, sizeof(*trace->calls));
	if (!trace->calls)
		return;
	for (uint64_t i = 0; i < rows; i++) {
		const struct spool_call *row = spool_at(spool, SPOOL_CALL, i);
		const char *name = spool_text(spool, row->name);

		add_row(trace, row, name ? name : "?");
	}
	sort_rows(trace->calls, trace->calls_n, sizeof(*trace->calls), by_time);
	for (size_t i = 0; i < trace->calls_n; i++) {
		struct trace_call *call = &trace->calls[i];

		call->total_ns = in_ns(call->total_ns, spool->header->tick_ns);
		call->max_ns = in_ns(call->max_ns, spool->header->tick_ns);
	}
}

/* --- CUPTI --- */

static const char *action_name(unsigned kind)
{
	static const char names[][16] = { "kernel", "copy",      "fill",     "runtime",
					  "driver", "migration", "variables" };

	return kind < ACTIONS ? names[kind] : "other";
}

static void fill_actions(struct spool_model *recording)
{
	const struct spool *spool = recording->spool;
	uint64_t count = spool_count(spool, SPOOL_ACTION);
	struct trace *trace = recording->trace;

	trace->actions = spool_model_room(recording, count, sizeof(*trace->actions));
	for (uint64_t i = 0; trace->actions && i < count; i++) {
		const struct spool_action *action = spool_at(spool, SPOOL_ACTION, i);
		const char *name = spool_text(spool, action->name);

		trace->actions[trace->actions_n++] = (struct trace_action){
			.kind = action_name(action->kind),
			.name = name ? name : "?",
			.count = action->count,
			.total_ns = action->total,
			.max_ns = action->max,
			.bytes = action->bytes,
		};
	}
}

static uint64_t action_key(uint64_t kind, uint32_t name)
{
	return hash_mix(kind, name);
}

/* Maps the kind and name of each action to 1 + its index in actions[]. Returns 0 or -ENOMEM. */
static int find_actions(const struct spool *spool, struct map *places)
{
	uint64_t rows = spool_count(spool, SPOOL_ACTION);

	for (uint32_t i = 0; i < rows; i++) {
		const struct spool_action *action = spool_at(spool, SPOOL_ACTION, i);
		uint64_t key = action_key(action->kind, action->name);

		if (!map_get(places, key) && !map_put(places, key, i + 1))
			return -ENOMEM;
	}
	return 0;
}

static void add_span(struct trace *trace, const struct spool_span *from, uint32_t place)
{
	bool call = from->kind == ACTION_RUNTIME || from->kind == ACTION_DRIVER;

	if (!place)
		return;
	trace->spans[trace->spans_n++] = (struct trace_span){
		.t = from->t,
		.ns = from->ns,
		.action = place - 1,
		.device = from->device,
		.thread = call ? from->thread : 0,
		.stream = call ? 0 : from->stream,
		.bytes = from->bytes,
	};
}

static void fill_spans(struct spool_model *recording)
{
	const struct spool *spool = recording->spool;
	uint64_t rows = spool_count(spool, SPOOL_SPAN);
	uint64_t all = spool->header->spans;
	struct trace *trace = recording->trace;
	struct map places = { 0 };

	trace->spans_dropped = all > rows ? all - rows : 0;
	trace->spans = spool_model_room(recording, rows, sizeof(*trace->spans));
	if (find_actions(spool, &places))
		recording->error = -ENOMEM;
	for (uint64_t i = 0; trace->spans && i < rows; i++) {
		uint64_t first = all > rows ? all % rows : 0;
		const struct spool_span *span = spool_at(spool, SPOOL_SPAN, (first + i) % rows);

		add_span(trace, span, map_get(&places, action_key(span->kind, span->name)));
	}
	map_clear(&places);
}

void document_cupti(struct spool_model *recording)
{
	if (!fact_find(recording->spool, "cupti", 0))
		return;
	spool_model_match(recording);
	fill_actions(recording);
	fill_spans(recording);
}
