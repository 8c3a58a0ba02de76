/*
 * The export `torch-snapshot`: the format of torch.cuda.memory._dump_snapshot(), with the memory of
 * all libraries.
 *
 * Keys and values are those of torch/csrc/cuda/Module.cpp (THCPModule_memorySnapshot) and of the
 * docstring of torch.cuda.memory._snapshot(). The format is read by torch/utils/viz/MemoryViz.js
 * and torch/cuda/_memory_viz.py.
 */
#include <string.h>

#include "analyse/input/grow.h"
#include "base/text/text.h"
#include "render/export/pickle.h"
#include "render/export/torch_snapshot.h"

enum { SMALL_SEGMENT = 2 << 20 }; /* kSmallBuffer in c10/cuda/CUDACachingAllocator */

struct snapshot_writer {
	struct pickle pickle;
	struct snapshot *snapshot;
	const struct trace *trace;
	uint32_t *frames; /* for each frame: 1 + its memo number, or 0 if it was not written */
	uint32_t *stacks; /* for each stack: 1 + its memo number, or 0 if it was not written */
	uint32_t unknown; /* 1 + memo number of the pseudo-stack for unknown blocks */
	uint32_t none;    /* 1 + memo number of the pseudo-stack for blocks without a stack */
	uint64_t epoch;   /* Unix time of the process start, in ns */
};

static void key_text(struct snapshot_writer *writer, const char *key, const char *value)
{
	pickle_text(&writer->pickle, key);
	pickle_text(&writer->pickle, value);
}

static void key_u64(struct snapshot_writer *writer, const char *key, uint64_t value)
{
	pickle_text(&writer->pickle, key);
	pickle_u64(&writer->pickle, value);
}

/* --- frames --- */

static void frame(struct snapshot_writer *writer, const char *file, uint64_t line, const char *name)
{
	pickle_dict(&writer->pickle);
	key_text(writer, "filename", file);
	key_u64(writer, "line", line);
	key_text(writer, "name", name);
	pickle_dict_end(&writer->pickle);
}

static void trace_frame(struct snapshot_writer *writer, uint32_t number)
{
	const struct trace *trace = writer->trace;
	const struct trace_frame *row = &trace->frames[number];
	const char *file = row->file ? row->file : trace_module(trace, row);
	char offset[24];

	if (writer->frames[number]) {
		pickle_again(&writer->pickle, writer->frames[number] - 1);
		return;
	}
	text_hex(offset, row->offset);
	frame(writer, file ? file : "", row->line, row->function ? row->function : offset);
	writer->frames[number] = pickle_remember(&writer->pickle) + 1;
}

/* Writes a stack of one pseudo-frame, or a reference to it if it was written before. */
static void one_frame(struct snapshot_writer *writer, uint32_t *memo, const char *name)
{
	if (*memo) {
		pickle_again(&writer->pickle, *memo - 1);
		return;
	}
	pickle_list(&writer->pickle);
	pickle_item(&writer->pickle);
	frame(writer, "memtrace", 0, name);
	pickle_list_end(&writer->pickle);
	*memo = pickle_remember(&writer->pickle) + 1;
}

static void frames_of(struct snapshot_writer *writer, uint32_t stack)
{
	const struct trace_stack *row;

	pickle_text(&writer->pickle, "frames");
	if (stack >= writer->trace->stacks_n || !writer->trace->stacks[stack].frames_n) {
		one_frame(writer, &writer->none, "[no stack was recorded]");
		return;
	}
	if (writer->stacks[stack]) {
		pickle_again(&writer->pickle, writer->stacks[stack] - 1);
		return;
	}
	row = &writer->trace->stacks[stack];
	pickle_list(&writer->pickle);
	foreach (frame, row->frames) {
		pickle_item(&writer->pickle);
		trace_frame(writer, *frame);
	}
	pickle_list_end(&writer->pickle);
	writer->stacks[stack] = pickle_remember(&writer->pickle) + 1;
}

static void frames_of_block(struct snapshot_writer *writer, const struct snapshot_block *block)
{
	if (block->known) {
		frames_of(writer, block->stack);
		return;
	}
	pickle_text(&writer->pickle, "frames");
	one_frame(writer, &writer->unknown, "[not known: allocated before or in missing events]");
}

/* --- segments --- */

/* Writes an item of a segment: a block, or free space if `block` is NULL. */
static void space_of(struct snapshot_writer *writer, uint64_t address, uint64_t size,
		     const struct snapshot_block *block)
{
	pickle_item(&writer->pickle);
	pickle_dict(&writer->pickle);
	key_u64(writer, "address", address);
	key_u64(writer, "size", size);
	key_u64(writer, "requested_size", block ? size : 0);
	key_text(writer, "state", block ? "active_allocated" : "inactive");
	if (block) {
		frames_of_block(writer, block);
	} else {
		pickle_text(&writer->pickle, "frames");
		pickle_list(&writer->pickle);
		pickle_list_end(&writer->pickle);
	}
	pickle_dict_end(&writer->pickle);
}

/* Writes the segment's blocks and the free space between them. Returns the bytes in blocks. */
static uint64_t blocks_of(struct snapshot_writer *writer, const struct snapshot_device *device,
			  const struct snapshot_segment *segment)
{
	uint64_t at = segment->address;
	uint64_t end = segment->address + segment->size;
	uint64_t used = 0;

	pickle_list(&writer->pickle);
	for (size_t i = 0; i < segment->count; i++) {
		const struct snapshot_block *block = &device->blocks[segment->first + i];

		if (block->address > at)
			space_of(writer, at, block->address - at, NULL);
		space_of(writer, block->address, block->size, block);
		used += block->size;
		at = block->address + block->size;
	}
	if (at < end)
		space_of(writer, at, end - at, NULL);
	pickle_list_end(&writer->pickle);
	return used;
}

static void segment_of(struct snapshot_writer *writer, const struct snapshot_device *device,
		       const struct snapshot_segment *segment)
{
	uint64_t used;

	pickle_dict(&writer->pickle);
	key_u64(writer, "device", (uint64_t)device->device);
	key_u64(writer, "address", segment->address);
	key_u64(writer, "total_size", segment->size);
	key_u64(writer, "stream", 0);
	key_text(writer, "segment_type", segment->size <= SMALL_SEGMENT ? "small" : "large");
	pickle_text(&writer->pickle, "segment_pool_id");
	pickle_pair_of_zeros(&writer->pickle);
	pickle_text(&writer->pickle, "is_expandable");
	pickle_bool(&writer->pickle, segment->mapped);
	frames_of(writer, segment->stack);
	pickle_text(&writer->pickle, "blocks");
	used = blocks_of(writer, device, segment);
	key_u64(writer, "allocated_size", used);
	key_u64(writer, "active_size", used);
	key_u64(writer, "requested_size", used);
	pickle_dict_end(&writer->pickle);
}

static void segments(struct snapshot_writer *writer)
{
	pickle_text(&writer->pickle, "segments");
	pickle_list(&writer->pickle);
	foreach (device, writer->snapshot->devices) {
		snapshot_tile(writer->snapshot, device);
		foreach (segment, device->segments) {
			pickle_item(&writer->pickle);
			segment_of(writer, device, segment);
		}
	}
	pickle_list_end(&writer->pickle);
}

/* --- history --- */

static void entry_of(struct snapshot_writer *writer, const struct snapshot_entry *entry,
		     const char *action)
{
	const char *api = trace_text(writer->trace, entry->api);

	pickle_dict(&writer->pickle);
	key_text(writer, "action", action);
	key_u64(writer, entry->action == SNAPSHOT_OOM ? "device_free" : "addr", entry->address);
	key_u64(writer, "size", entry->size);
	key_u64(writer, "stream", entry->stream);
	key_u64(writer, "time_us", (writer->epoch + entry->t) / 1000);
	frames_of(writer, entry->stack);
	key_text(writer, "compile_context", "N/A");
	key_text(writer, "user_metadata", api ? api : "");
	pickle_dict_end(&writer->pickle);
}

static void trace_of(struct snapshot_writer *writer, const struct snapshot_device *device)
{
	static const char *const actions[] = {
		[SNAPSHOT_ALLOC] = "alloc",
		[SNAPSHOT_FREE] = "free_requested",
		[SNAPSHOT_SEGMENT_ALLOC] = "segment_alloc",
		[SNAPSHOT_SEGMENT_FREE] = "segment_free",
		[SNAPSHOT_SEGMENT_MAP] = "segment_map",
		[SNAPSHOT_SEGMENT_UNMAP] = "segment_unmap",
		[SNAPSHOT_OOM] = "oom",
	};

	pickle_list(&writer->pickle);
	foreach (entry, device->entries) {
		pickle_item(&writer->pickle);
		entry_of(writer, entry, actions[entry->action]);
		if (entry->action != SNAPSHOT_FREE)
			continue;
		pickle_item(&writer->pickle);
		entry_of(writer, entry, "free_completed");
	}
	pickle_list_end(&writer->pickle);
}

static void traces(struct snapshot_writer *writer)
{
	pickle_text(&writer->pickle, "device_traces");
	pickle_list(&writer->pickle);
	foreach (device, writer->snapshot->devices) {
		pickle_item(&writer->pickle);
		trace_of(writer, device);
	}
	pickle_list_end(&writer->pickle);
}

static void annotation(struct snapshot_writer *writer, const struct trace_phase *phase,
		       const char *stage, uint64_t t)
{
	pickle_dict(&writer->pickle);
	key_text(writer, "name", phase->name ? phase->name : "?");
	key_text(writer, "stage", stage);
	key_u64(writer, "device", 0);
	key_u64(writer, "time_us", (writer->epoch + t) / 1000);
	pickle_dict_end(&writer->pickle);
}

/* Writes the starts and ends of phases, as torch.profiler.record_function() annotates them. */
static void annotations(struct snapshot_writer *writer)
{
	pickle_text(&writer->pickle, "external_annotations");
	pickle_list(&writer->pickle);
	foreach (phase, writer->trace->phases) {
		pickle_item(&writer->pickle);
		annotation(writer, phase, "START", phase->start);
		if (phase->end == TRACE_NONE)
			continue;
		pickle_item(&writer->pickle);
		annotation(writer, phase, "END", phase->end);
	}
	pickle_list_end(&writer->pickle);
}

static void settings(struct snapshot_writer *writer)
{
	const struct trace_environment *environment = &writer->trace->environment;

	pickle_text(&writer->pickle, "allocator_settings");
	pickle_dict(&writer->pickle);
	foreach (setting, environment->settings)
		key_text(writer, setting->name, setting->value ? setting->value : "");
	pickle_dict_end(&writer->pickle);
}

int format_torch_snapshot(struct trace *trace, struct out *out,
			  const struct selection_options *options)
{
	struct snapshot snapshot;
	struct snapshot_writer writer = { .snapshot = &snapshot,
					  .trace = trace,
					  .epoch = trace_known(trace_start_ns(trace)) };
	int error = snapshot_read(&snapshot, trace, options);

	writer.frames = NEED_ROOM(&trace->arena, writer.frames, trace->frames_n);
	writer.stacks = NEED_ROOM(&trace->arena, writer.stacks, trace->stacks_n);
	if (!error) {
		pickle_start(&writer.pickle, out);
		pickle_dict(&writer.pickle);
		segments(&writer);
		traces(&writer);
		annotations(&writer);
		settings(&writer);
		pickle_dict_end(&writer.pickle);
		pickle_end(&writer.pickle);
	}
	snapshot_clear(&snapshot);
	return error;
}
