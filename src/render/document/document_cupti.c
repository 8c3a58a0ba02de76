/* The document's sections of what CUPTI told: the witness, and what ran beside the memory. */
#include <errno.h>

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

static void write_name(struct out *out, const struct spool *spool, const char *key, uint32_t text)
{
	const char *name = spool_text(spool, text);

	out_text(out, key);
	out_json(out, name ? name : "?");
}

/* A CUDA ordinal; what belongs to no device has none. */
static void write_device(struct out *out, int device)
{
	if (device >= 0)
		document_number(out, ",\"device\":", (uint64_t)device);
	else
		out_text(out, ",\"device\":null");
}

static void write_record(struct out *out, const struct spool_witness *record)
{
	document_number(out, "{\"t\":", record->t);
	out_text(out, ",\"op\":\"");
	out_text(out, record->operation == 1 ? "alloc" : "free");
	out_text(out, "\",\"memory\":\"");
	out_text(out, memory_name(record->memory));
	out_text(out, "\",\"mapping\":");
	out_text(out, record->flags & WITNESS_MAPPED ? "true" : "false");
	out_text(out, ",\"ordered\":");
	out_text(out, record->flags & WITNESS_ORDERED ? "true" : "false");
	write_device(out, record->device);
	out_text(out, ",\"ptr\":\"");
	out_hex(out, record->address);
	document_number(out, "\",\"size\":", record->bytes);
	out_char(out, '}');
}

static int write_witness(struct out *out, const struct recording *recording, uint32_t version)
{
	const struct spool *spool = recording->spool;
	struct witness witness;
	int error = witness_match(&witness, spool);

	if (error)
		return error;
	out_text(out, "\"witness\":{\"cupti\":");
	out_text(out, recording_value(recording, version)); /* digits */
	document_number(out, ",\"records\":", witness.records);
	document_number(out, ",\"matched\":", witness.matched);
	document_number(out, ",\"unjudged\":", witness.unjudged);
	document_number(out, ",\"lost\":", witness.lost);
	document_number(out, ",\"events_alone\":", witness.events);
	document_number(out, ",\"pools\":", witness.pools);
	out_text(out, ",\"unmatched\":[");
	for (uint64_t i = 0; i < witness.listed_n; i++) {
		out_text(out, i ? ",\n" : "\n");
		write_record(out, witness.listed[i]);
	}
	out_text(out, "]},\n");
	return 0;
}

static void write_actions(struct out *out, const struct spool *spool)
{
	uint64_t rows = spool_count(spool, SPOOL_ACTION);

	out_text(out, "\"actions\":[");
	for (uint64_t i = 0; i < rows; i++) {
		const struct spool_action *action = spool_at(spool, SPOOL_ACTION, i);

		out_text(out, i ? ",\n{\"kind\":\"" : "\n{\"kind\":\"");
		out_text(out, action_name(action->kind));
		write_name(out, spool, "\",\"name\":", action->name);
		document_number(out, ",\"count\":", action->count);
		document_number(out, ",\"total_ns\":", action->total);
		document_number(out, ",\"max_ns\":", action->max);
		document_number(out, ",\"bytes\":", action->bytes);
		out_char(out, '}');
	}
	out_text(out, "],\n");
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

static void write_span(struct out *out, const struct spool_span *span, uint32_t action)
{
	bool call = span->kind == ACTION_RUNTIME || span->kind == ACTION_DRIVER;

	document_number(out, "{\"t\":", span->t);
	document_number(out, ",\"ns\":", span->ns);
	document_number(out, ",\"action\":", action);
	write_device(out, span->device);
	if (call)
		document_number(out, ",\"thread\":", span->thread);
	else
		document_number(out, ",\"stream\":", span->stream);
	if (span->bytes)
		document_number(out, ",\"bytes\":", span->bytes);
	out_char(out, '}');
}

/* The ring, the oldest first. */
static int write_spans(struct out *out, const struct spool *spool)
{
	uint64_t rows = spool_count(spool, SPOOL_SPAN);
	uint64_t all = spool->header->spans;
	uint64_t first = all > rows && rows ? all % rows : 0;
	struct map places = { 0 };
	const char *comma = "\n";
	int error = find_actions(spool, &places);

	document_number(out, "\"spans_dropped\":", all > rows ? all - rows : 0);
	out_text(out, ",\n\"spans\":[");
	for (uint64_t i = 0; !error && i < rows; i++) {
		const struct spool_span *span = spool_at(spool, SPOOL_SPAN, (first + i) % rows);
		uint32_t place = map_get(&places, action_key(span->kind, span->name));

		if (!place)
			continue;
		out_text(out, comma);
		comma = ",\n";
		write_span(out, span, place - 1);
	}
	out_text(out, "],\n");
	map_clear(&places);
	return error;
}

int document_cupti(struct out *out, const struct recording *recording)
{
	const struct spool *spool = recording->spool;
	uint32_t version = recording_fact(recording, "cupti", 0);
	int error;

	if (!version)
		return 0;
	error = write_witness(out, recording, version);
	if (error)
		return error;
	write_actions(out, spool);
	return write_spans(out, spool);
}
