/* The export `sqlite`: writes the whole trace as a database with the tables of sqlite_schema.def,
 * for queries such as samples/queries.sql. */
#include "render/export/formats.h"

#include "analyse/input/grow.h"

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

/* --- the tables: a function put_NAME() for each --- */

struct sqlite_fact {
	const char *key, *text;
	uint64_t number; /* the value if `text` is NULL */
};

/* A block and the event that freed it; `by` is NULL if no event is known to have freed it. */
struct sqlite_life {
	const struct block *block;
	const struct event *by;
	const char *fate;
};

static const char *const block_kinds[] = {
	[BLOCK_HANDED] = "block", [BLOCK_SEGMENT] = "segment", [BLOCK_MAPPING] = "mapping"
};

static uint64_t or_null(uint64_t number)
{
	return number ? number : TRACE_NONE;
}

static const struct stack_text *texts_of(const struct sqlite_writer *writer,
					 const struct trace_stack *stack)
{
	return stack_text(&writer->stacks, stack->number);
}

#define TABLE(name, what, type)                                                           \
	static void put_##name(struct sqlite_writer *writer, uint64_t at, const type *of) \
	{                                                                                 \
		const struct trace *trace = writer->trace;                                \
		struct sqlite_file *file = &writer->file;                                 \
                                                                                          \
		(void)at;                                                                 \
		(void)trace;                                                              \
		sqlite_row(file, TABLE_##name);
#define INTEGER(name, value, ...) sqlite_u64(file, (uint64_t)(value));
#define POSITION(name, value) sqlite_u64(file, (value) == UINT32_MAX ? TRACE_NONE : (value));
#define TEXT(name, value, ...) sqlite_text(file, value);
#define NUMERIC(name, text) sqlite_text(file, text);
#define ANY(name, text, number)          \
	if (text)                        \
		sqlite_text(file, text); \
	else                             \
		sqlite_u64(file, number);
#define KEYS(...)
#define END }
#include "render/export/sqlite_schema.def"

#define PUT_ALL(table, at, list)                          \
	for (size_t row_n = 0; row_n < list##_n; row_n++) \
	put_##table(writer, at, &(list)[row_n])

/* --- facts --- */

static void put_facts(struct sqlite_writer *writer)
{
	const struct trace *trace = writer->trace;
	const struct trace_process *process = &trace->process;
	const struct trace_environment *environment = &trace->environment;
	char command[4096] = "";
	const struct sqlite_fact facts[] = {
		{ "schema", "memtrace-sqlite/1", TRACE_NONE },
		{ "host", process->host, TRACE_NONE },
		{ "pid", NULL, process->pid },
		{ "rank", NULL, process->rank },
		{ "world_size", NULL, process->world_size },
		{ "command", command, TRACE_NONE },
		{ "cwd", process->cwd, TRACE_NONE },
		{ "start_time", process->start_time, TRACE_NONE },
		{ "duration_ns", NULL, process->duration_ns },
		{ "exit", rows_word(WORDS_EXITS, process->exit), TRACE_NONE },
		{ "torch", environment->torch, TRACE_NONE },
		{ "python", environment->python, TRACE_NONE },
		{ "cuda_driver", NULL, environment->cuda_driver },
		{ "cuda_runtime", NULL, environment->cuda_runtime },
		{ "events_dropped", NULL, trace->capture.events_dropped },
		{ "spans_dropped", NULL, trace->spans_dropped }, /* last: omitted without CUPTI */
	};
	size_t facts_n = COUNT_OF(facts) - !trace->cupti_check.cupti;

	for (size_t i = 0; i < process->command_n; i++) {
		text_append(command, sizeof(command), i ? " " : "");
		text_append(command, sizeof(command), process->command[i]);
	}
	PUT_ALL(meta, 0, facts);
	foreach (setting, environment->settings) {
		char key[300];

		text_join(key, sizeof(key), "setting:", setting->name);
		put_meta(writer, 0, &(struct sqlite_fact){ key, setting->value, TRACE_NONE });
	}
}

static void put_sums(struct sqlite_writer *writer)
{
	const struct trace *trace = writer->trace;

	foreach (device, trace->summary.devices) {
		put_devices(writer, 0, device);
		PUT_ALL(pools, (uint64_t)device->device, device->pools);
		PUT_ALL(owners, (uint64_t)device->device, device->owners);
	}
	for (size_t i = 0; i < trace->peaks_n; i++) {
		put_peaks(writer, 0, &trace->peaks[i]);
		PUT_ALL(peak_stacks, i, trace->peaks[i].stacks);
	}
	foreach (curve, trace->timeline) {
		for (size_t k = 0; k < curve->t_n; k++)
			put_timeline(writer, k, curve);
	}
	for (size_t i = 0; i < trace->phases_n; i++) {
		put_phases(writer, 0, &trace->phases[i]);
		PUT_ALL(phase_devices, i, trace->phases[i].devices);
	}
	PUT_ALL(actions, 0, trace->actions);
	PUT_ALL(spans, 0, trace->spans);
}

static void put_code(struct sqlite_writer *writer)
{
	const struct trace *trace = writer->trace;

	PUT_ALL(frames, 0, trace->frames);
	foreach (stack, trace->stacks) {
		put_stacks(writer, 0, stack);
		for (size_t k = 0; k < stack->frames_n; k++)
			put_stack_frames(writer, k, stack);
	}
	PUT_ALL(threads, 0, trace->threads);
	PUT_ALL(calls, 0, trace->calls);
}

/* --- events --- */

static void put_lives(struct sqlite_writer *writer, const char *fate)
{
	const struct blocks *blocks = &writer->lives.blocks;

	foreach (row, blocks->list, blocks->used) {
		if (row->state == BLOCK_LIVE)
			put_allocations(writer, 0, &(struct sqlite_life){ row, NULL, fate });
	}
}

static int put_all_events(struct sqlite_writer *writer)
{
	struct trace *trace = writer->trace;
	struct lives *lives = &writer->lives;
	struct event event;
	int more = 1;

	lives_start(lives, trace->capture.events_filtered);
	while (!writer->file.error && (more = trace_next(trace, &event)) == 1) {
		put_events(writer, 0, &event);
		if (lives_gap(lives, &event))
			put_lives(writer, "unknown");
		NEED(!lives_take(lives, &event, trace_text(trace, event.api)));
		if (lives->ends && !lives->unseen)
			put_allocations(writer, 0,
					&(struct sqlite_life){ &lives->ended, &event, "freed" });
	}
	if (more == 0)
		put_lives(writer, "live");
	lives_clear(lives);
	return more < 0 ? more : writer->file.error;
}

int format_sqlite(struct trace *trace, struct out *out, const struct selection_options *options)
{
	struct sqlite_writer writer = { .trace = trace };
	int error;

	(void)options; /* the whole trace is written; queries can select */
	stack_texts_make(&writer.stacks, trace);
	error = sqlite_file_open(&writer.file);
	if (!error) {
		put_facts(&writer);
		put_sums(&writer);
		put_code(&writer);
		error = put_all_events(&writer);
	}
	if (!error)
		error = sqlite_file_copy(&writer.file, out);
	sqlite_file_clear(&writer.file);
	return error;
}

#endif
