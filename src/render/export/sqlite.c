/*
 * The export `sqlite`: writes the whole trace as a database with the tables of sqlite_schema.def,
 * for queries such as samples/queries.sql.
 */
#include "render/export/formats.h"

#include "analyse/input/error.h"

#ifndef HAVE_SQLITE

int format_sqlite(struct trace *trace, struct out *out, const struct selection_options *options)
{
	(void)trace;
	(void)out;
	(void)options;
	return err("this memtrace was built without SQLite: install libsqlite3-dev and build it "
		   "again");
}

#else

#include <string.h>

#include "base/text/out.h"
#include "base/text/text.h"
#include "facts/lives.h"
#include "render/export/sqlite_file.h"
#include "render/selection/stack_texts.h"

struct sqlite_writer {
	struct trace *trace;
	struct sqlite_file file;
	struct stack_texts stacks;
	struct lives lives;
};

/* --- process, environment --- */

/* Begins a row of the table `meta` with its key; the caller adds the value. */
static struct sqlite_file *fact(struct sqlite_writer *writer, const char *key)
{
	sqlite_row(&writer->file, TABLE_meta);
	sqlite_text(&writer->file, key);
	return &writer->file;
}

static void put_command(struct sqlite_writer *writer)
{
	const struct trace_process *process = &writer->trace->process;
	char text[4096] = "";

	for (size_t i = 0; i < process->command_n; i++) {
		text_append(text, sizeof(text), i ? " " : "");
		text_append(text, sizeof(text), process->command[i]);
	}
	sqlite_text(fact(writer, "command"), text);
}

static void put_facts(struct sqlite_writer *writer)
{
	const struct trace *trace = writer->trace;
	const struct trace_environment *environment = &trace->environment;

	sqlite_text(fact(writer, "schema"), "memtrace-sqlite/1");
	sqlite_text(fact(writer, "host"), trace->process.host);
	sqlite_u64(fact(writer, "pid"), trace->process.pid);
	sqlite_u64(fact(writer, "rank"), trace->process.rank);
	sqlite_u64(fact(writer, "world_size"), trace->process.world_size);
	put_command(writer);
	sqlite_text(fact(writer, "cwd"), trace->process.cwd);
	sqlite_text(fact(writer, "start_time"), trace->process.start_time);
	sqlite_u64(fact(writer, "duration_ns"), trace->process.duration_ns);
	sqlite_text(fact(writer, "exit"), rows_word(WORDS_EXITS, trace->process.exit));
	sqlite_text(fact(writer, "torch"), environment->torch);
	sqlite_text(fact(writer, "python"), environment->python);
	sqlite_u64(fact(writer, "cuda_driver"), environment->cuda_driver);
	sqlite_u64(fact(writer, "cuda_runtime"), environment->cuda_runtime);
	sqlite_u64(fact(writer, "events_dropped"), trace->capture.events_dropped);
	if (trace->cupti_check.cupti)
		sqlite_u64(fact(writer, "spans_dropped"), trace->spans_dropped);
	for (size_t i = 0; i < environment->settings_n; i++) {
		char key[300];

		text_join(key, sizeof(key), "setting:", environment->settings[i].name);
		sqlite_text(fact(writer, key), environment->settings[i].value);
	}
}

/* --- devices, pools, peaks, curves --- */

static void put_sum(struct sqlite_file *file, const struct trace_sum *sum)
{
	SQLITE_NUMBERS(file, sum->peak_bytes, sum->peak_t, sum->exit_bytes);
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
		SQLITE_NUMBERS(file, parts[i].allocations, parts[i].frees);
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
		SQLITE_NUMBERS(file, device->allocations, device->frees, device->ooms,
			       device->retries);
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
		SQLITE_TEXTS(file, peak->pool, rows_word(WORDS_METRICS, peak->metric));
		SQLITE_NUMBERS(file, peak->t, peak->bytes);
		for (size_t k = 0; k < peak->stacks_n; k++) {
			sqlite_row(file, TABLE_peak_stacks);
			sqlite_u64(file, i);
			sqlite_number(file, peak->stacks[k].stack);
			SQLITE_NUMBERS(file, peak->stacks[k].bytes, peak->stacks[k].count);
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
			SQLITE_NUMBERS(file, curve->t[k], curve->allocated[k], curve->reserved[k],
				       k < curve->used_n ? curve->used[k] : TRACE_NONE);
		}
	}
}

/* --- phases, spans --- */

static void put_figures(struct sqlite_file *file, const struct trace_phase_sums *allocated,
			const struct trace_phase_sums *reserved,
			const struct trace_phase_count *allocations,
			const struct trace_phase_count *freed, const struct trace_phase_count *kept)
{
	SQLITE_NUMBERS(file, allocated->start_bytes, allocated->end_bytes, allocated->peak_bytes,
		       reserved->start_bytes, reserved->end_bytes, reserved->peak_bytes,
		       allocations->bytes, allocations->count, freed->bytes, freed->count,
		       kept->bytes, kept->count);
}

static void put_phase_device(struct sqlite_file *file, uint64_t phase,
			     const struct trace_phase_device *device)
{
	sqlite_row(file, TABLE_phase_devices);
	sqlite_u64(file, phase);
	sqlite_device(file, device->device);
	put_figures(file, &device->allocated, &device->reserved, &device->allocations,
		    &device->freed, &device->kept);
}

static void put_phases(struct sqlite_file *file, const struct trace *trace)
{
	for (size_t i = 0; i < trace->phases_n; i++) {
		const struct trace_phase *phase = &trace->phases[i];

		sqlite_row(file, TABLE_phases);
		sqlite_u64(file, i);
		SQLITE_TEXTS(file, phase->name, phase->domain);
		SQLITE_NUMBERS(file, phase->thread, phase->start, phase->end);
		put_figures(file, &phase->allocated, &phase->reserved, &phase->allocations,
			    &phase->freed, &phase->kept);
		SQLITE_TEXTS(file, phase->category, phase->color, phase->payload);
		for (size_t k = 0; k < phase->devices_n; k++)
			put_phase_device(file, i, &phase->devices[k]);
	}
}

static void put_span(struct sqlite_file *file, const struct trace_span *span)
{
	bool call = span->device < 0;

	sqlite_row(file, TABLE_spans);
	SQLITE_NUMBERS(file, span->t, span->ns, span->action);
	sqlite_device(file, span->device);
	SQLITE_NUMBERS(file, call ? TRACE_NONE : span->stream, call ? span->thread : TRACE_NONE,
		       span->bytes ? span->bytes : TRACE_NONE);
}

static void put_spans(struct sqlite_file *file, const struct trace *trace)
{
	for (size_t i = 0; i < trace->actions_n; i++) {
		const struct trace_action *action = &trace->actions[i];

		sqlite_row(file, TABLE_actions);
		sqlite_u64(file, i);
		SQLITE_TEXTS(file, action->kind, action->name);
		SQLITE_NUMBERS(file, action->count, action->total_ns, action->max_ns,
			       action->bytes);
	}
	for (size_t i = 0; i < trace->spans_n; i++)
		put_span(file, &trace->spans[i]);
}

/* --- frames, stacks, threads, calls --- */

static void put_frames(struct sqlite_writer *writer)
{
	const struct trace *trace = writer->trace;
	struct sqlite_file *file = &writer->file;

	for (size_t i = 0; i < trace->frames_n; i++) {
		const struct trace_frame *frame = &trace->frames[i];

		sqlite_row(file, TABLE_frames);
		sqlite_u64(file, i);
		SQLITE_TEXTS(file, rows_word(WORDS_LANGUAGES, frame->language), frame->function,
			     frame->file);
		sqlite_u64(file, frame->line ? frame->line : TRACE_NONE);
		sqlite_text(file, trace_module(trace, frame));
	}
}

static void put_stack(struct sqlite_writer *writer, uint32_t number)
{
	const struct trace_stack *stack = &writer->trace->stacks[number];
	const struct stack_text *text = stack_text(&writer->stacks, number);
	struct sqlite_file *file = &writer->file;

	sqlite_row(file, TABLE_stacks);
	sqlite_u64(file, number);
	SQLITE_TEXTS(file, text->line, text->site, text->owner, stack->node);
	SQLITE_NUMBERS(file, stack->allocations, stack->bytes, stack->frees, stack->freed_bytes,
		       stack->peak_bytes, stack->peak_count, stack->live_bytes, stack->live_count);
	for (size_t i = 0; i < stack->frames_n; i++) {
		sqlite_row(file, TABLE_stack_frames);
		SQLITE_NUMBERS(file, number, i);
		sqlite_number(file, stack->frames[i]);
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
	}
	for (size_t i = 0; i < trace->calls_n; i++) {
		sqlite_row(file, TABLE_calls);
		sqlite_text(file, trace->calls[i].api);
		SQLITE_NUMBERS(file, trace->calls[i].calls, trace->calls[i].failed,
			       trace->calls[i].total_ns, trace->calls[i].max_ns);
	}
}

/* --- events --- */

static void put_event(struct sqlite_writer *writer, const struct event *event)
{
	const struct trace *trace = writer->trace;
	struct sqlite_file *file = &writer->file;
	bool memory = event_is_memory(event->op);

	sqlite_row(file, TABLE_events);
	SQLITE_NUMBERS(file, event->seq, event->t);
	sqlite_text(file, event_op_name(event->op));
	sqlite_device(file, event->device);
	SQLITE_TEXTS(file, space_name(event->space), trace_text(trace, event->pool));
	SQLITE_NUMBERS(file, event->ptr ? event->ptr : TRACE_NONE,
		       memory ? event->size : TRACE_NONE);
	sqlite_number(file, event->stack);
	SQLITE_NUMBERS(file, event->thread, event->stream ? event->stream : TRACE_NONE);
	SQLITE_TEXTS(file, trace_text(trace, event->api), trace_text(trace, event->error));
	SQLITE_NUMBERS(file, event->allocated, event->reserved);
	sqlite_text(file, trace_text(trace, event->name));
	sqlite_u64(file, memory ? event->flags & EVENT_FOREIGN : TRACE_NONE);
}

/* Writes a block with its allocation and its free. `by` is the event that freed it; NULL if it was
 * not freed, or if the event is not known. */
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
	SQLITE_TEXTS(file, space_name(block->space), trace_text(writer->trace, block->pool));
	SQLITE_NUMBERS(file, block->ptr, block->size);
	sqlite_number(file, block->stack);
	SQLITE_NUMBERS(file, block->thread, block->t, by ? by->t : TRACE_NONE);
	sqlite_number(file, by ? by->stack : UINT32_MAX);
	sqlite_text(file, fate);
	sqlite_u64(file, block->foreign);
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
	int error;

	(void)options; /* the whole trace is written: queries select from it */
	stack_texts_make(&writer.stacks, trace);
	error = sqlite_file_open(&writer.file);
	if (!error) {
		put_facts(&writer);
		put_devices(&writer);
		put_peaks(&writer);
		put_timeline(&writer);
		put_phases(&writer.file, trace);
		put_spans(&writer.file, trace);
		put_code(&writer);
		error = put_events(&writer);
	}
	if (!error)
		error = sqlite_file_copy(&writer.file, out);
	sqlite_file_clear(&writer.file);
	return error;
}

#endif
