/*
 * The export `speedscope`: https://www.speedscope.app/file-format-schema.json, a profile a device,
 * its samples being stacks and their weights bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/input/error.h"
#include "base/mem/hash.h"
#include "base/mem/map.h"
#include "base/settings/version.h"
#include "base/text/out.h"
#include "base/text/text.h"
#include "facts/trace_rows.h"
#include "render/export/formats.h"
#include "render/selection/flame_weights.h"
#include "render/values/values.h"

struct speedscope_writer {
	struct out *out;
	const struct trace *trace;
	const struct weights *weights;
	uint32_t *numbers; /* by frame of the trace: 1 + its number here */
	uint32_t frames_n;
	bool no_memory;
	struct map groups; /* hash of a phase's or thread's name: 1 + its number */
};

/* Frames without a stack of their own come first. */
enum { UNKNOWN, NO_FRAMES, NAMED };

static void put_frame(struct speedscope_writer *writer, uint32_t number)
{
	const struct trace_frame *frame = &writer->trace->frames[number];
	const char *file = frame->file;
	char name[600];

	weights_function(writer->trace, number, name, sizeof(name));
	if (!file && frame->module != UINT32_MAX)
		file = writer->trace->modules[frame->module].path;
	out_text(writer->out, ",\n{\"name\":");
	out_json(writer->out, name);
	if (file) {
		out_text(writer->out, ",\"file\":");
		out_json(writer->out, file);
	}
	if (frame->file && frame->line) {
		out_text(writer->out, ",\"line\":");
		out_u64(writer->out, frame->line);
	}
	out_char(writer->out, '}');
	writer->numbers[number] = ++writer->frames_n;
}

/* A phase, or a thread, is the outermost frame of what was born there. */
static void put_group(struct speedscope_writer *writer, const char *name)
{
	uint64_t key = name ? hash_bytes(name, strlen(name)) : 0;

	if (!name || map_get(&writer->groups, key))
		return;
	out_text(writer->out, ",\n{\"name\":");
	out_json(writer->out, name);
	out_char(writer->out, '}');
	writer->no_memory |= !map_put(&writer->groups, key, ++writer->frames_n);
}

static void put_frames(struct speedscope_writer *writer)
{
	out_text(writer->out, "\"shared\":{\"frames\":[\n{\"name\":");
	out_json(writer->out, WEIGHTS_UNKNOWN);
	out_text(writer->out, "},\n{\"name\":");
	out_json(writer->out, WEIGHTS_NO_FRAMES);
	out_char(writer->out, '}');
	writer->frames_n = NAMED;
	for (size_t i = 0; i < writer->weights->sets_n; i++) {
		const struct weights_set *set = &writer->weights->sets[i];

		for (size_t k = 0; k < set->shares_n; k++) {
			const struct trace_stack *stack =
				&writer->trace->stacks[set->shares[k].stack];

			put_group(writer, stack->group);
			for (size_t n = 0; n < stack->frames_n; n++) {
				if (!writer->numbers[stack->frames[n]])
					put_frame(writer, stack->frames[n]);
			}
		}
	}
	out_text(writer->out, "]},\n");
}

static void put_samples(struct speedscope_writer *writer, const struct weights_set *set)
{
	out_text(writer->out, "\"samples\":[");
	for (size_t i = 0; i < set->shares_n; i++) {
		const struct trace_stack *stack = &writer->trace->stacks[set->shares[i].stack];

		out_text(writer->out, i ? ",\n[" : "\n[");
		if (stack->group) {
			out_u64(writer->out,
				map_get(&writer->groups,
					hash_bytes(stack->group, strlen(stack->group))) -
					1);
			out_char(writer->out, ',');
		}
		for (size_t k = stack->frames_n; k--;) {
			out_u64(writer->out, writer->numbers[stack->frames[k]] - 1);
			if (k)
				out_char(writer->out, ',');
		}
		if (!stack->frames_n)
			out_u64(writer->out, NO_FRAMES);
		out_char(writer->out, ']');
	}
	if (set->unknown) {
		out_text(writer->out, set->shares_n ? ",\n[" : "\n[");
		out_u64(writer->out, UNKNOWN);
		out_char(writer->out, ']');
	}
	out_text(writer->out, "],\n\"weights\":[");
	for (size_t i = 0; i < set->shares_n; i++) {
		if (i)
			out_char(writer->out, ',');
		out_u64(writer->out, set->shares[i].bytes);
	}
	if (set->unknown) {
		if (set->shares_n)
			out_char(writer->out, ',');
		out_u64(writer->out, set->unknown);
	}
	out_char(writer->out, ']');
}

static void put_profile(struct speedscope_writer *writer, const struct weights_set *set,
			const struct selection_options *options)
{
	char name[200];
	char where[40];
	char time[SHOW_NUMBER];

	weights_name(writer->weights, set, where, sizeof(where));
	snprintf(name, sizeof(name), "%s %s, at %s", rows_word(WORDS_METRICS, (int)options->metric),
		 where, show_time(time, set->t));
	out_text(writer->out, "{\"type\":\"sampled\",\"name\":");
	out_json(writer->out, name);
	out_text(writer->out, ",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":");
	out_u64(writer->out, set->bytes);
	out_text(writer->out, ",\n");
	put_samples(writer, set);
	out_char(writer->out, '}');
}

static void put_document(struct speedscope_writer *writer, const struct selection_options *options)
{
	out_text(writer->out,
		 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		 "\"exporter\":\"memtrace " MEMTRACE_VERSION "\",\n\"name\":");
	out_json(writer->out, text_base(writer->trace->path));
	out_text(writer->out, ",\n\"activeProfileIndex\":0,\n");
	put_frames(writer);
	out_text(writer->out, "\"profiles\":[");
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

	writer.numbers = calloc(trace->frames_n + 1, sizeof(*writer.numbers));
	if (!error && writer.numbers)
		put_document(&writer, options);
	else if (!error)
		error = err_no_memory(trace->path);
	if (!error && writer.no_memory)
		error = err_no_memory(trace->path);
	map_clear(&writer.groups);
	free(writer.numbers);
	report_select_clear(&weights.selection);
	return error;
}
