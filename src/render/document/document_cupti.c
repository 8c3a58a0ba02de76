/* The document's sections of what CUPTI told: the witness, and what ran beside the memory. */
#include <errno.h>
#include <stdlib.h>

#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "facts/cupti_check.h"
#include "render/document/document_sections.h"

static const char *memory_name(unsigned memory)
{
	static const char names[][16] = { "pool", "pinned", "device", "array", "managed" };

	return memory < sizeof(names) / sizeof(names[0]) ? names[memory] : "other";
}

static const char *action_name(unsigned kind)
{
	static const char names[][16] = { "kernel", "copy",      "fill",     "runtime",
					  "driver", "migration", "variables" };

	return kind < ACTIONS ? names[kind] : "other";
}

static void fill_witness(struct recording *recording, const struct witness *from)
{
	struct trace_witness *witness = &recording->trace->witness;
	const char *version = fact_told(recording->spool, "cupti");

	witness->cupti = version ? strtoull(version, NULL, 10) : 0;
	witness->records = from->records;
	witness->matched = from->matched;
	witness->unjudged = from->unjudged;
	witness->lost = from->lost;
	witness->events_alone = from->events;
	witness->pools = from->pools;
	witness->unmatched = recording_room(recording, from->listed_n, sizeof(*witness->unmatched));
	for (uint64_t k = 0; witness->unmatched && k < from->listed_n; k++) {
		const struct spool_witness *record = from->listed[k];

		witness->unmatched[witness->unmatched_n++] = (struct trace_record){
			.t = record->t,
			.op = record->operation == 1 ? "alloc" : "free",
			.memory = memory_name(record->memory),
			.mapping = record->flags & WITNESS_MAPPED,
			.ordered = record->flags & WITNESS_ORDERED,
			.device = record->device,
			.ptr = record->address,
			.size = record->bytes,
		};
	}
}

static void fill_actions(struct recording *recording)
{
	const struct spool *spool = recording->spool;
	uint64_t count = spool_count(spool, SPOOL_ACTION);
	struct trace *trace = recording->trace;

	trace->actions = recording_room(recording, count, sizeof(*trace->actions));
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

/* Positions in actions[], plus 1. 0 or -ENOMEM. */
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

/* Those whose action is known. */
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

/* The ring, the oldest first. */
static void fill_spans(struct recording *recording)
{
	const struct spool *spool = recording->spool;
	uint64_t rows = spool_count(spool, SPOOL_SPAN);
	uint64_t all = spool->header->spans;
	struct trace *trace = recording->trace;
	struct map places = { 0 };

	trace->spans_dropped = all > rows ? all - rows : 0;
	trace->spans = recording_room(recording, rows, sizeof(*trace->spans));
	if (find_actions(spool, &places))
		recording->error = -ENOMEM;
	for (uint64_t i = 0; trace->spans && i < rows; i++) {
		uint64_t first = all > rows ? all % rows : 0;
		const struct spool_span *span = spool_at(spool, SPOOL_SPAN, (first + i) % rows);

		add_span(trace, span, map_get(&places, action_key(span->kind, span->name)));
	}
	map_clear(&places);
}

void document_cupti(struct recording *recording)
{
	struct witness witness;

	if (!fact_find(recording->spool, "cupti", 0))
		return;
	if (witness_match(&witness, recording->spool))
		recording->error = -ENOMEM;
	fill_witness(recording, &witness);
	fill_actions(recording);
	fill_spans(recording);
}
