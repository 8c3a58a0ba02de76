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

static bool fill_witness(struct filler *filler, uint64_t i, void *item)
{
	const struct witness *from = filler->from;
	struct trace_witness *witness = item;
	const char *version =
		recording_value(filler->recording, recording_fact(filler->recording, "cupti", 0));

	(void)i;
	witness->cupti = version ? strtoull(version, NULL, 10) : 0;
	witness->records = from->records;
	witness->matched = from->matched;
	witness->unjudged = from->unjudged;
	witness->lost = from->lost;
	witness->events_alone = from->events;
	witness->pools = from->pools;
	witness->unmatched = filler_room(filler, from->listed_n, sizeof(*witness->unmatched));
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
	return true;
}

static bool fill_action(struct filler *filler, uint64_t i, void *item)
{
	const struct spool_action *action = spool_at(filler->spool, SPOOL_ACTION, i);
	const char *name = spool_text(filler->spool, action->name);

	*(struct trace_action *)item = (struct trace_action){
		.kind = action_name(action->kind),
		.name = name ? name : "?",
		.count = action->count,
		.total_ns = action->total,
		.max_ns = action->max,
		.bytes = action->bytes,
	};
	return true;
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

/* The ring, the oldest first. */
static bool fill_span(struct filler *filler, uint64_t i, void *item)
{
	uint64_t rows = spool_count(filler->spool, SPOOL_SPAN);
	uint64_t all = filler->spool->header->spans;
	uint64_t first = all > rows ? all % rows : 0;
	const struct spool_span *from = spool_at(filler->spool, SPOOL_SPAN, (first + i) % rows);
	uint32_t place = map_get(filler->from, action_key(from->kind, from->name));
	bool call = from->kind == ACTION_RUNTIME || from->kind == ACTION_DRIVER;

	if (!place)
		return false;
	*(struct trace_span *)item = (struct trace_span){
		.t = from->t,
		.ns = from->ns,
		.action = place - 1,
		.device = from->device,
		.thread = call ? from->thread : 0,
		.stream = call ? 0 : from->stream,
		.bytes = from->bytes,
	};
	return true;
}

static void document_spans(struct filler *filler)
{
	uint64_t rows = spool_count(filler->spool, SPOOL_SPAN);
	uint64_t all = filler->spool->header->spans;
	struct map places = { 0 };

	if (!filler->error)
		filler->error = find_actions(filler->spool, &places);
	document_number(filler, "spans_dropped", all > rows ? all - rows : 0);
	document_list(filler, "spans", rows, fill_span, &places);
	map_clear(&places);
}

void document_cupti(struct filler *filler)
{
	struct witness witness;

	if (filler->error || !recording_fact(filler->recording, "cupti", 0))
		return;
	filler->error = witness_match(&witness, filler->spool);
	document_member(filler, "witness", fill_witness, &witness);
	document_list(filler, "actions", spool_count(filler->spool, SPOOL_ACTION), fill_action,
		      NULL);
	document_spans(filler);
}
