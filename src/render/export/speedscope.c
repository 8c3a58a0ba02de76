/* The export `speedscope` (https://www.speedscope.app/file-format-schema.json): a profile for each
 * device, whose samples are stacks weighted by bytes. */
#include <stdio.h>
#include <string.h>

#include "analyse/input/grow.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/settings/version.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "render/emit/emit.h"
#include "render/export/formats.h"
#include "render/selection/flame_weights.h"
#include "render/values/values.h"

struct speedscope_writer {
	struct out *out;
	const struct trace *trace;
	const struct weights *weights;
	uint32_t *numbers; /* for each frame of the trace: 1 + its index in "frames", or 0 */
	uint32_t frames_n;
	struct map groups; /* maps the hash of a phase's or thread's name to 1 + frame index */
};

/* Indices in "frames" of the pseudo-frames for an unknown stack and for one without frames. */
enum { UNKNOWN, NO_FRAMES };

struct speedscope_frame {
	const char *name, *file;
	uint64_t line;
};

static const struct emit_column frame_columns[] = {
	EMIT_FIELD(TEXT, struct speedscope_frame, name),
	EMIT_IF_KNOWN("file", TEXT, struct speedscope_frame, file),
	EMIT_IF_KNOWN("line", NUMBER, struct speedscope_frame, line),
	EMIT_END,
};

/* Adds a frame to "frames". Returns 1 + its index. */
static uint32_t add_frame(struct speedscope_writer *writer, const char *name, const char *file,
			  uint64_t line)
{
	const struct speedscope_frame frame = { name, file, line };

	out_text(writer->out, writer->frames_n ? ",\n" : "\n");
	emit_json(writer->out, frame_columns, &frame);
	return ++writer->frames_n;
}

static void put_frame(struct speedscope_writer *writer, uint32_t number)
{
	const struct trace_frame *frame = &writer->trace->frames[number];
	const char *file = frame->file ? frame->file : trace_module(writer->trace, frame);
	char name[600];

	weights_function(writer->trace, number, name, sizeof(name));
	writer->numbers[number] = add_frame(writer, name, file,
					    frame->file && frame->line ? frame->line : TRACE_NONE);
}

/* Writes a frame for a phase or thread, which --by makes the outermost frame of its stacks. */
static void put_group(struct speedscope_writer *writer, const char *name)
{
	uint64_t key = name ? hash_bytes(name, strlen(name)) : 0;

	if (name && !map_get(&writer->groups, key))
		NEED(map_put(&writer->groups, key, add_frame(writer, name, NULL, TRACE_NONE)));
}

static void put_frames(struct speedscope_writer *writer)
{
	add_frame(writer, WEIGHTS_UNKNOWN, NULL, TRACE_NONE);
	add_frame(writer, WEIGHTS_NO_FRAMES, NULL, TRACE_NONE);
	foreach (set, writer->weights->sets) {
		foreach (share, set->shares) {
			const struct trace_stack *stack = &writer->trace->stacks[share->stack];

			put_group(writer, stack->group);
			foreach (frame, stack->frames) {
				if (!writer->numbers[*frame])
					put_frame(writer, *frame);
			}
		}
	}
}

static void put_stack(struct speedscope_writer *writer, const struct trace_stack *stack)
{
	const char *group = stack->group;

	if (group) {
		out_u64(writer->out,
			map_get(&writer->groups, hash_bytes(group, strlen(group))) - 1);
		out_char(writer->out, ',');
	}
	for (size_t k = stack->frames_n; k--;) {
		out_u64(writer->out, writer->numbers[stack->frames[k]] - 1);
		if (k)
			out_char(writer->out, ',');
	}
	if (!stack->frames_n)
		out_u64(writer->out, NO_FRAMES);
}

static void put_samples(struct speedscope_writer *writer, const struct weights_set *set)
{
	size_t count = set->shares_n + (set->unknown > 0);

	out_text(writer->out, "\"samples\":[");
	for (size_t i = 0; i < count; i++) {
		out_text(writer->out, i ? ",\n[" : "\n[");
		if (i < set->shares_n)
			put_stack(writer, &writer->trace->stacks[set->shares[i].stack]);
		else
			out_u64(writer->out, UNKNOWN);
		out_char(writer->out, ']');
	}
	out_text(writer->out, "],\n\"weights\":[");
	for (size_t i = 0; i < count; i++) {
		out_text(writer->out, i ? "," : "");
		out_u64(writer->out, i < set->shares_n ? set->shares[i].bytes : set->unknown);
	}
	out_char(writer->out, ']');
}

struct speedscope_profile {
	const char *type, *name, *unit;
	uint64_t start, end;
};

static const struct emit_column profile_columns[] = {
	EMIT_FIELD(TEXT, struct speedscope_profile, type),
	EMIT_FIELD(TEXT, struct speedscope_profile, name),
	EMIT_FIELD(TEXT, struct speedscope_profile, unit),
	EMIT_MEMBER("startValue", NUMBER, struct speedscope_profile, start),
	EMIT_MEMBER("endValue", NUMBER, struct speedscope_profile, end),
	EMIT_END,
};

static void put_profile(struct speedscope_writer *writer, const struct weights_set *set,
			const struct selection_options *options)
{
	char name[200];
	char where[40];
	char time[SHOW_NUMBER];

	weights_name(writer->weights, set, where, sizeof(where));
	snprintf(name, sizeof(name), "%s %s, at %s", rows_word(WORDS_METRICS, (int)options->metric),
		 where, show_time(time, set->t));
	emit_begin(writer->out, profile_columns,
		   &(struct speedscope_profile){ "sampled", name, "bytes", 0, set->bytes });
	out_text(writer->out, ",\n");
	put_samples(writer, set);
	out_char(writer->out, '}');
}

struct speedscope_document {
	const char *schema, *exporter, *name;
	uint64_t active;
};

static const struct emit_column document_columns[] = {
	EMIT_MEMBER("$schema", TEXT, struct speedscope_document, schema),
	EMIT_MEMBER("\nexporter", TEXT, struct speedscope_document, exporter),
	EMIT_MEMBER("\nname", TEXT, struct speedscope_document, name),
	EMIT_MEMBER("\nactiveProfileIndex", NUMBER, struct speedscope_document, active),
	EMIT_END,
};

static void put_document(struct speedscope_writer *writer, const struct selection_options *options)
{
	const struct speedscope_document document = {
		.schema = "https://www.speedscope.app/file-format-schema.json",
		.exporter = "memtrace " MEMTRACE_VERSION,
		.name = text_base(writer->trace->path),
	};

	emit_begin(writer->out, document_columns, &document);
	out_text(writer->out, ",\n\"shared\":{\"frames\":[");
	put_frames(writer);
	out_text(writer->out, "]},\n\"profiles\":[");
	for (size_t i = 0; i < writer->weights->sets_n; i++) {
		out_text(writer->out, i ? ",\n" : "\n");
		put_profile(writer, &writer->weights->sets[i], options);
	}
	out_text(writer->out, "]}\n");
}

int format_speedscope(struct trace *trace, struct out *out, const struct selection_options *options)
{
	struct weights weights;
	struct speedscope_writer writer = { .out = out, .trace = trace, .weights = &weights };
	int error = weights_find(&weights, trace, options);

	writer.numbers = NEED_ROOM(&trace->arena, writer.numbers, trace->frames_n);
	if (!error)
		put_document(&writer, options);
	map_clear(&writer.groups);
	report_select_clear(&weights.selection);
	return error;
}
