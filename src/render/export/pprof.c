/*
 * The export `pprof`: a profile for `go tool pprof`, Pyroscope and Polar Signals, which the caller
 * compresses by gzip (FORMAT_GZIPPED).
 *
 * A sample has, for one stack, the allocations of the whole run (alloc_*), and those that were live
 * at the chosen time (inuse_*). Field numbers are those of google/pprof's proto/profile.proto.
 */
#include "render/export/formats.h"

#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/settings/version.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "render/export/export.h"
#include "render/export/protobuf.h"
#include "render/selection/flame_weights.h"
#include "render/values/values.h"

enum profile_field {
	SAMPLE_TYPE = 1,
	SAMPLE = 2,
	MAPPING = 3,
	LOCATION = 4,
	FUNCTION = 5,
	STRING_TABLE = 6,
	TIME_NANOS = 9,
	DURATION_NANOS = 10,
	PERIOD_TYPE = 11,
	PERIOD = 12,
	COMMENT = 13,
	DEFAULT_SAMPLE_TYPE = 14,
};
enum { TYPE_TYPE = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_TEXT = 2 };
enum {
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

enum { PAGE = 4096 };

/* Ids of locations: the pseudo-frames of unknown stacks and of empty stacks, then real frames. */
enum { LOCATION_UNKNOWN = 1, LOCATION_NO_FRAMES, LOCATION_FRAMES };

struct pprof_writer {
	struct out *out;
	struct trace *trace;
	struct weights weights;
	const char *by;     /* key of the label for a stack's group: "phase" or "thread" */
	struct map strings; /* maps a text's hash to 1 + its index in the string table */
	uint32_t strings_n;
	struct protobuf table;            /* encoded fields of the string table */
	struct protobuf profile;          /* encoded fields not written yet */
	struct protobuf part, inner, ids; /* buffers for a field and its nested fields */
	/* By frame: 1 if its location was written; then, by stack: 1 if its allocations were. */
	uint64_t *seen;
};

static void write_fields(struct pprof_writer *writer, struct protobuf *fields)
{
	if (fields->used)
		out_bytes(writer->out, (const char *)fields->bytes, fields->used);
	fields->used = 0;
}

/* Writes `part` as a field of the profile, and empties it. */
static void add_part(struct pprof_writer *writer, enum profile_field field)
{
	protobuf_message(&writer->profile, field, &writer->part);
	write_fields(writer, &writer->profile);
}

/* --- strings --- */

static uint64_t string(struct pprof_writer *writer, const char *text)
{
	char clean[2048];
	uint64_t key;
	uint32_t known;

	text_copy(clean, sizeof(clean), text);
	utf8_clean(clean);
	key = hash_bytes(clean, strlen(clean));
	known = map_get(&writer->strings, key);
	if (known)
		return known - 1;
	protobuf_bytes(&writer->table, STRING_TABLE, clean, strlen(clean));
	NEED(map_put(&writer->strings, key, ++writer->strings_n));
	return writer->strings_n - 1;
}

static void field_string(struct pprof_writer *writer, unsigned field, const char *text)
{
	protobuf_u64(&writer->part, field, text ? string(writer, text) : 0);
}

/* --- modules, frames --- */

static void put_mappings(struct pprof_writer *writer)
{
	const struct trace *trace = writer->trace;

	for (size_t i = 0; i < trace->modules_n; i++) {
		const struct trace_module *module = &trace->modules[i];
		uint64_t limit = module->base + PAGE;

		foreach (frame, trace->frames) {
			if (frame->module == i && module->base + frame->offset >= limit)
				limit = (module->base + frame->offset) / PAGE * PAGE + PAGE;
		}
		protobuf_u64(&writer->part, MAPPING_ID, i + 1);
		protobuf_u64(&writer->part, MAPPING_START, module->base);
		protobuf_u64(&writer->part, MAPPING_LIMIT, limit);
		field_string(writer, MAPPING_FILE, module->path);
		field_string(writer, MAPPING_BUILD_ID, module->build_id);
		protobuf_u64(&writer->part, MAPPING_HAS_FUNCTIONS, 1);
		add_part(writer, MAPPING);
	}
}

static void put_function(struct pprof_writer *writer, uint64_t id, const char *name,
			 const char *symbol, const char *file)
{
	protobuf_u64(&writer->part, FUNCTION_ID, id);
	field_string(writer, FUNCTION_NAME, name);
	/* If the system name were the same, pprof would shorten "f [backward]" like a C++ name. */
	field_string(writer, FUNCTION_SYSTEM_NAME, symbol);
	field_string(writer, FUNCTION_FILE, file);
	add_part(writer, FUNCTION);
}

/* Encodes a location in `part`, for add_part(). The location's function has the same id. */
static void put_location(struct pprof_writer *writer, uint64_t id, uint64_t line)
{
	protobuf_u64(&writer->inner, LINE_FUNCTION, id);
	protobuf_u64(&writer->inner, LINE_LINE, line);
	protobuf_u64(&writer->part, LOCATION_ID, id);
	protobuf_message(&writer->part, LOCATION_LINE, &writer->inner);
}

static void put_frame(struct pprof_writer *writer, uint32_t number)
{
	const struct trace_frame *frame = &writer->trace->frames[number];
	const struct trace_module *module =
		frame->module == UINT32_MAX ? NULL : &writer->trace->modules[frame->module];
	char name[600];

	if (writer->seen[number])
		return;
	writer->seen[number] = 1;
	weights_function(writer->trace, number, name, sizeof(name));
	put_function(writer, LOCATION_FRAMES + number, name, frame->symbol,
		     frame->file ? frame->file
		     : module    ? module->path
				 : NULL);
	put_location(writer, LOCATION_FRAMES + number, frame->line);
	if (module) {
		protobuf_u64(&writer->part, LOCATION_MAPPING, frame->module + (uint64_t)1);
		protobuf_u64(&writer->part, LOCATION_ADDRESS, module->base + frame->offset);
	}
	add_part(writer, LOCATION);
}

/* --- samples --- */

struct values {
	uint64_t objects, bytes;
};

static void put_label(struct pprof_writer *writer, const char *key, const char *value)
{
	protobuf_u64(&writer->inner, LABEL_KEY, string(writer, key));
	protobuf_u64(&writer->inner, LABEL_TEXT, string(writer, value));
	protobuf_message(&writer->part, SAMPLE_LABEL, &writer->inner);
}

static void put_sample(struct pprof_writer *writer, uint32_t number, struct values allocated,
		       struct values used, int device)
{
	const struct trace *trace = writer->trace;
	const struct trace_stack *stack = number < trace->stacks_n ? &trace->stacks[number] : NULL;
	uint32_t site = stack && trace->site_of ? trace->site_of[number] : UINT32_MAX;
	char ordinal[24];

	if (!allocated.objects && !allocated.bytes && !used.objects && !used.bytes)
		return;
	for (size_t i = 0; stack && i < stack->frames_n; i++) {
		put_frame(writer, stack->frames[i]);
		protobuf_varint(&writer->ids, LOCATION_FRAMES + (uint64_t)stack->frames[i]);
	}
	if (!writer->ids.used)
		protobuf_varint(&writer->ids, stack ? LOCATION_NO_FRAMES : LOCATION_UNKNOWN);
	protobuf_message(&writer->part, SAMPLE_LOCATIONS, &writer->ids);
	protobuf_varint(&writer->ids, allocated.objects);
	protobuf_varint(&writer->ids, allocated.bytes);
	protobuf_varint(&writer->ids, used.objects);
	protobuf_varint(&writer->ids, used.bytes);
	protobuf_message(&writer->part, SAMPLE_VALUES, &writer->ids);
	if (device != NO_DEVICE) {
		text_u64(ordinal, (uint64_t)device);
		put_label(writer, "device", ordinal);
	}
	if (site != UINT32_MAX && trace->sites[site].space)
		put_label(writer, "space", trace->sites[site].space);
	if (stack && stack->group)
		put_label(writer, writer->by, stack->group);
	add_part(writer, SAMPLE);
}

/* Writes the samples. A stack has one, with its allocations and live bytes; or, if several devices
 * have live bytes, one for each device, with the live bytes, and one with the allocations. */
static void put_samples(struct pprof_writer *writer)
{
	const struct trace *trace = writer->trace;
	const struct weights *weights = &writer->weights;
	uint64_t *seen = writer->seen + trace->frames_n;
	bool one = weights->sets_n == 1;

	foreach (set, weights->sets) {
		foreach (share, set->shares) {
			const struct trace_stack *stack = &trace->stacks[share->stack];
			struct values all = { one ? stack->allocations : 0,
					      one ? stack->bytes : 0 };

			put_sample(writer, share->stack, all,
				   (struct values){ share->count, share->bytes }, set->device);
			seen[share->stack] |= one;
		}
		put_sample(writer, UINT32_MAX, (struct values){ 0, 0 },
			   (struct values){ 0, set->unknown }, set->device);
	}
	for (uint32_t i = 0; i < trace->stacks_n; i++) {
		const struct trace_stack *stack = &trace->stacks[i];

		if (!seen[i])
			put_sample(writer, i, (struct values){ stack->allocations, stack->bytes },
				   (struct values){ 0, 0 }, NO_DEVICE);
	}
}

/* --- the profile --- */

static void put_type(struct pprof_writer *writer, enum profile_field field, const char *type,
		     const char *unit)
{
	field_string(writer, TYPE_TYPE, type);
	field_string(writer, TYPE_UNIT, unit);
	add_part(writer, field);
}

static void put_comments(struct pprof_writer *writer, const struct selection_options *options)
{
	protobuf_u64(&writer->profile, COMMENT,
		     string(writer, "memtrace " MEMTRACE_VERSION ": GPU memory"));
	foreach (set, writer->weights.sets) {
		char text[200];
		char where[40];
		char time[SHOW_NUMBER];
		char bytes[SHOW_NUMBER];

		weights_name(&writer->weights, set, where, sizeof(where));
		snprintf(text, sizeof(text), "inuse: %s %s on %s, at %s",
			 show_bytes(bytes, set->bytes),
			 rows_word(WORDS_METRICS, (int)options->metric), where,
			 show_time(time, set->t));
		protobuf_u64(&writer->profile, COMMENT, string(writer, text));
	}
}

static void put_profile(struct pprof_writer *writer, const struct selection_options *options)
{
	const struct trace *trace = writer->trace;
	uint64_t epoch = trace_known(trace_start_ns(trace));

	string(writer, ""); /* the format requires "" as string 0 */
	put_type(writer, SAMPLE_TYPE, "alloc_objects", "count");
	put_type(writer, SAMPLE_TYPE, "alloc_space", "bytes");
	put_type(writer, SAMPLE_TYPE, "inuse_objects", "count");
	put_type(writer, SAMPLE_TYPE, "inuse_space", "bytes");
	protobuf_u64(&writer->profile, DEFAULT_SAMPLE_TYPE, string(writer, "inuse_space"));
	put_type(writer, PERIOD_TYPE, "space", "bytes");
	protobuf_u64(&writer->profile, PERIOD, 1);
	protobuf_u64(&writer->profile, TIME_NANOS,
		     epoch + (writer->weights.sets_n ? writer->weights.sets[0].t : 0));
	protobuf_u64(&writer->profile, DURATION_NANOS, trace->process.duration_ns);
	put_comments(writer, options);
	put_mappings(writer);
	put_function(writer, LOCATION_UNKNOWN, WEIGHTS_UNKNOWN, NULL, NULL);
	put_location(writer, LOCATION_UNKNOWN, 0);
	add_part(writer, LOCATION);
	put_function(writer, LOCATION_NO_FRAMES, WEIGHTS_NO_FRAMES, NULL, NULL);
	put_location(writer, LOCATION_NO_FRAMES, 0);
	add_part(writer, LOCATION);
	put_samples(writer);
	write_fields(writer, &writer->profile);
	write_fields(writer, &writer->table);
}

int format_pprof(struct trace *trace, struct out *out, const struct selection_options *options)
{
	struct pprof_writer writer = { .out = out,
				       .trace = trace,
				       .by = options->by == TRACE_BY_THREAD ? "thread" : "phase" };
	int error = weights_find(&writer.weights, trace, options);

	writer.seen = NEED_ROOM(&trace->arena, writer.seen, trace->frames_n + trace->stacks_n);
	if (!error)
		put_profile(&writer, options);
	map_clear(&writer.strings);
	protobuf_clear(&writer.table);
	protobuf_clear(&writer.profile);
	protobuf_clear(&writer.part);
	protobuf_clear(&writer.inner);
	protobuf_clear(&writer.ids);
	report_select_clear(&writer.weights.selection);
	return error;
}
