/*
 * The export `sqlite`: all that the trace tells, as tables to ask (sqlite_schema.def,
 * samples/queries.sql).
 */
#include "render/export/formats.h"

#include "analyse/input/error.h"

#ifndef HAVE_SQLITE

int format_sqlite(struct trace *trace, struct out *out, const struct selection_options *options)
{
	(void)trace;
	(void)out;
	(void)options;
	return err("sqlite is not in this memtrace, which was built without SQLite: install "
		   "libsqlite3-dev and build again");
}

#else

#include <stdio.h>
#include <string.h>

#include "base/text/out.h"
#include "base/text/text.h"
#include "facts/lives.h"
#include "facts/trace_rows.h"
#include "render/export/sqlite_file.h"
#include "render/export/sqlite_times.h"
#include "render/selection/stack_texts.h"

struct sqlite_writer {
	struct trace *trace;
	struct sqlite_file file;
	struct stack_texts stacks;
	struct lives lives;
};

/* --- facts --- */

static void put_fact(struct sqlite_writer *writer, const char *key, const char *value)
{
	sqlite_row(&writer->file, TABLE_meta);
	sqlite_text(&writer->file, key);
	sqlite_text(&writer->file, value);
	sqlite_row_end(&writer->file);
}

static void put_number(struct sqlite_writer *writer, const char *key, uint64_t value)
{
	sqlite_row(&writer->file, TABLE_meta);
	sqlite_text(&writer->file, key);
	sqlite_u64(&writer->file, value);
	sqlite_row_end(&writer->file);
}

static void put_command(struct sqlite_writer *writer)
{
	const struct trace_process *process = &writer->trace->process;
	char text[4096] = "";

	for (size_t i = 0; i < process->command_n; i++) {
		text_append(text, sizeof(text), i ? " " : "");
		text_append(text, sizeof(text), process->command[i]);
	}
	put_fact(writer, "command", text);
}

static void put_facts(struct sqlite_writer *writer)
{
	static const char *const exits[] = { "exit", "running", "unfinished" };
	const struct trace *trace = writer->trace;
	const struct trace_environment *environment = &trace->environment;

	put_fact(writer, "schema", "memtrace-sqlite/1");
	put_fact(writer, "host", trace->process.host);
	put_number(writer, "pid", trace->process.pid);
	put_number(writer, "rank", trace->process.rank);
	put_number(writer, "world_size", trace->process.world_size);
	put_command(writer);
	put_fact(writer, "cwd", trace->process.cwd);
	put_fact(writer, "start_time", trace->process.start_time);
	put_number(writer, "duration_ns", trace->process.duration_ns);
	put_fact(writer, "exit", exits[trace->process.exit]);
	put_fact(writer, "torch", environment->torch);
	put_fact(writer, "python", environment->python);
	put_number(writer, "cuda_driver", environment->cuda_driver);
	put_number(writer, "cuda_runtime", environment->cuda_runtime);
	put_number(writer, "events_dropped", trace->capture.events_dropped);
	if (trace->witness.cupti)
		put_number(writer, "spans_dropped", trace->spans_dropped);
	for (size_t i = 0; i < environment->settings_n; i++) {
		char key[300];

		text_join(key, sizeof(key), "setting:", environment->settings[i].name);
		put_fact(writer, key, environment->settings[i].value);
	}
}

/* --- sums --- */

static void put_sum(struct sqlite_file *file, const struct trace_sum *sum)
{
	sqlite_u64(file, sum->peak_bytes);
	sqlite_u64(file, sum->peak_t);
	sqlite_u64(file, sum->exit_bytes);
}

static void put_parts(struct sqlite_file *file, enum sqlite_table table, int device,
		      const struct trace_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		sqlite_row(file, table);
		sqlite_device(file, device);
		sqlite_text(file, parts[i].name);
		put_sum(file, &parts[i].allocated);
		put_sum(file, &parts[i].reserved);
		sqlite_u64(file, parts[i].allocations);
		sqlite_u64(file, parts[i].frees);
		sqlite_row_end(file);
	}
}

static void put_devices(struct sqlite_writer *writer)
{
	struct sqlite_file *file = &writer->file;

	for (size_t i = 0; i < writer->trace->summary.devices_n; i++) {
		const struct trace_device *device = &writer->trace->summary.devices[i];

		sqlite_row(file, TABLE_devices);
		sqlite_device(file, device->device);
		sqlite_text(file, device->name);
		sqlite_u64(file, device->total_bytes);
		put_sum(file, &device->allocated);
		put_sum(file, &device->reserved);
		put_sum(file, &device->used);
		sqlite_u64(file, device->allocations);
		sqlite_u64(file, device->frees);
		sqlite_u64(file, device->ooms);
		sqlite_u64(file, device->retries);
		sqlite_row_end(file);
		put_parts(file, TABLE_pools, device->device, device->pools, device->pools_n);
		put_parts(file, TABLE_owners, device->device, device->owners, device->owners_n);
	}
}

static void put_peaks(struct sqlite_writer *writer)
{
	struct sqlite_file *file = &writer->file;

	for (size_t i = 0; i < writer->trace->peaks_n; i++) {
		const struct trace_peak *peak = &writer->trace->peaks[i];

		sqlite_row(file, TABLE_peaks);
		sqlite_u64(file, i);
		sqlite_device(file, peak->device);
		sqlite_text(file, peak->pool);
		sqlite_text(file, rows_word(WORDS_METRICS, peak->metric));
		sqlite_u64(file, peak->t);
		sqlite_u64(file, peak->bytes);
		sqlite_row_end(file);
		for (size_t k = 0; k < peak->stacks_n; k++) {
			sqlite_row(file, TABLE_peak_stacks);
			sqlite_u64(file, i);
			sqlite_number(file, peak->stacks[k].stack);
			sqlite_u64(file, peak->stacks[k].bytes);
			sqlite_u64(file, peak->stacks[k].count);
			sqlite_row_end(file);
		}
	}
}

static void put_timeline(struct sqlite_writer *writer)
{
	struct sqlite_file *file = &writer->file;

	for (size_t i = 0; i < writer->trace->timeline_n; i++) {
		const struct trace_curve *curve = &writer->trace->timeline[i];

		for (size_t k = 0; k < curve->t_n; k++) {
			sqlite_row(file, TABLE_timeline);
			sqlite_device(file, curve->device);
			sqlite_text(file, curve->pool);
			sqlite_u64(file, curve->t[k]);
			sqlite_u64(file, curve->allocated[k]);
			sqlite_u64(file, curve->reserved[k]);
			sqlite_u64(file, k < curve->used_n ? curve->used[k] : TRACE_NONE);
			sqlite_row_end(file);
		}
	}
}

/* --- code --- */

static void put_frames(struct sqlite_writer *writer)
{
	const struct trace *trace = writer->trace;
	struct sqlite_file *file = &writer->file;

	for (size_t i = 0; i < trace->frames_n; i++) {
		const struct trace_frame *frame = &trace->frames[i];

		sqlite_row(file, TABLE_frames);
		sqlite_u64(file, i);
		sqlite_text(file, frame->language == TRACE_PYTHON ? "python" : "native");
		sqlite_text(file, frame->function);
		sqlite_text(file, frame->file);
		sqlite_u64(file, frame->line ? frame->line : TRACE_NONE);
		sqlite_text(file, frame->module == UINT32_MAX ? NULL
							      : trace->modules[frame->module].path);
		sqlite_row_end(file);
	}
}

static void put_stack(struct sqlite_writer *writer, uint32_t number)
{
	const struct trace_stack *stack = &writer->trace->stacks[number];
	const struct stack_text *text = stack_text(&writer->stacks, number);
	struct sqlite_file *file = &writer->file;

	sqlite_row(file, TABLE_stacks);
	sqlite_u64(file, number);
	sqlite_text(file, text->line);
	sqlite_text(file, text->site);
	sqlite_text(file, text->owner);
	sqlite_text(file, stack->node);
	sqlite_u64(file, stack->allocations);
	sqlite_u64(file, stack->bytes);
	sqlite_u64(file, stack->frees);
	sqlite_u64(file, stack->freed_bytes);
	sqlite_u64(file, stack->peak_bytes);
	sqlite_u64(file, stack->peak_count);
	sqlite_u64(file, stack->live_bytes);
	sqlite_u64(file, stack->live_count);
	sqlite_row_end(file);
	for (size_t i = 0; i < stack->frames_n; i++) {
		sqlite_row(file, TABLE_stack_frames);
		sqlite_u64(file, number);
		sqlite_u64(file, i);
		sqlite_number(file, stack->frames[i]);
		sqlite_row_end(file);
	}
}

static void put_code(struct sqlite_writer *writer)
{
	const struct trace *trace = writer->trace;
	struct sqlite_file *file = &writer->file;

	put_frames(writer);
	for (uint32_t i = 0; i < trace->stacks_n; i++)
		put_stack(writer, i);
	for (size_t i = 0; i < trace->threads_n; i++) {
		sqlite_row(file, TABLE_threads);
		sqlite_u64(file, trace->threads[i].thread);
		sqlite_text(file, trace->threads[i].name);
		sqlite_u64(file, trace->threads[i].main);
		sqlite_row_end(file);
	}
	for (size_t i = 0; i < trace->calls_n; i++) {
		sqlite_row(file, TABLE_calls);
		sqlite_text(file, trace->calls[i].api);
		sqlite_u64(file, trace->calls[i].calls);
		sqlite_u64(file, trace->calls[i].failed);
		sqlite_u64(file, trace->calls[i].total_ns);
		sqlite_u64(file, trace->calls[i].max_ns);
		sqlite_row_end(file);
	}
}

/* --- events --- */

static void put_event(struct sqlite_writer *writer, const struct event *event)
{
	const struct trace *trace = writer->trace;
	struct sqlite_file *file = &writer->file;
	bool memory = event_is_memory(event->op);

	sqlite_row(file, TABLE_events);
	sqlite_u64(file, event->seq);
	sqlite_u64(file, event->t);
	sqlite_text(file, event_op_name(event->op));
	sqlite_device(file, event->device);
	sqlite_text(file, space_name(event->space));
	sqlite_text(file, trace_text(trace, event->pool));
	sqlite_u64(file, event->ptr ? event->ptr : TRACE_NONE);
	sqlite_u64(file, memory ? event->size : TRACE_NONE);
	sqlite_number(file, event->stack);
	sqlite_u64(file, event->thread);
	sqlite_u64(file, event->stream ? event->stream : TRACE_NONE);
	sqlite_text(file, trace_text(trace, event->api));
	sqlite_text(file, trace_text(trace, event->error));
	sqlite_u64(file, event->allocated);
	sqlite_u64(file, event->reserved);
	sqlite_text(file, trace_text(trace, event->name));
	sqlite_u64(file, memory ? event->flags & EVENT_FOREIGN : TRACE_NONE);
	sqlite_row_end(file);
}

/* A block's whole life; `by` is the event that ended it, NULL for none that is known. */
static void put_life(struct sqlite_writer *writer, const struct block *block,
		     const struct event *by, const char *fate)
{
	static const char *const kinds[] = {
		[BLOCK_HANDED] = "block", [BLOCK_SEGMENT] = "segment", [BLOCK_MAPPING] = "mapping"
	};
	struct sqlite_file *file = &writer->file;

	sqlite_row(file, TABLE_allocations);
	sqlite_u64(file, block->seq);
	sqlite_text(file, kinds[block->kind]);
	sqlite_device(file, block->device);
	sqlite_text(file, space_name(block->space));
	sqlite_text(file, trace_text(writer->trace, block->pool));
	sqlite_u64(file, block->ptr);
	sqlite_u64(file, block->size);
	sqlite_number(file, block->stack);
	sqlite_u64(file, block->thread);
	sqlite_u64(file, block->t);
	sqlite_u64(file, by ? by->t : TRACE_NONE);
	sqlite_number(file, by ? by->stack : UINT32_MAX);
	sqlite_text(file, fate);
	sqlite_u64(file, block->foreign);
	sqlite_row_end(file);
}

static void put_lives(struct sqlite_writer *writer, const char *fate)
{
	const struct blocks *blocks = &writer->lives.blocks;

	for (uint32_t i = 0; i < blocks->used; i++) {
		if (blocks->list[i].state == BLOCK_LIVE)
			put_life(writer, &blocks->list[i], NULL, fate);
	}
}

static int put_events(struct sqlite_writer *writer)
{
	struct trace *trace = writer->trace;
	struct lives *lives = &writer->lives;
	struct event event;
	int error = 0;
	int more = 1;

	lives_start(lives, trace->capture.events_filtered);
	while (!error && !writer->file.error && (more = trace_next(trace, &event)) == 1) {
		put_event(writer, &event);
		if (lives_gap(lives, &event))
			put_lives(writer, "unknown");
		if (lives_take(lives, &event, trace_text(trace, event.api)))
			error = err_no_memory(trace->path);
		else if (lives->ends && !lives->unseen)
			put_life(writer, &lives->ended, &event, "freed");
	}
	if (!error && more == 0)
		put_lives(writer, "live");
	lives_clear(lives);
	return error ? error : more < 0 ? more : writer->file.error;
}

int format_sqlite(struct trace *trace, struct out *out, const struct selection_options *options)
{
	struct sqlite_writer writer = { .trace = trace };
	int error = stack_texts_make(&writer.stacks, trace);

	(void)options; /* all is told: asking is the reader's */
	if (!error)
		error = sqlite_file_open(&writer.file);
	if (!error) {
		put_facts(&writer);
		put_devices(&writer);
		put_peaks(&writer);
		put_timeline(&writer);
		sqlite_phases(&writer.file, trace);
		sqlite_spans(&writer.file, trace);
		put_code(&writer);
		error = put_events(&writer);
	}
	if (!error)
		error = sqlite_file_copy(&writer.file, out);
	sqlite_file_clear(&writer.file);
	return error;
}

#endif
